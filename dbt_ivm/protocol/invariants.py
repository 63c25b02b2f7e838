"""What must hold of a published state besides view = SELECT: what later refreshes will build upon.

No row carries a mark, no group without rows is stored (but the grand total's), and the hidden counts are those of a recompute.
Partial sums of floats are left out: added in another order, their last bits differ.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace

from sqlglot import exp

from dbt_ivm.algebra.relations import column
from dbt_ivm.capture.delta_lake import Observation
from dbt_ivm.parse.sql import write
from dbt_ivm.protocol.analyse import analyse
from dbt_ivm.protocol.definition import define
from dbt_ivm.protocol.environment import Environment, Model, Parts, RunMemory, source_name
from dbt_ivm.protocol.observe import observe_session
from dbt_ivm.protocol.oracle import difference
from dbt_ivm.render.relations import M, Renderer, aliased, net, select
from dbt_ivm.render.sources import SourceState, versioned
from dbt_ivm.state.layout import COUNT, KEY, MARK, Layout, mark
from dbt_ivm.state.measures import Kind
from dbt_ivm.state.record import Record
from dbt_ivm.strategy.full import state_select
from dbt_ivm.strategy.work import Statement


def check(model: Model, env: Environment, float_digits: int | None = None) -> Generator[Statement, list, str]:
    """A SELECT of everything that is wrong, with `problem` and `detail`; it returns no row if all is well."""
    rows = yield from difference(model, env, float_digits)
    parts = [f"{_report('the view and its SELECT differ')} FROM (\n{rows}\n) AS d"]
    record = Record.from_text(env.entry(model.target).text)
    if record is not None and record.incremental:
        parts += yield from _hidden(model, record, env)
    return "\nUNION ALL\n".join(parts)


def _report(problem: str, *names: str) -> str:
    what = exp.Struct(expressions=[column(name) for name in names] or [exp.Star()])
    items = [aliased(exp.Literal.string(problem), "problem"), aliased(exp.cast(what, "string"), "detail")]
    return write(exp.Select(expressions=items))


def _hidden(model: Model, record: Record, env: Environment) -> Generator[Statement, list, list[str]]:
    yield from observe_session(env)
    definition = define(model, env)
    if record.definition != definition.fingerprint or any(
        source_name(parts) not in record.sources for parts in definition.tables.values()
    ):
        return []
    recorded = _as_recorded(record, definition.tables.values(), env)
    analysis = yield from analyse(model, definition, recorded)
    if analysis.reason is not None:
        return []
    layout = analysis.layout
    state = versioned(model.state, record.version)
    marked = exp.NEQ(this=column(MARK), expression=mark(0))
    parts = [_violation("a state row still carries a mark", state, marked, KEY, MARK)]
    aggregate = layout.root.aggregate
    if aggregate is None or not aggregate.grand_total:
        empty = exp.LT(this=column(COUNT), expression=exp.Literal.number(1))
        parts.append(_violation("a state row without rows behind it", state, empty, KEY, COUNT))
    states = {
        source_name(parts): SourceState(parts, version, version)
        for parts in definition.tables.values()
        for version in [record.sources[source_name(parts)].version]
    }
    counts = _count_columns(layout)
    kept = _signed(select([column(name) for name in counts], state), 1)
    wanted = _signed(select([column(name) for name in counts], state_select(layout, Renderer(states), 0)), -1)
    both = select([exp.Star()], exp.Union(this=kept, expression=wanted, distinct=False))
    netted = write(net(both, [(name, "bigint") for name in counts]))
    parts.append(f"{_report('hidden counts differ from a recompute')} FROM (\n{netted}\n) AS h")
    return parts


def _as_recorded(record: Record, tables: Iterable[Parts], env: Environment) -> Environment:
    """The sources as the record knows them, whatever this run has observed since."""
    memory = RunMemory()
    memory.texts, memory.session = env.memory.texts, env.memory.session
    for parts in tables:
        seen = record.sources[source_name(parts)]
        memory.observations[source_name(parts)] = Observation(parts, seen.id, (), None, seen.version)
    return replace(env, memory=memory)


def _violation(problem: str, state: exp.Table, condition: exp.Expr, *names: str) -> str:
    rows = write(exp.Select(expressions=[exp.Star()]).from_(state.copy()).where(condition))
    return f"{_report(problem, *names)} FROM (\n{rows}\n) AS s"


def _count_columns(layout: Layout) -> list[str]:
    columns = dict(layout.stored)
    return [KEY, COUNT, *(columns[partial.name] for partial in layout.partials if partial.kind is Kind.COUNT)]


def _signed(rows: exp.Select, sign: int) -> exp.Select:
    return rows.select(aliased(exp.cast(exp.Literal.number(sign), "bigint"), M), copy=False)
