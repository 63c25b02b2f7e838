"""The state is small: write it anew from the old one and the change. One statement, one commit."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt_ivm.algebra.relations import column
from dbt_ivm.render.relations import M, aliased, select
from dbt_ivm.state.layout import COUNT, MARK
from dbt_ivm.strategy.append import count_batch
from dbt_ivm.strategy.fold import fold_bag, fold_groups, stored_rows, summary_delta
from dbt_ivm.strategy.work import Applied, Statement, Steps, Work

MAX_ROWS = 20_000
"""Below this the whole state is one small file: rewriting it (0.5 s) costs less than staging, DELETE and INSERT (3 commits)."""


def overwrite(work: Work, types: Mapping[str, str]) -> Steps:
    layout = work.layout
    names = [column(symbol) for symbol, _ in layout.stored]
    old = stored_rows(layout, work.state_at(work.version))
    if layout.root.aggregate is not None:
        kept = select([*names, column(COUNT), column(MARK)], old)
        change = select([*names, column(COUNT), column(MARK)], summary_delta(work, types))
        rows = fold_groups(work, _both(kept, change), types)
    else:
        kept = select([*names, aliased(exp.cast(exp.Literal.number(1), "bigint"), M)], old)
        change = select([*names, column(M)], work.renderer.signed(work.delta))
        rows = fold_bag(work, _both(kept, change))
    yield Statement("overwrite", work.insert(rows, overwrite=True))
    count = int((yield count_batch(work))[0][0])
    return Applied("overwrite", 1, count)


def _both(left: exp.Select, right: exp.Select) -> exp.Select:
    return select([exp.Star()], exp.Union(this=left, expression=right, distinct=False))
