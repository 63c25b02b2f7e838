"""Refreshing from the change: clean the state, apply the delta by a strategy, prove that every commit was ours, publish."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from dbt_ivm.algebra.relations import Aggregate, Relation
from dbt_ivm.capture.delta_lake import Commit, source_state
from dbt_ivm.delta import ChangeFacts, branches, delta
from dbt_ivm.errors import Interleaved, Reason
from dbt_ivm.protocol.analyse import Analysis
from dbt_ivm.protocol.definition import Definition
from dbt_ivm.protocol.environment import Environment, Model, Outcome, source_name
from dbt_ivm.protocol.observe import history, quoted
from dbt_ivm.protocol.publish import Built, publish, record_of, view_text
from dbt_ivm.protocol.recover import clean_state
from dbt_ivm.render.relations import Renderer
from dbt_ivm.render.sources import Change, SourceState
from dbt_ivm.state.record import Record
from dbt_ivm.strategy.choose import choose
from dbt_ivm.strategy.work import Applied, Rows, Statement, Work


@dataclass(frozen=True)
class _Change:
    """What moved since the watermark, over the part of the view that is maintained."""

    relation: Relation
    states: dict[str, SourceState]

    @property
    def changed(self) -> dict[str, SourceState]:
        return {name: state for name, state in self.states.items() if state.change is not Change.NONE}

    @property
    def inserts_only(self) -> bool:
        """Inserts below give only inserts above."""
        is_monotone = not any(isinstance(node, Aggregate) for node in self.relation.walk())
        return is_monotone and all(state.change is Change.INSERTS for state in self.changed.values())


def apply_change(
    model: Model, definition: Definition, analysis: Analysis, record: Record, text: str, env: Environment
) -> Generator[Statement, Rows, Outcome]:
    core = analysis.layout.root.core
    # An aggregate at the root is folded from its input's delta.
    change = _Change(core.child if isinstance(core, Aggregate) else core, _source_states(definition, record, env))
    facts = ChangeFacts(frozenset(change.changed), analysis.types)
    start, record = yield from clean_state(model, record, text, env)
    if not facts.touches(change.relation):
        applied, built = Applied("no_op", 0, 0), Built(start.version, start.timestamp, record.rows)
    else:
        applied, built = yield from _write(model, analysis, record, change, facts, start, env)
    new = record_of(model, definition, analysis, env, built)
    yield from publish(model, view_text(model, analysis.layout, new), env)
    return Outcome(
        applied.strategy,
        True,
        Reason("changed", f"{len(change.changed)} of {len(change.states)} sources changed"),
        new,
        branches(change.relation, facts),
        {name: state.rows if state.rows is not None else -1 for name, state in change.changed.items()},
        built.rows if applied.rows is None else applied.rows,
    )


def _source_states(definition: Definition, record: Record, env: Environment) -> dict[str, SourceState]:
    names = [source_name(parts) for parts in definition.tables.values()]
    return {
        name: source_state(name, env.memory.observations[name], record.sources.get(name), env.now()) for name in names
    }


def _write(
    model: Model,
    analysis: Analysis,
    record: Record,
    change: _Change,
    facts: ChangeFacts,
    start: Commit,
    env: Environment,
) -> Generator[Statement, Rows, tuple[Applied, Built]]:
    work = Work(
        analysis.layout,
        Renderer(change.states, net_changes="net_changes" not in model.switched_off),
        model.state,
        start.version,
        env.new_batch(),
        delta(change.relation, facts),
        change.inserts_only,
    )
    types = yield from _state_types(model, analysis, start.version)
    applied = yield from choose(work, {**analysis.types, **types}, record.rows, model.switched_off)
    commits = yield from history(model.state, max(applied.commits, 1))
    if commits[0].version != start.version + applied.commits:
        raise Interleaved(model.name, quoted(model.state))
    ours = commits[: applied.commits]
    head = ours[0] if ours else start
    return applied, Built(head.version, head.timestamp, _rows(record.rows, applied, ours))


def _rows(before: int, applied: Applied, ours: list[Commit]) -> int:
    """The state's size, from the metrics of our own commits."""
    if applied.strategy == "overwrite" and ours:
        return ours[0].rows_in
    return before + sum(commit.rows_in - commit.rows_out for commit in ours) if before >= 0 else -1


def _state_types(model: Model, analysis: Analysis, version: int) -> Generator[Statement, Rows, dict[str, str]]:
    if analysis.root.aggregate is None:
        return {}
    query = f"DESCRIBE QUERY SELECT * FROM {quoted(model.state)} VERSION AS OF {version}"
    rows = yield Statement("state's types", query, fetch=True)
    by_column = {str(row[0]): str(row[1]) for row in rows}
    return {symbol: by_column[name] for symbol, name in analysis.layout.stored}
