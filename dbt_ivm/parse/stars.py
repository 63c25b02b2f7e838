"""`*`, `t.*` and `* EXCEPT (...)` in a select list."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.relations import column
from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.scope import Scope


def star_of(node: exp.Expr) -> tuple[exp.Star | None, tuple[str, ...]]:
    """The star and what stands before it."""
    if isinstance(node, exp.Star):
        return node, ()
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        return node.this, tuple(part.name.lower() for part in node.parts[:-1])
    return None, ()


def expand(star: exp.Star, qualifier: tuple[str, ...], scope: Scope) -> list[tuple[str, exp.Expr]]:
    if star.args.get("replace") or star.args.get("rename"):
        raise NotIncremental("unsupported_clause", "* REPLACE or RENAME has no incremental law yet")
    columns = scope.star(qualifier)
    without = {symbol for node in star.args.get("except_") or [] for symbol in _excepted(node, columns, scope)}
    return [(name, column(symbol)) for name, symbol in columns if symbol not in without]


def _excepted(node: exp.Expr, columns: list[tuple[str, str]], scope: Scope) -> list[str]:
    parts = [part.name for part in node.parts] if isinstance(node, exp.Column) else [node.name]
    if len(parts) == 1:
        return [symbol for name, symbol in columns if name.lower() == parts[0].lower()]
    found = scope.resolve(parts)
    if not isinstance(found, exp.Column):
        raise NotIncremental("unsupported_clause", "* EXCEPT a field of a struct has no incremental law yet")
    return [found.name]
