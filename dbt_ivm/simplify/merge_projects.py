"""Law: a projection above a projection is one projection, the inner expressions put in place of their symbols.

Only where the inner one renames, so that no expression is evaluated twice.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.relations import Aggregate, Filter, Join, Project, Relation, substitute


def merge_projects(relation: Relation) -> Relation:
    """
    >>> from dbt_ivm.algebra.relations import Scan, column
    >>> inner = Project(Scan("t", ()), (("b", column("a")),))
    >>> outer = merge_projects(Project(inner, (("c", exp.Neg(this=column("b"))),)))
    >>> outer.child.source, outer.items[0][1].sql("spark")
    ('t', '-`a`')
    """
    return relation.rewrite(_merge)


def _renames(relation: Relation) -> bool:
    return isinstance(relation, Project) and all(isinstance(expression, exp.Column) for _, expression in relation.items)


def _merge(node: Relation) -> Relation:
    if isinstance(node, Join) and any(_renames(child) for child in node.inputs):
        return _lift(node)
    if not node.children or not _renames(node.children[0]):
        return node
    inner = node.children[0]
    assert isinstance(inner, Project)
    mapping = dict(inner.items)
    if isinstance(node, Project):
        return replace(node, child=inner.child, items=_swap(node.items, mapping))
    if isinstance(node, Aggregate):
        return replace(
            node, child=inner.child, groups=_swap(node.groups, mapping), measures=_swap(node.measures, mapping)
        )
    if isinstance(node, Filter):
        return Project(Filter(inner.child, substitute(node.predicate, mapping)), inner.items)
    return node


def _lift(join: Join) -> Relation:
    """Renames below a join move above it."""
    mapping, items, inputs = {}, [], []
    for child in join.inputs:
        if isinstance(child, Project) and _renames(child):
            mapping.update(dict(child.items))
            items += list(child.items)
            inputs.append(child.child)
        else:
            items += [(symbol, exp.Column(this=exp.to_identifier(symbol, quoted=True))) for symbol in child.symbols]
            inputs.append(child)
    condition = None if join.condition is None else substitute(join.condition, mapping)
    return Project(Join(tuple(inputs), condition), tuple(items))


def _swap(items: tuple, mapping: dict) -> tuple:
    return tuple((symbol, substitute(expression, mapping)) for symbol, expression in items)
