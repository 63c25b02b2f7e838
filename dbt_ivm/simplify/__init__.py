"""Passes that only make a relation smaller; each can be switched off, and the result is the same bag."""

from __future__ import annotations

from collections.abc import Callable

from dbt_ivm.algebra.relations import Relation
from dbt_ivm.simplify.flatten_joins import flatten_joins
from dbt_ivm.simplify.merge_projects import merge_projects
from dbt_ivm.simplify.prune_columns import prune_columns
from dbt_ivm.simplify.push_filters import push_filters

PASSES: tuple[tuple[str, Callable[[Relation], Relation]], ...] = (
    # Renames out of the way first: they would stop filters and joins.
    ("merge_projects", merge_projects),
    # N-branch deltas want the join of all inputs at once.
    ("flatten_joins", flatten_joins),
    # A local predicate on the change makes irrelevant changes vanish before any join.
    ("push_filters", push_filters),
    # Last: only then is known which columns are used, and a change of unused ones nets away.
    ("prune_columns", prune_columns),
)


def simplify(relation: Relation, switched_off: frozenset[str] = frozenset()) -> Relation:
    for name, rule in PASSES:
        if name not in switched_off:
            relation = rule(relation)
    return relation
