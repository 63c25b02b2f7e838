"""Random deterministic expressions of a wanted kind over the columns in scope."""

from __future__ import annotations

from dataclasses import dataclass

from tests.properties.choose import Choose
from tests.properties.schema import INTEGRAL, NESTED, VALUES

ORDERED = (
    "int",
    "bigint",
    "smallint",
    "string",
    "date",
    "timestamp",
    "decimal",
    "double",
    "special",
    "ratio",
    "boolean",
)


@dataclass(frozen=True)
class Ref:
    """A column in scope: how it is written, what it is called in `*`, its kind."""

    sql: str
    name: str
    kind: str


def scalar(choose: Choose, kind: str, refs: list[Ref], depth: int = 2) -> str:
    """An expression of that kind; a plain column where there is one and the choice is free."""
    own = [ref.sql for ref in refs if ref.kind == kind]
    if depth == 0 or choose.number(0, 2) == 0 or kind in ("ratio", *NESTED):
        return choose.of(own) if own else _leaf(choose, kind, refs)
    return _composed(choose, kind, refs, depth - 1)


def _leaf(choose: Choose, kind: str, refs: list[Ref]) -> str:
    if kind == "int" and (strings := [ref.sql for ref in refs if ref.kind == "string"]):
        return f"length({choose.of(strings)})"
    if kind == "bigint" and (integers := [ref.sql for ref in refs if ref.kind == "int"]):
        return f"CAST({choose.of(integers)} AS BIGINT)"
    return choose.of(VALUES[kind])


def _composed(choose: Choose, kind: str, refs: list[Ref], depth: int) -> str:
    def part(wanted: str = kind) -> str:
        return scalar(choose, wanted, refs, depth)

    shapes = [
        lambda: f"coalesce({part()}, {choose.of(VALUES[kind])})",
        lambda: f"CASE WHEN {predicate(choose, refs, depth)} THEN {part()} ELSE {part()} END",
        lambda: f"CASE WHEN {predicate(choose, refs, depth)} THEN {part()} END",
        lambda: f"nullif({part()}, {choose.of(VALUES[kind])})",
    ]
    if kind in INTEGRAL:
        numbers = [
            lambda: f"{part()} + {part()}",
            lambda: f"({part()} - 1)",
            lambda: f"{part()} * 2",
            lambda: f"-{_atom(part())}",
            lambda: f"{_atom(part())} % 3",
        ]
        shapes = numbers + shapes
    if kind in ("decimal", "double"):
        shapes = [lambda: f"{part()} + {part()}", lambda: f"({part()} - {part()})", *shapes]
    if kind == "string":
        shapes = [
            lambda: f"upper({part()})",
            lambda: f"concat({part()}, '-')",
            lambda: f"{part()} || {part()}",
            lambda: f"CAST({part('int')} AS STRING)",
            *shapes,
        ]
    if kind == "boolean":
        shapes = [lambda: f"({predicate(choose, refs, depth)})", *shapes]
    if kind == "int":
        shapes.append(lambda: f"length({part('string')})")
    return choose.of(shapes)()


def _atom(text: str) -> str:
    return text if text.replace("_", "").replace(".", "").isalnum() else f"({text})"


def predicate(choose: Choose, refs: list[Ref], depth: int = 1) -> str:
    ref = choose.of(refs)
    if ref.kind in NESTED or ref.kind == "zeros":
        return f"{ref.sql} IS {choose.of(('NOT ', ''))}NULL"
    if depth > 0 and choose.chance(35):
        left, right = predicate(choose, refs, depth - 1), predicate(choose, refs, depth - 1)
        return choose.of((f"{left} AND {right}", f"({left} OR {right})", f"NOT ({left})"))
    if ref.kind == "boolean":
        return choose.of((ref.sql, f"NOT {ref.sql}", f"{ref.sql} IS NULL"))
    if ref.kind == "ratio":
        return f"{ref.sql} {choose.of(('>', '<='))} 1"
    other = scalar(choose, ref.kind, refs, 0)
    one, two = choose.of(VALUES[ref.kind]), choose.of(VALUES[ref.kind])
    options = [
        f"{ref.sql} {choose.of(('=', '<>', '<', '>='))} {one}",
        f"{ref.sql} = {other}",
        f"{ref.sql} <=> {other}",
        f"{ref.sql} IN ({one}, {two})",
        f"{ref.sql} IS NOT NULL",
        f"{ref.sql} BETWEEN {one} AND {two}",
    ]
    if ref.kind == "string":
        options.append(f"{ref.sql} LIKE 'a%'")
    return choose.of(options)
