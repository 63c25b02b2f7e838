"""Law: delta(A + B) = delta(A) + delta(B).

An unchanged branch stays as an empty one: Spark then widens the types of the others exactly as it does in the SELECT.
"""

from __future__ import annotations

from collections.abc import Callable

from dbt_ivm.algebra.relations import Empty, Relation, UnionAll


def delta_union(
    union: UnionAll, touches: Callable[[Relation], bool], delta: Callable[[Relation], Relation]
) -> Relation:
    """
    >>> from dbt_ivm.algebra.relations import Scan
    >>> a, b = Scan("a", ()), Scan("b", ())
    >>> [type(c).__name__ for c in delta_union(UnionAll((a, b), ()), lambda r: r is b, lambda r: r).inputs]
    ['Empty', 'Scan']
    """
    return union.with_children(*(delta(child) if touches(child) else Empty(child) for child in union.inputs))
