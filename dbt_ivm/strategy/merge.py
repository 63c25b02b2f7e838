"""Merge: as replace by key, for more keys than literals are good for. Old and staged rows leave by a MERGE.

It has a matched clause only, on the one key column: with NOT MATCHED it would be an outer join that shuffles the state.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt_ivm.render.sources import versioned
from dbt_ivm.state.layout import BATCH, DELETED, INSERTED, KEY, LIVE, MARK, mark
from dbt_ivm.strategy.replace import new_rows
from dbt_ivm.strategy.stage import Staged, staged_keys
from dbt_ivm.strategy.work import Applied, Statement, Steps, Work


def merge(work: Work, types: Mapping[str, str], staged: Staged) -> Steps:
    commits = 1 + (yield from new_rows(work, types, staged))
    yield Statement("delete old rows", _merge(work))
    return Applied("merge", commits + 1, staged.rows)


def _merge(work: Work) -> exp.Expr:
    keys = staged_keys(work, work.version + 1, INSERTED, DELETED)
    state = {name: exp.column(name, table="t", quoted=True) for name in (KEY, BATCH, MARK)}
    old = exp.or_(
        exp.NEQ(this=state[BATCH], expression=exp.Literal.number(work.batch)),
        exp.NEQ(this=state[MARK], expression=mark(LIVE)),
    )
    same_key = exp.EQ(this=state[KEY], expression=exp.column("__ivm_k", table="k", quoted=True))
    return exp.merge(
        exp.When(matched=True, then=exp.Var(this="DELETE")),
        into=exp.alias_(versioned(work.state, None), "t", table=True),
        using=keys.subquery("k"),
        on=exp.and_(same_key, exp.paren(old)),
    )
