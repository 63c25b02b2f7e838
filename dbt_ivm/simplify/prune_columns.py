"""Law: a column nobody reads may be left out, except below DISTINCT and in the result."""

from __future__ import annotations

from dataclasses import replace

from dbt_ivm.algebra.relations import (
    Aggregate,
    Filter,
    Join,
    Project,
    Relation,
    Scan,
    UnionAll,
    column,
    conjuncts,
    used_symbols,
)


def prune_columns(relation: Relation) -> Relation:
    """
    >>> from dbt_ivm.algebra.relations import ScanColumn
    >>> scan = Scan("t", (ScanColumn("a_1", "a", "int"), ScanColumn("b_2", "b", "int")))
    >>> prune_columns(Project(scan, (("c_3", column("b_2")),))).child.symbols
    ('b_2',)
    """
    return _prune(relation, set(relation.symbols))


def _used(items: tuple) -> set[str]:
    return set().union(*(used_symbols(expression) for _, expression in items)) if items else set()


def _prune(node: Relation, needed: set[str]) -> Relation:
    if isinstance(node, Scan):
        return replace(node, columns=tuple(c for c in node.columns if c.symbol in needed))
    if isinstance(node, Filter):
        return replace(node, child=_prune(node.child, needed | used_symbols(node.predicate)))
    if isinstance(node, Project):
        items = tuple(item for item in node.items if item[0] in needed)
        return Project(_prune(node.child, _used(items)), items)
    if isinstance(node, Join):
        needed = needed.union(*(used_symbols(part) for part in conjuncts(node.condition)))
        return replace(node, inputs=tuple(_prune(child, needed & set(child.symbols)) for child in node.inputs))
    if isinstance(node, Aggregate):
        measures = tuple(item for item in node.measures if item[0] in needed)
        return replace(node, measures=measures, child=_prune(node.child, _used(node.groups) | _used(measures)))
    if isinstance(node, UnionAll):
        places = [i for i, name in enumerate(node.names) if name in needed]
        inputs = []
        for child in node.inputs:
            kept = _prune(child, {child.symbols[i] for i in places})
            inputs.append(kept if len(kept.symbols) == len(places) else _exactly(child, kept, places))
        return UnionAll(tuple(inputs), tuple(node.names[i] for i in places))
    return node


def _exactly(child: Relation, kept: Relation, places: list[int]) -> Relation:
    """A filter or a scan may keep more than the union takes: columns go by position there."""
    return Project(kept, tuple((child.symbols[i] + "_u", column(child.symbols[i])) for i in places))
