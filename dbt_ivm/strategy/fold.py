"""Old state plus staged change: Ins and Del summaries folded into groups, multiplicities into bags (papers/004, section 4.2).

A group is stale, to be recomputed from the sources, when its stored extreme may have been deleted, when a float was
retracted (subtraction drifts, NaN and Infinity never go away), or when its aggregate has no law of its own. Staleness goes
by key hash: then all groups of that hash are recomputed, and no comparison of keys is needed.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dbt_ivm.algebra.relations import column
from dbt_ivm.algebra.types import spark_type
from dbt_ivm.render.relations import M, aliased, net, select
from dbt_ivm.state.layout import (
    BATCH,
    COUNT,
    DELETED,
    EMPTY,
    INSERTED,
    KEY,
    LIVE,
    MARK,
    STALE,
    Layout,
    finish,
    key_of,
    mark,
)
from dbt_ivm.state.measures import Kind
from dbt_ivm.strategy.work import Work

IMPOSSIBLE = "dbt_ivm: the state does not contain a row that the change deletes"
OVERFLOW = "dbt_ivm: a decimal sum overflowed, its group cannot be folded"


def _is_mark(value: int) -> exp.Expr:
    return exp.EQ(this=column(MARK), expression=mark(value))


def always_stale(layout: Layout) -> bool:
    return any(partial.kind is Kind.RECOMPUTED for partial in layout.partials)


def can_be_stale(work: Work, types: Mapping[str, str]) -> bool:
    if always_stale(work.layout) or work.inserts_only:
        return always_stale(work.layout)
    partials = work.layout.partials
    floats = any(p.kind is Kind.SUM and spark_type(types[p.name]).is_floating for p in partials)
    return floats or any(p.kind in (Kind.MIN, Kind.MAX) for p in partials)


def summary_delta(work: Work, types: Mapping[str, str]) -> exp.Select:
    """Ins and Del summaries of the change: groups, partials, count and mark."""
    aggregate = work.layout.root.aggregate
    assert aggregate is not None
    change = work.renderer.signed(work.delta)
    sign = exp.Case(
        ifs=[exp.If(this=exp.GT(this=column(M), expression=exp.Literal.number(0)), true=mark(INSERTED))],
        default=mark(DELETED),
    )
    copies: exp.Expr = exp.func("abs", column(M))
    items = [aliased(e.copy(), s) for s, e in aggregate.groups]
    items += [aliased(p.argument.copy(), f"{p.name}_x") for p in work.layout.partials if p.kind is not Kind.RECOMPUTED]
    decimals = any(p.kind is Kind.SUM and spark_type(types[p.name]).is_decimal for p in work.layout.partials)
    if decimals:
        # A decimal times a count loses digits: repeat the row instead.
        repeated = exp.Anonymous(
            this="array_repeat", expressions=[exp.cast(exp.Literal.number(1), "bigint"), exp.cast(copies, "int")]
        )
        copies = exp.Anonymous(this="explode", expressions=[repeated])
    rows = select([*items, aliased(sign, MARK), aliased(copies, "__ivm_copies")], change)
    outputs: list[exp.Expr] = [column(symbol) for symbol, _ in aggregate.groups]
    for partial in work.layout.partials:
        outputs.append(aliased(_summary(partial.kind, column(f"{partial.name}_x"), types[partial.name]), partial.name))
    outputs.append(aliased(exp.Sum(this=column("__ivm_copies")), COUNT))
    outputs.append(column(MARK))
    return select(outputs, rows).group_by(*(column(s) for s, _ in aggregate.groups), column(MARK), copy=False)


def _summary(kind: Kind, value: exp.Expr, type_: str) -> exp.Expr:
    copies = column("__ivm_copies")
    if kind is Kind.COUNT:
        known = exp.Not(this=exp.Is(this=value, expression=exp.null()))
        return exp.Sum(
            this=exp.Case(ifs=[exp.If(this=known, true=copies)], default=exp.cast(exp.Literal.number(0), "bigint"))
        )
    if kind is Kind.SUM:
        if spark_type(type_).is_decimal:
            return exp.Sum(this=value)
        return exp.Sum(this=exp.Mul(this=exp.cast(value, type_), expression=copies))
    if kind is Kind.MIN:
        return exp.Min(this=value)
    if kind is Kind.MAX:
        return exp.Max(this=value)
    return exp.cast(exp.null(), type_)


def stored_rows(layout: Layout, table: exp.Table) -> exp.Select:
    """State rows under the names a fold uses."""
    items = [aliased(column(name), symbol) for symbol, name in layout.stored]
    return select([*items, column(COUNT), column(KEY), column(MARK), column(BATCH)], table)


def fold_groups(work: Work, both: exp.Select, types: Mapping[str, str], *, keep_empty: bool = False) -> exp.Select:
    """State rows for the groups of `both`: old rows (mark 0) and summaries (marks 1 and 2).

    `keep_empty` writes emptied groups too, marked to be deleted.
    """
    layout = work.layout
    aggregate = layout.root.aggregate
    assert aggregate is not None
    items: list[exp.Expr] = [column(symbol) for symbol, _ in aggregate.groups]
    stale: list[exp.Expr] = []
    retracted = exp.EQ(this=exp.Max(this=column(MARK)), expression=mark(DELETED))
    counts = {p.argument: p.name for p in layout.partials if p.kind is Kind.COUNT}
    for partial in layout.partials:
        value, type_ = column(partial.name), types[partial.name]
        if partial.kind in (Kind.MIN, Kind.MAX):
            call = exp.Min if partial.kind is Kind.MIN else exp.Max
            kept = call(this=_where_not(DELETED, value))
            gone = call(this=_where(DELETED, value))
            compare = exp.LTE if partial.kind is Kind.MIN else exp.GTE
            stale.append(
                exp.func(
                    "coalesce",
                    compare(this=gone, expression=kept.copy()),
                    exp.Not(this=exp.Is(this=gone.copy(), expression=exp.null())),
                )
            )
            items.append(aliased(kept, partial.name))
        elif partial.kind is Kind.RECOMPUTED:
            stale.append(exp.true())
            items.append(aliased(exp.Anonymous(this="first", expressions=[value]), partial.name))
        else:
            total: exp.Expr = exp.Sum(this=_signed(value))
            if partial.kind is Kind.SUM:
                if spark_type(type_).is_floating:
                    stale.append(retracted)
                counted = _counted(layout, partial.name)
                count = counts.get(counted) if counted is not None else None
                if count:
                    total = _known_sum(total, column(partial.name), column(count), spark_type(type_).is_decimal)
            items.append(aliased(exp.cast(total, type_), partial.name))
    rows = exp.Sum(this=_signed(column(COUNT)))
    checked = exp.Case(
        ifs=[exp.If(this=exp.LT(this=rows, expression=exp.Literal.number(0)), true=_impossible())], default=rows.copy()
    )
    items.append(aliased(exp.cast(checked, "bigint"), COUNT))
    items.append(aliased(exp.or_(*stale) if stale else exp.false(), "__ivm_stale"))
    folded = select(items, both)
    if aggregate.groups:
        folded = folded.group_by(*(column(symbol) for symbol, _ in aggregate.groups), copy=False)
    return _marked_groups(work, folded, bool(stale), keep_empty)


def _marked_groups(work: Work, folded: exp.Select, may_be_stale: bool, keep_empty: bool) -> exp.Select:
    layout = work.layout
    assert layout.root.aggregate is not None
    names = [column(symbol) for symbol, _ in layout.stored]
    cases: list[exp.If] = []
    is_empty = exp.EQ(this=column(COUNT), expression=exp.Literal.number(0))
    if not layout.root.aggregate.grand_total:
        if keep_empty:
            cases.append(exp.If(this=is_empty, true=mark(EMPTY)))
        else:
            folded = select([*names, column(COUNT), column("__ivm_stale")], folded).where(
                exp.Not(this=is_empty), copy=False
            )
    if may_be_stale:
        by_hash = exp.Window(
            this=exp.Anonymous(this="bool_or", expressions=[column("__ivm_stale")]), partition_by=[key_of(layout)]
        )
        cases.append(exp.If(this=by_hash, true=mark(STALE)))
    if not cases:
        return finish(layout, folded, work.batch)
    marked = select([*names, column(COUNT), aliased(exp.Case(ifs=cases, default=mark(LIVE)), MARK)], folded)
    return finish(layout, marked, work.batch, column(MARK))


def _known_sum(total: exp.Expr, value: exp.Expr, count: exp.Expr, is_decimal: bool) -> exp.Expr:
    """NULL where nothing is summed. Without ANSI mode a decimal that overflowed is NULL too, and nothing can be subtracted
    from that: an error, which is followed by the SELECT as written."""
    if is_decimal:
        lost = exp.And(
            this=exp.Is(this=value.copy(), expression=exp.null()),
            expression=exp.GT(this=count.copy(), expression=exp.Literal.number(0)),
        )
        overflow = exp.Anonymous(this="raise_error", expressions=[exp.Literal.string(OVERFLOW)])
        lost_any = exp.func("coalesce", exp.Anonymous(this="bool_or", expressions=[lost]), exp.false())
        total = exp.Case(
            ifs=[exp.If(this=lost_any, true=overflow)], default=exp.func("coalesce", total, overflow.copy())
        )
    some = exp.GT(this=exp.Sum(this=_signed(count)), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=some, true=total)])


def _counted(layout: Layout, name: str) -> exp.Expr | None:
    """The argument whose COUNT tells whether this sum is NULL."""
    for measure in layout.measures:
        if any(p.name == name for p in measure.partials):
            return next((p.argument for p in measure.partials if p.kind is Kind.COUNT), None)
    return None


def fold_bag(work: Work, both: exp.Select, *, keep_empty: bool = False) -> exp.Select:
    """State rows for the rows of `both`: old ones and signed changes, summed to the bit and expanded."""
    layout = work.layout
    names = [column(symbol) for symbol, _ in layout.stored]
    signed = select([*names, aliased(_signed(column(COUNT)), M)], both)
    summed = net(signed, [(s, t) for (s, _), t in zip(layout.stored, layout.types, strict=True)], keep_zero=keep_empty)
    if not keep_empty:
        return finish(layout, expanded(layout, summed), work.batch)
    gone = exp.EQ(this=column(M), expression=exp.Literal.number(0))
    new_mark = exp.Case(ifs=[exp.If(this=gone, true=mark(EMPTY))], default=mark(LIVE))
    once = exp.Case(ifs=[exp.If(this=gone.copy(), true=exp.cast(exp.Literal.number(1), "bigint"))], default=column(M))
    marked = select([*names, aliased(once, M), aliased(new_mark, MARK)], summed)
    return finish(layout, expanded(layout, marked, column(MARK)), work.batch, column(MARK))


def expanded(layout: Layout, rows: exp.Select, *carried: exp.Expr) -> exp.Select:
    """As many copies as `__ivm_m` says; fewer than none is a contradiction and publishes nothing."""
    names = [*(column(symbol) for symbol, _ in layout.stored), *carried]
    below = exp.LT(this=column(M), expression=exp.Literal.number(0))
    copies = exp.Case(ifs=[exp.If(this=below, true=_impossible())], default=exp.cast(column(M), "int"))
    one = exp.cast(exp.Literal.number(1), "bigint")
    repeated = exp.Anonymous(
        this="explode", expressions=[exp.Anonymous(this="array_repeat", expressions=[one, exp.cast(copies, "int")])]
    )
    return select([*names, column(COUNT)], select([*names, aliased(repeated, COUNT)], rows))


def _impossible() -> exp.Expr:
    return exp.Anonymous(this="raise_error", expressions=[exp.Literal.string(IMPOSSIBLE)])


def _signed(value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=_is_mark(DELETED), true=exp.Neg(this=value.copy()))], default=value.copy())


def _where(mark_: int, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=_is_mark(mark_), true=value.copy())])


def _where_not(mark_: int, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=exp.Not(this=_is_mark(mark_)), true=value.copy())])
