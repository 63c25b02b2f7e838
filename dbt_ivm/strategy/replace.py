"""Replace by key: the one general apply.

Stage the change in the state itself (it is computed once, and read back cheaply by its batch), fold it with the old rows of
the touched keys, recompute stale groups from the sources, then delete the old rows by key. Nothing is visible before the view
moves. Few keys are deleted as literals, many by a MERGE with a matched clause only.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt_ivm.algebra.relations import Moment, at, column
from dbt_ivm.render.relations import M, aliased, net, select
from dbt_ivm.render.sources import versioned
from dbt_ivm.state.layout import (
    BATCH,
    COUNT,
    DELETED,
    INSERTED,
    KEY,
    LIVE,
    MARK,
    STALE,
    VISIBLE,
    finish,
    key_of,
    mark,
    partial_aggregate,
)
from dbt_ivm.strategy.fold import fold_bag, fold_groups, old_rows, stored_rows, summary_delta
from dbt_ivm.strategy.work import Applied, Statement, Steps, Work

MAX_LITERAL_KEYS = 50_000
"""DELETE by literals, 10 M-row state: 5,000 keys 2.0 s, 50,000 4.8 s, 200,000 11.8 s; a matched-only MERGE 5-9 s at any size."""


def replace_by_key(work: Work, types: Mapping[str, str]) -> Steps:
    yield Statement("stage the change", work.insert(_staged(work, types)))
    staged = yield Statement("touched keys", _keys(work), fetch=True)
    if not staged:
        return Applied("replace", 0, 0)
    commits, touched = 1, [row for row in staged if int(row[1]) != LIVE]
    rows, live_before = (sum(int(row[i]) for row in staged) for i in (2, 3))
    strategy = "replace"
    if touched:
        yield Statement("fold", work.insert(_fold(work, types)))
        folded = yield Statement("folded keys", _folded(work), fetch=True)
        live, stale = (int(value or 0) for value in folded[0])
        commits += 1 if live + stale > live_before else 0
        if stale:
            yield Statement("recompute stale groups", work.insert(_recomputed(work, work.version + commits)))
            after = yield Statement("recomputed keys", _folded(work), fetch=True)
            commits += 1 if int(after[0][0] or 0) > live else 0
        if len(touched) <= MAX_LITERAL_KEYS:
            deleted = yield Statement("delete old rows", _delete(work, [int(row[0]) for row in touched]), fetch=True)
        else:
            strategy = "merge"
            deleted = yield Statement("delete old rows", _merge(work), fetch=True)
        commits += 1 if deleted and int(deleted[0][0]) else 0
    return Applied(strategy if touched else "append", commits, rows)


def _staged(work: Work, types: Mapping[str, str]) -> exp.Select:
    if work.layout.root.aggregate is not None:
        return _state_shape(work, summary_delta(work, types), column(MARK), key_of(work.layout))
    layout = work.layout
    names = [column(symbol) for symbol, _ in layout.stored]
    change = select([*names, column(M)], work.renderer.signed(work.delta))
    keys = [(column(s), t) for (s, _), t in zip(layout.stored, layout.types, strict=True)]
    netted = net(change, [(value.name, type_) for value, type_ in keys])
    touched = exp.LT(
        this=exp.Window(this=exp.Min(this=column(M)), partition_by=[key_of(layout)]), expression=exp.Literal.number(0)
    )
    flagged = select([*names, column(M), aliased(touched, "__ivm_touched")], netted)
    staged_mark = exp.Case(
        ifs=[
            exp.If(this=exp.Not(this=column("__ivm_touched")), true=mark(LIVE)),
            exp.If(this=exp.GT(this=column(M), expression=exp.Literal.number(0)), true=mark(INSERTED)),
        ],
        default=mark(DELETED),
    )
    count = exp.Case(
        ifs=[exp.If(this=column("__ivm_touched"), true=exp.func("abs", column(M)))],
        default=exp.cast(exp.Literal.number(1), "bigint"),
    )
    copies = exp.Case(
        ifs=[exp.If(this=column("__ivm_touched"), true=exp.Literal.number(1))], default=exp.cast(column(M), "int")
    )
    repeated = exp.Anonymous(this="array_repeat", expressions=[exp.true(), exp.cast(copies, "int")])
    rows = select(
        [
            *names,
            aliased(count, COUNT),
            aliased(staged_mark, MARK),
            aliased(exp.Anonymous(this="explode", expressions=[repeated]), "__ivm_copy"),
        ],
        flagged,
    )
    return finish(layout, rows, work.batch, column(MARK))


def _state_shape(work: Work, rows: exp.Select, mark_: exp.Expr, key: exp.Expr) -> exp.Select:
    """Summaries in the state's columns: what is neither group nor partial stays NULL."""
    by_column = {name: symbol for symbol, name in work.layout.stored}
    items = []
    for name in work.layout.columns:
        if name in by_column:
            items.append(aliased(column(by_column[name]), name))
        elif name == COUNT:
            items.append(column(COUNT))
        elif name == KEY:
            items.append(aliased(key, KEY))
        elif name == BATCH:
            items.append(aliased(exp.cast(exp.Literal.number(work.batch), "bigint"), BATCH))
        elif name == MARK:
            items.append(aliased(mark_, MARK))
        else:
            items.append(aliased(exp.false() if name == VISIBLE else exp.null(), name))
    return select(items, rows)


