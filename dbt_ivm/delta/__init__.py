"""Delta of every relation, one law per operator, over signed multisets (papers/000, section 2.1).

For any relation R, with Pre and Post from `algebra.at`:  Post(R) = Pre(R) + delta(R).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbt_ivm.algebra.relations import (
    Aggregate,
    Filter,
    Join,
    OneRow,
    Project,
    Relation,
    Scan,
    UnionAll,
    sources,
)
from dbt_ivm.delta.by_key import delta_by_key
from dbt_ivm.delta.join import delta_join
from dbt_ivm.delta.linear import delta_linear
from dbt_ivm.delta.scan import delta_scan
from dbt_ivm.delta.union import delta_union


@dataclass(frozen=True)
class ChangeFacts:
    """What is known of this refresh's changes before any query: which sources moved, and the columns' types."""

    changed: frozenset[str]
    types: Mapping[str, str] = field(default_factory=dict)

    def touches(self, relation: Relation) -> bool:
        return any(source in self.changed for source in sources(relation))


def delta(relation: Relation, facts: ChangeFacts) -> Relation:
    """The change of `relation`. Call it only where `facts.touches(relation)`."""
    if isinstance(relation, Scan):
        return delta_scan(relation)
    if isinstance(relation, Filter | Project):
        return delta_linear(relation, lambda child: delta(child, facts))
    if isinstance(relation, UnionAll):
        return delta_union(relation, facts.touches, lambda child: delta(child, facts))
    if isinstance(relation, Join):
        return delta_join(relation, facts.touches, lambda child: delta(child, facts))
    if isinstance(relation, Aggregate):
        return delta_by_key(relation, facts.types, lambda child: delta(child, facts))
    assert not isinstance(relation, OneRow)
    raise TypeError(type(relation).__name__)


def branches(relation: Relation, facts: ChangeFacts) -> int:
    """How many terms the delta has: one per changed input of a join, one per changed child of a union."""
    if isinstance(relation, Scan):
        return 1
    return sum(branches(child, facts) for child in relation.children if facts.touches(child))
