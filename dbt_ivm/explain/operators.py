"""The view as a tree of operators, each with its class: how a change passes through it."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.relations import Aggregate, Filter, Join, Project, Relation, Scan, UnionAll, scans, substitute
from dbt_ivm.explain.table import table
from dbt_ivm.parse.sql import write
from dbt_ivm.state.root import Root

WIDTH = 110


def operators(root: Root) -> list[str]:
    names = source_columns(root.core)
    rows: list[tuple[str, ...]] = []
    depth = 0
    if root.visible:
        texts = " AND ".join(readable(predicate, names) for predicate in root.visible)
        rows.append(("Having", "linear", f"{texts}: evaluated on the touched groups"))
        depth = 1
    _walk(root.core, depth, names, rows, is_root=True)
    return table(rows)


def _walk(node: Relation, depth: int, names: dict[str, exp.Expr], rows: list[tuple[str, ...]], is_root: bool) -> None:
    kind, text = _describe(node, names, is_root)
    rows.append(("  " * depth + type(node).__name__, kind, _short(text)))
    for child in node.children:
        _walk(child, depth + 1, names, rows, is_root=False)


def _describe(node: Relation, names: dict[str, exp.Expr], is_root: bool) -> tuple[str, str]:
    if isinstance(node, Scan):
        return "source", f"{node.source} ({', '.join(column.name for column in node.columns)})"
    if isinstance(node, Filter):
        return "linear", readable(node.predicate, names)
    if isinstance(node, Project):
        return "linear", ", ".join(readable(expression, names) for _, expression in node.items)
    if isinstance(node, UnionAll):
        return "linear", f"of {len(node.inputs)}"
    if isinstance(node, Join):
        return "bilinear", "on " + readable(node.condition, names) if node.condition is not None else "cross"
    if isinstance(node, Aggregate):
        keys = ", ".join(readable(expression, names) for _, expression in node.groups)
        calls = ", ".join(readable(call, names) for _, call in node.measures)
        how = "folded into the state" if is_root else "touched groups computed before and after"
        by = f"by {keys}" if keys else "grand total"
        return "per-key", f"{how}, {by}{': ' + calls if calls else ''}"
    return "recompute", ""


def source_columns(relation: Relation) -> dict[str, exp.Expr]:
    """Symbols as a reader knows them: the source's short name and the column; a table's second use is numbered."""
    uses: dict[str, int] = {}
    found: dict[str, exp.Expr] = {}
    for scan in scans(relation):
        short = scan.source.rpartition(".")[2].strip("`")
        uses[short] = uses.get(short, 0) + 1
        label = short if uses[short] == 1 else f"{short}_{uses[short]}"
        found.update({column.symbol: exp.column(column.name, table=label) for column in scan.columns})
    for node in relation.walk():
        if isinstance(node, Project):
            found.update({symbol: e for symbol, e in node.items if symbol not in found})
        if isinstance(node, Aggregate):
            found.update({symbol: e for symbol, e in (*node.groups, *node.measures) if symbol not in found})
    return found


def readable(expression: exp.Expr, names: dict[str, exp.Expr]) -> str:
    for _ in range(20):
        replaced = substitute(expression, names)
        if replaced == expression:
            break
        expression = replaced
    return write(expression)


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 4] + " ..."
