"""The general law: an operator is local in a key when its rows for a key depend only on input rows with that key.

With K = keys in the child's delta:  delta(Op(R)) = Op(Post(R) restricted to K) - Op(Pre(R) restricted to K).

Keys are compared by a hash that only finds candidates: a key that shares a hash is computed on both sides and cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dbt_ivm.algebra.relations import Aggregate, Moment, Negate, Project, Relation, Restrict, UnionAll, at, column


def delta_by_key(aggregate: Aggregate, types: Mapping[str, str], delta: Callable[[Relation], Relation]) -> Relation:
    """
    >>> from dbt_ivm.algebra.relations import Scan
    >>> total = Aggregate(Scan("t", ()), (), (), grand_total=True)
    >>> [type(side.child).__name__ for side in delta_by_key(total, {}, lambda r: r).inputs]
    ['Aggregate', 'Negate']
    """
    new, old = (_restricted(aggregate, moment, types, delta) for moment in (Moment.POST, Moment.PRE))
    items = tuple((symbol, column(symbol)) for symbol in aggregate.symbols)
    return UnionAll((Project(new, items), Project(Negate(old), items)), aggregate.symbols)


def _restricted(
    aggregate: Aggregate, moment: Moment, types: Mapping[str, str], delta: Callable[[Relation], Relation]
) -> Relation:
    child = at(aggregate.child, moment)
    if aggregate.groups:
        key = tuple(expression for _, expression in aggregate.groups)
        key_types = tuple(types[symbol] for symbol, _ in aggregate.groups)
        child = Restrict(child, key, key_types, delta(aggregate.child), key)
    return replace(aggregate, child=child)
