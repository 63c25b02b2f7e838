"""Full: the whole state anew, from Post of the sources. Right always; costs what the SELECT costs.

First build, new definition, --full-refresh, and whatever has no law. The old version stays readable meanwhile.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.relations import column
from dbt_ivm.render.relations import Renderer, aliased, select
from dbt_ivm.state.layout import COUNT, Layout, finish, partial_aggregate


def state_select(layout: Layout, renderer: Renderer, batch: int) -> exp.Select:
    if layout.root.aggregate is not None:
        return finish(layout, renderer.bag(partial_aggregate(layout)), batch)
    one = aliased(exp.cast(exp.Literal.number(1), "bigint"), COUNT)
    names = [column(symbol) for symbol, _ in layout.stored]
    return finish(layout, select([*names, one], renderer.bag(layout.root.core)), batch)
