"""Random FROM clauses: inner joins in every syntax."""

from __future__ import annotations

from dataclasses import dataclass

from tests.properties.choose import Choose
from tests.properties.expressions import Ref, predicate
from tests.properties.schema import FLOATING, INTEGRAL, Column, quote


@dataclass(frozen=True)
class Item:
    sql: str
    alias: str
    columns: tuple[Column, ...]

    def refs(self) -> list[Ref]:
        return [Ref(f"{self.alias}.{quote(column.name)}", column.name, column.kind) for column in self.columns]


def join_items(choose: Choose, items: list[Item]) -> tuple[str, list[Ref], list[str]]:
    """The clause, the columns in scope, and conditions left for WHERE."""
    refs = items[0].refs()
    if len(items) == 1:
        return items[0].sql, _unqualified(choose, refs), []
    if choose.chance(20):
        conditions = []
        for item in items[1:]:
            conditions += [_condition(choose, refs, item.refs())]
            refs = refs + item.refs()
        return ", ".join(item.sql for item in items), refs, conditions
    text = items[0].sql
    for item in items[1:]:
        clause, refs = _joined(choose, refs, item)
        text += clause
    return text, refs, []


def _unqualified(choose: Choose, refs: list[Ref]) -> list[Ref]:
    if choose.chance(50):
        return refs
    return [Ref(quote(ref.name), ref.name, ref.kind) for ref in refs]


def _joined(choose: Choose, refs: list[Ref], item: Item) -> tuple[str, list[Ref]]:
    style = choose.of(("on", "on", "using", "natural", "cross", "on"))
    shared = _shared(refs, item)
    if style == "using" and shared and all(_alike(*pair) for pair in shared[:1]):
        names = [pair for pair in shared if _alike(*pair)][:2]
        return f" JOIN {item.sql} USING ({', '.join(quote(one.name) for one, _ in names)})", _merged(refs, item, names)
    if style == "natural" and shared and all(_alike(*pair) for pair in shared):
        return f" NATURAL JOIN {item.sql}", _merged(refs, item, shared)
    both = refs + item.refs()
    if style == "cross":
        return f" CROSS JOIN {item.sql}", both
    word = choose.of((" JOIN ", " INNER JOIN "))
    return f"{word}{item.sql} ON {_condition(choose, refs, item.refs())}", both


def _shared(refs: list[Ref], item: Item) -> list[tuple[Ref, Ref]]:
    """Pairs of the same name; none at all where a name is ambiguous on the left."""
    left: dict[str, list[Ref]] = {}
    for ref in refs:
        left.setdefault(ref.name.lower(), []).append(ref)
    right = {ref.name.lower(): ref for ref in item.refs()}
    pairs = [(found[0], right[name]) for name, found in left.items() if name in right]
    if any(len(left[name]) > 1 for name in right if name in left):
        return []
    return pairs


def _alike(left: Ref, right: Ref) -> bool:
    groups = (INTEGRAL, FLOATING)
    return left.kind != "map" and (
        left.kind == right.kind or any(left.kind in group and right.kind in group for group in groups)
    )


def _merged(refs: list[Ref], item: Item, pairs: list[tuple[Ref, Ref]]) -> list[Ref]:
    """USING makes one column of two: it comes first, and goes by its bare name."""
    names = {left.name.lower() for left, _ in pairs}
    merged = [Ref(quote(left.name), left.name, left.kind) for left, _ in pairs]
    rest = [ref for ref in (*refs, *item.refs()) if ref.name.lower() not in names]
    return merged + rest


def _condition(choose: Choose, left: list[Ref], right: list[Ref]) -> str:
    pairs = [(one, two) for one in left for two in right if _alike(one, two) and one.kind != "boolean"]
    if not pairs or choose.chance(15):
        return predicate(choose, left + right)
    one, two = choose.of(pairs)
    operator = choose.of(("=", "=", "<=>", "=", "<"))
    text = f"{one.sql} {operator} {two.sql}"
    return f"{text} AND {predicate(choose, left + right, 0)}" if choose.chance(25) else text
