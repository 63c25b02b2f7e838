"""Staging: the change is computed once and written into the state itself, marked as inserts and deletes.

It is read back cheaply by its batch, its size and keys are known before anything old is touched, and nothing of it is
visible before the view moves. A bag's rows whose key only gains are final at once: they are staged live.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.relations import column
from dbt_ivm.render.relations import M, aliased, net, select
from dbt_ivm.state.layout import BATCH, COUNT, DELETED, INSERTED, KEY, LIVE, MARK, VISIBLE, finish, key_of, mark
from dbt_ivm.strategy.fold import stored_rows, summary_delta
from dbt_ivm.strategy.work import Rows, Statement, Work


@dataclass(frozen=True)
class Staged:
    """`keys` are those whose old rows must go; `rows` is all that was staged."""

    keys: tuple[int, ...]
    rows: int


def stage(work: Work, types: Mapping[str, str]) -> Generator[Statement, Rows, Staged]:
    yield Statement("stage the change", work.insert(_staged(work, types)))
    rows = yield Statement("touched keys", _keys(work), fetch=True)
    return Staged(tuple(int(row[0]) for row in rows if int(row[1]) != LIVE), sum(int(row[2]) for row in rows))


def of_batch(work: Work) -> exp.Expr:
    return exp.EQ(this=column(BATCH), expression=exp.Literal.number(work.batch))


def touched_rows(work: Work, version: int, keys: tuple[int, ...], max_literals: int) -> exp.Select:
    """Old rows and staged change of the touched keys, in one scan of the state as the staging left it."""
    names = [column(symbol) for symbol, _ in work.layout.stored]
    rows = select([*names, column(COUNT), column(MARK)], stored_rows(work.layout, work.state_at(version)))
    return among_keys(work, rows, column(KEY), version, keys, max_literals)


def among_keys(
    work: Work, rows: exp.Select, key: exp.Expr, version: int, keys: tuple[int, ...], max_literals: int, *marks: int
) -> exp.Select:
    """Restricts `rows` to the keys: by literals while they are few, else by the staged rows that carry them."""
    if len(keys) <= max_literals:
        return rows.where(exp.In(this=key, expressions=[exp.Literal.number(value) for value in keys]), copy=False)
    wanted = staged_keys(work, version, *(marks or (INSERTED, DELETED)))
    on = exp.EQ(this=key, expression=exp.column("__ivm_k", table="k", quoted=True))
    return rows.join(wanted.subquery("k", copy=False), on=on, join_type="left semi", copy=False)


def staged_keys(work: Work, version: int, *marks: int) -> exp.Select:
    ours = select([aliased(column(KEY), "__ivm_k")], work.state_at(version)).where(of_batch(work), copy=False)
    ours = ours.where(exp.In(this=column(MARK), expressions=[mark(m) for m in marks]), copy=False)
    ours.set("distinct", exp.Distinct())
    return ours


def _keys(work: Work) -> exp.Select:
    items = [column(KEY), exp.Max(this=column(MARK)), exp.Count(this=exp.Star(), big_int=True)]
    return select(items, work.state_at(None)).where(of_batch(work), copy=False).group_by(column(KEY), copy=False)


def _staged(work: Work, types: Mapping[str, str]) -> exp.Select:
    if work.layout.root.aggregate is not None:
        return _state_shape(work, summary_delta(work, types))
    return _staged_bag(work)


def _staged_bag(work: Work) -> exp.Select:
    layout = work.layout
    names = [column(symbol) for symbol, _ in layout.stored]
    change = select([*names, column(M)], work.renderer.signed(work.delta))
    netted = net(change, [(s, t) for (s, _), t in zip(layout.stored, layout.types, strict=True)])
    loses = exp.LT(
        this=exp.Window(this=exp.Min(this=column(M)), partition_by=[key_of(layout)]), expression=exp.Literal.number(0)
    )
    flagged = select([*names, column(M), aliased(loses, "__ivm_touched")], netted)
    touched = column("__ivm_touched")
    staged_mark = exp.Case(
        ifs=[
            exp.If(this=exp.Not(this=touched), true=mark(LIVE)),
            exp.If(this=exp.GT(this=column(M), expression=exp.Literal.number(0)), true=mark(INSERTED)),
        ],
        default=mark(DELETED),
    )
    one = exp.cast(exp.Literal.number(1), "bigint")
    count = exp.Case(ifs=[exp.If(this=touched.copy(), true=exp.func("abs", column(M)))], default=one)
    copies = exp.Case(ifs=[exp.If(this=touched.copy(), true=one.copy())], default=column(M))
    repeated = exp.Anonymous(this="array_repeat", expressions=[exp.true(), exp.cast(copies, "int")])
    exploded = exp.Anonymous(this="explode", expressions=[repeated])
    items = [*names, aliased(count, COUNT), aliased(staged_mark, MARK), aliased(exploded, "__ivm_copy")]
    return finish(layout, select(items, flagged), work.batch, column(MARK))


def _state_shape(work: Work, rows: exp.Select) -> exp.Select:
    """Summaries in the state's columns: what is neither group nor partial stays NULL."""
    values: dict[str, exp.Expr] = {name: column(symbol) for symbol, name in work.layout.stored}
    values[COUNT] = column(COUNT)
    values[KEY] = key_of(work.layout)
    values[BATCH] = exp.cast(exp.Literal.number(work.batch), "bigint")
    values[MARK] = column(MARK)
    values[VISIBLE] = exp.false()
    return select([aliased(values.get(name, exp.null()), name) for name in work.layout.columns], rows)
