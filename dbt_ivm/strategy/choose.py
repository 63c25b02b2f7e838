"""Which strategy, and why: decided from facts that cost no query."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_ivm.strategy.append import append
from dbt_ivm.strategy.fold import can_be_stale
from dbt_ivm.strategy.overwrite import MAX_ROWS, overwrite
from dbt_ivm.strategy.replace import replace_by_key
from dbt_ivm.strategy.work import Steps, Work


def choose(work: Work, types: Mapping[str, str], rows: int, switched_off: frozenset[str] = frozenset()) -> Steps:
    """`rows` is the state's size, -1 if unknown."""
    is_bag = work.layout.root.aggregate is None
    if is_bag and work.inserts_only and "append" not in switched_off:
        return append(work)
    if (
        0 <= rows <= MAX_ROWS
        and "overwrite" not in switched_off
        and not can_be_stale(work.layout, types, work.inserts_only)
    ):
        return overwrite(work, types)
    return replace_by_key(work, types)