def _ours(work: Work, version: int, *marks: int) -> exp.Select:
    """Our rows at a version that has them unless somebody interleaved, which is found out before publishing."""
    rows = stored_rows(work.layout, work.state_at(version)).where(_batch(work), copy=False)
    return rows.where(exp.In(this=column(MARK), expressions=[mark(m) for m in marks]), copy=False)


def _batch(work: Work) -> exp.Expr:
    return exp.EQ(this=column(BATCH), expression=exp.Literal.number(work.batch))


def _keys(work: Work) -> exp.Select:
    items = [column(KEY), exp.Max(this=column(MARK)), exp.Count(this=exp.Star(), big_int=True), _count_marked(LIVE)]
    return select(items, work.state_at(None)).where(_batch(work), copy=False).group_by(column(KEY), copy=False)


def _count_marked(value: int) -> exp.Expr:
    return exp.Anonymous(this="count_if", expressions=[exp.EQ(this=column(MARK), expression=mark(value))])


def _folded(work: Work) -> exp.Select:
    """How many live and how many stale rows this refresh has written."""
    return select([_count_marked(LIVE), _count_marked(STALE)], work.state_at(None)).where(_batch(work), copy=False)


def _fold(work: Work, types: Mapping[str, str]) -> exp.Select:
    layout = work.layout
    names = [column(symbol) for symbol, _ in layout.stored]
    staged = _ours(work, work.version + 1, INSERTED, DELETED)
    old = old_rows(work, staged.copy())
    if layout.root.aggregate is not None:
        new = select([*names, column(COUNT), column(MARK)], staged)
        return fold_groups(work, _union(old, new), types)
    sign = exp.Case(
        ifs=[exp.If(this=exp.EQ(this=column(MARK), expression=mark(DELETED)), true=exp.Neg(this=column(COUNT)))],
        default=column(COUNT),
    )
    new = select([*names, aliased(sign, M)], staged)
    kept = select([*names, aliased(exp.cast(exp.Literal.number(1), "bigint"), M)], old)
    return fold_bag(work, _union(kept, new))


def _union(left: exp.Select, right: exp.Select) -> exp.Select:
    return select([exp.Star()], exp.Union(this=left, expression=right, distinct=False))


def _recomputed(work: Work, version: int) -> exp.Select:
    """Groups whose hash is stale, from the sources."""
    aggregate = partial_aggregate(work.layout)
    child = at(aggregate.child, Moment.POST)
    if not aggregate.groups:
        return finish(work.layout, work.renderer.bag(aggregate.with_children(child)), work.batch)
    rendered = work.renderer.bag(aggregate.with_children(child))
    stale = select([aliased(column(KEY), "__ivm_k")], _ours(work, version, STALE))
    stale.set("distinct", exp.Distinct())
    names = [column(symbol) for symbol in aggregate.symbols]
    on = exp.EQ(this=key_of(work.layout), expression=column("__ivm_k"))
    wanted = select(names, rendered).join(stale.subquery("k", copy=False), on=on, join_type="left semi", copy=False)
    return finish(work.layout, wanted, work.batch)


def _garbage() -> exp.Expr:
    """Whatever this refresh staged or marked stale."""
    return exp.NEQ(this=column(MARK), expression=mark(LIVE))


def _foreign(work: Work) -> exp.Expr:
    return exp.NEQ(this=column(BATCH), expression=exp.Literal.number(work.batch))


def _delete(work: Work, keys: list[int]) -> exp.Delete:
    among = exp.In(this=column(KEY), expressions=[exp.Literal.number(key) for key in keys])
    where = exp.or_(exp.and_(among, _foreign(work)), _garbage())
    return exp.Delete(this=versioned(work.state, None), where=exp.Where(this=where))


def _merge(work: Work) -> exp.Expr:
    keys = select([aliased(column(KEY), "__ivm_k")], _ours(work, work.version + 1, INSERTED, DELETED))
    keys.set("distinct", exp.Distinct())
    t = {name: exp.column(name, table="t", quoted=True) for name in (KEY, BATCH, MARK)}
    old = exp.or_(
        exp.NEQ(this=t[BATCH], expression=exp.Literal.number(work.batch)), exp.NEQ(this=t[MARK], expression=mark(LIVE))
    )
    return exp.merge(
        exp.When(matched=True, then=exp.Var(this="DELETE")),
        into=exp.alias_(versioned(work.state, None), "t", table=True),
        using=keys.subquery("k"),
        on=exp.and_(exp.EQ(this=t[KEY], expression=exp.column("__ivm_k", table="k", quoted=True)), exp.paren(old)),
    )
