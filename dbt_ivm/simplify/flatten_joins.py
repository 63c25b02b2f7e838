"""Law: (A join B) join C is one join of A, B and C under the conjunction of the conditions (inner joins only)."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.relations import Filter, Join, Relation, conjuncts


def flatten_joins(relation: Relation) -> Relation:
    """
    >>> from dbt_ivm.algebra.relations import Scan
    >>> a, b, c = Scan("a", ()), Scan("b", ()), Scan("c", ())
    >>> [scan.source for scan in flatten_joins(Join((Join((a, b)), c))).inputs]
    ['a', 'b', 'c']
    """
    return relation.rewrite(_flatten)


def _flatten(node: Relation) -> Relation:
    if isinstance(node, Filter) and isinstance(node.child, Join):
        return Join(node.child.inputs, _conjunction(node.child.condition, node.predicate))
    if not isinstance(node, Join) or not any(isinstance(child, Join) for child in node.inputs):
        return node
    inputs: list[Relation] = []
    condition = node.condition
    for child in node.inputs:
        if isinstance(child, Join):
            inputs += child.inputs
            condition = _conjunction(child.condition, condition)
        else:
            inputs.append(child)
    return Join(tuple(inputs), condition)


def _conjunction(*predicates: exp.Expr | None) -> exp.Expr | None:
    parts = [part for predicate in predicates for part in conjuncts(predicate)]
    return exp.and_(*parts) if parts else None
