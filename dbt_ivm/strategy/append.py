"""Nothing old is touched: the change is only inserts, the view a bag. One INSERT."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.render.relations import M, select
from dbt_ivm.state.layout import column, finish
from dbt_ivm.strategy.fold import expanded
from dbt_ivm.strategy.stage import of_batch
from dbt_ivm.strategy.work import Applied, Statement, Steps, Work


def append(work: Work) -> Steps:
    layout = work.layout
    names = [column(symbol) for symbol, _ in layout.stored]
    rows = select([*names, column(M)], work.renderer.signed(work.delta))
    yield Statement("append", work.insert(finish(layout, expanded(layout, rows), work.batch)))
    count = int((yield count_batch(work))[0][0])
    return Applied("append", 1 if count else 0, count)


def count_batch(work: Work) -> Statement:
    """An INSERT of nothing makes no commit: whether ours did is seen from its rows."""
    count = select([exp.Count(this=exp.Star(), big_int=True)], work.state_at(None))
    return Statement("count what was written", count.where(of_batch(work), copy=False), fetch=True)
