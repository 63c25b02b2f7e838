"""Replace by key: the one general apply, for groups, DISTINCT and bags alike. Right always; costs three commits.

After staging: fold old rows and change of the touched keys, recompute stale groups from the sources, delete the old rows
and what was staged, all by key literals. A fold writes a row for every touched group, emptied ones too (marked to be
deleted): so every statement here commits, and counting commits proves that nobody else wrote.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.relations import Moment, at, column
from dbt_ivm.render.relations import select
from dbt_ivm.render.sources import versioned
from dbt_ivm.state.layout import BATCH, KEY, LIVE, MARK, STALE, finish, key_of, mark, partial_aggregate
from dbt_ivm.strategy.fold import always_stale, can_be_stale, fold_bag, fold_groups
from dbt_ivm.strategy.stage import Staged, among_keys, of_batch, touched_rows
from dbt_ivm.strategy.work import Applied, Rows, Statement, Steps, Work

MAX_LITERAL_KEYS = 50_000
"""DELETE by literals, 10 M-row state: 5,000 keys 2.0 s, 50,000 4.8 s, 200,000 11.8 s; a matched-only MERGE 5-9 s."""
MAX_LITERALS_READ = 1_000
"""A SELECT with 5,000 literals takes 5.6 s where a broadcast semi join takes 2.9 s."""


def replace_by_key(work: Work, types: Mapping[str, str], staged: Staged) -> Steps:
    commits = 1 + (yield from new_rows(work, types, staged))
    yield Statement("delete old rows", _delete(work, staged.keys))
    return Applied("replace", commits + 1, staged.rows)


def new_rows(work: Work, types: Mapping[str, str], staged: Staged) -> Generator[Statement, Rows, int]:
    """Writes what the touched keys' rows are now; returns the number of commits."""
    if always_stale(work.layout):
        yield Statement("recompute touched groups", work.insert(_recomputed(work, work.version + 1, staged.keys)))
        written = yield Statement("groups written", _count(work, LIVE), fetch=True)
        return 1 if int(written[0][0]) else 0
    rows = touched_rows(work, work.version + 1, staged.keys, MAX_LITERALS_READ)
    if work.layout.root.aggregate is None:
        yield Statement("fold", work.insert(fold_bag(work, rows, keep_empty=True)))
        return 1
    yield Statement("fold", work.insert(fold_groups(work, rows, types, keep_empty=True)))
    if not can_be_stale(work, types):
        return 1
    stale = yield Statement("stale keys", _stale_keys(work), fetch=True)
    if not stale:
        return 1
    keys = tuple(int(row[0]) for row in stale)
    yield Statement("recompute stale groups", work.insert(_recomputed(work, work.version + 2, keys, STALE)))
    return 2


def _recomputed(work: Work, version: int, keys: tuple[int, ...], *marks: int) -> exp.Select:
    """Groups of these hashes, from the sources."""
    aggregate = partial_aggregate(work.layout)
    whole = replace(aggregate, child=at(aggregate.child, Moment.POST))
    if not aggregate.groups:
        return finish(work.layout, work.renderer.bag(whole), work.batch)
    keyed = select([exp.Star()], work.renderer.keyed(whole))
    wanted = among_keys(work, keyed, key_of(work.layout), version, keys, MAX_LITERALS_READ, *marks)
    return finish(work.layout, work.renderer.grouped(whole, wanted), work.batch)


def _count(work: Work, value: int) -> exp.Select:
    marked = exp.EQ(this=column(MARK), expression=mark(value))
    count = exp.Count(this=exp.Star(), big_int=True)
    return select([count], work.state_at(None)).where(of_batch(work), copy=False).where(marked, copy=False)


def _stale_keys(work: Work) -> exp.Select:
    marked = exp.EQ(this=column(MARK), expression=mark(STALE))
    keys = select([column(KEY)], work.state_at(None)).where(of_batch(work), copy=False).where(marked, copy=False)
    keys.set("distinct", exp.Distinct())
    return keys


def _delete(work: Work, keys: tuple[int, ...]) -> exp.Delete:
    among = exp.In(this=column(KEY), expressions=[exp.Literal.number(key) for key in keys])
    old = exp.NEQ(this=column(BATCH), expression=exp.Literal.number(work.batch))
    garbage = exp.NEQ(this=column(MARK), expression=mark(LIVE))
    where = exp.or_(exp.and_(among, old), garbage)
    return exp.Delete(this=versioned(work.state, None), where=exp.Where(this=where))
