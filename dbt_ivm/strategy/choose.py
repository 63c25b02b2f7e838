"""Which strategy: append or overwrite from facts that are free; else the change is staged, and its real size decides."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_ivm.strategy.append import append
from dbt_ivm.strategy.fold import can_be_stale
from dbt_ivm.strategy.merge import merge
from dbt_ivm.strategy.overwrite import MAX_ROWS, overwrite
from dbt_ivm.strategy.replace import MAX_LITERAL_KEYS, replace_by_key
from dbt_ivm.strategy.stage import stage
from dbt_ivm.strategy.work import Applied, Steps, Work


def choose(work: Work, types: Mapping[str, str], rows: int, switched_off: frozenset[str] = frozenset()) -> Steps:
    """`rows` is the state's size, -1 if unknown."""
    is_bag = work.layout.root.aggregate is None
    if is_bag and work.inserts_only and "append" not in switched_off:
        return append(work)
    is_small = 0 <= rows <= MAX_ROWS
    if is_small and "overwrite" not in switched_off and not can_be_stale(work, types):
        return overwrite(work, types, rows)
    return _staged(work, types, "replace" not in switched_off)


def _staged(work: Work, types: Mapping[str, str], allow_literals: bool) -> Steps:
    staged = yield from stage(work, types)
    if not staged.keys:
        # Nothing old is touched; an INSERT of nothing makes no commit.
        return Applied("append", 1 if staged.rows else 0, staged.rows)
    if allow_literals and len(staged.keys) <= MAX_LITERAL_KEYS:
        return (yield from replace_by_key(work, types, staged))
    return (yield from merge(work, types, staged))
