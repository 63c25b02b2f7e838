"""Law: filter and projection are linear.  delta(Op(R)) = Op(delta(R))."""

from __future__ import annotations

from collections.abc import Callable

from dbt_ivm.algebra.relations import Filter, Project, Relation


def delta_linear(relation: Filter | Project, delta: Callable[[Relation], Relation]) -> Relation:
    """
    >>> from dbt_ivm.algebra.relations import Scan
    >>> delta_linear(Project(Scan("t", ()), ()), lambda child: "D(t)").child
    'D(t)'
    """
    return relation.with_children(delta(relation.child))
