"""One refresh, from the model to the published view.

define       text, upstream views, fingerprint            nothing is asked of Spark
observe      each source's version, once per run          no change: no_op, nothing runs
analyse      names and types from Spark, algebra, layout  bad input ends here, before anything is written
build        first run, new definition, --full-refresh    or
apply        delta by the laws, applied by a strategy     an error here is followed by a build, with the reason
publish      ALTER VIEW: the commit point
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from dbt_ivm.algebra.relations import Aggregate, Relation
from dbt_ivm.capture.delta_lake import is_near_wall, source_state
from dbt_ivm.delta import ChangeFacts, branches, delta
from dbt_ivm.errors import IvmError, NotIncremental, Reason, StatementFailed
from dbt_ivm.protocol.analyse import Analysis, analyse, check_faithful
from dbt_ivm.protocol.build import Built, build
from dbt_ivm.protocol.definition import Definition, define
from dbt_ivm.protocol.environment import Environment, Model, Outcome, source_name
from dbt_ivm.protocol.observe import history, observe, quoted, set_properties
from dbt_ivm.protocol.publish import publish, republished, view_text
from dbt_ivm.render.relations import Renderer
from dbt_ivm.render.sources import Change, SourceState
from dbt_ivm.state.record import Record
from dbt_ivm.strategy.choose import choose
from dbt_ivm.strategy.work import Applied, Statement, Work

Refresh = Generator[Statement, list, Outcome]


def refresh(model: Model, env: Environment) -> Refresh:
    definition = define(model, env)
    target = env.entry(model.target)
    record = Record.from_text(target.text) if target.kind == "view" else None
    yield from _observe_all(model, definition, record, env)
    why_build = _why_build(model, definition, record, target.kind, env)
    if why_build is None and record is not None and _unchanged(definition, record, env):
        return Outcome("no_op", record.incremental, Reason("unchanged", "no source changed"), record)
    analysis = yield from analyse(model, definition, env)
    if why_build is None and record is not None:
        if analysis.reason is not None:
            why_build = analysis.reason
        elif not record.incremental:
            why_build = Reason("recomputed_before", record.reason or "the last refresh was a recompute")
        elif analysis.schema != record.schema:
            why_build = Reason("source_schema_changed", "the type of a used column changed")
    if why_build is None and record is not None:
        try:
            return (yield from _incremental(model, definition, analysis, record, target.text, env))
        except NotIncremental as refusal:
            why_build = refusal.reason
        except StatementFailed as problem:
            first = str(problem).strip().splitlines()[0] if str(problem).strip() else "a statement failed"
            why_build = Reason("delta_failed", f"the change could not be applied ({first[:200]})")
    assert why_build is not None
    return (yield from _build(model, definition, analysis, record, why_build, env))


def _observe_all(
    model: Model, definition: Definition, record: Record | None, env: Environment
) -> Generator[Statement, list, None]:
    for parts in definition.tables.values():
        name = source_name(parts)
        mark = record.sources.get(name) if record else None
        pin = definition.pins.get(name)
        enable = model.enable_change_feed and pin is None
        yield from observe(parts, env, mark.version if mark else None, pin, enable)


def _why_build(
    model: Model, definition: Definition, record: Record | None, kind: str, env: Environment
) -> Reason | None:
    if kind == "missing":
        return Reason("first_build", "first build")
    if record is None:
        return Reason("first_build", f"first build: replaces the existing {'view' if kind == 'view' else 'table'}")
    if model.full_refresh:
        return Reason("full_refresh", "--full-refresh")
    if model.refresh == "full":
        return Reason("refresh_full", "configured: refresh = full")
    if env.entry(model.state).kind != "delta":
        return Reason("state_missing", f"the state table {source_name(model.state)} is gone")
    if record.definition != definition.fingerprint:
        return Reason("definition_changed", "the definition changed")
    return None


def _unchanged(definition: Definition, record: Record, env: Environment) -> bool:
    if definition.unknown_sources or record.reason == "non_deterministic":
        return False
    marks = {name: env.memory.observations[name].mark for name in map(source_name, definition.tables.values())}
    return all(
        name in record.sources
        and (mark.version, mark.timestamp) == (record.sources[name].version, record.sources[name].timestamp)
        for name, mark in marks.items()
    )


def _record(
    model: Model, definition: Definition, analysis: Analysis, env: Environment, built: Built, reason: str = ""
) -> Record:
    marks = {name: env.memory.observations[name].mark for name in map(source_name, definition.tables.values())}
    return Record(
        definition=definition.fingerprint,
        state=source_name(model.state),
        version=built.version,
        timestamp=built.timestamp,
        incremental=not analysis.layout.opaque,
        reason=reason,
        schema=analysis.schema,
        rows=built.rows,
        sources=marks,
    )


def _build(
    model: Model, definition: Definition, analysis: Analysis, record: Record | None, why: Reason, env: Environment
) -> Refresh:
    is_first = why.code in ("first_build", "full_refresh", "definition_changed", "refresh_full")
    if model.refresh == "incremental" and (analysis.reason is not None or not is_first):
        raise IvmError(f"{model.name}: configured with refresh = incremental, but {analysis.reason or why}")
    if analysis.reason is None:
        try:
            yield from check_faithful(model)
        except NotIncremental as refusal:
            analysis = _opaque(analysis, refusal.reason)
            if model.refresh == "incremental":
                raise IvmError(
                    f"{model.name}: configured with refresh = incremental, but {refusal.reason}"
                ) from refusal
    try:
        built = yield from build(model, analysis, definition, env)
    except StatementFailed as problem:
        if analysis.layout.opaque:
            raise
        analysis = _opaque(
            analysis, Reason("build_failed", f"the state could not be built ({str(problem).splitlines()[0][:200]})")
        )
        built = yield from build(model, analysis, definition, env)
    reason = analysis.reason or why
    new = _record(model, definition, analysis, env, built, analysis.reason.code if analysis.reason else "")
    yield from publish(model, view_text(model, analysis.layout, new), new, env)
    strategy = "build" if record is None else "full"
    hints = [] if analysis.layout.opaque else _feed_hints(definition, env)
    return Outcome(strategy, False, reason, new, rows_affected=built.rows, hints=hints)


def _opaque(analysis: Analysis, reason: Reason) -> Analysis:
    layout = replace(analysis.layout, opaque=True)
    return replace(analysis, layout=layout, reason=reason)


def _feed_hints(definition: Definition, env: Environment) -> list[str]:
    hints = []
    for parts in definition.tables.values():
        if not env.memory.observations[source_name(parts)].has_feed:
            hints.append(
                f"{source_name(parts)} has no change feed, so its versions are compared whole; enable it: "
                + set_properties(parts, {"delta.enableChangeDataFeed": "true"})
            )
    return hints


def source_states(definition: Definition, record: Record, env: Environment) -> dict[str, SourceState]:
    states = {}
    for parts in definition.tables.values():
        name = source_name(parts)
        states[name] = source_state(name, env.memory.observations[name], record.sources.get(name), env.now())
    return states


def _incremental(
    model: Model, definition: Definition, analysis: Analysis, record: Record, text: str, env: Environment
) -> Refresh:
    states = source_states(definition, record, env)
    changed = {name: state for name, state in states.items() if state.change is not Change.NONE}
    facts = ChangeFacts(frozenset(changed), analysis.types)
    layout = analysis.layout
    start, record, text = yield from _clean_state(model, record, text, env)
    rows_changed = {name: state.rows if state.rows is not None else -1 for name, state in changed.items()}
    changed_input = _maintained(layout.root.core)
    if not facts.touches(changed_input):
        applied, version, timestamp = Applied("no_op", 0, 0), start, record.timestamp
    else:
        work = Work(
            layout,
            Renderer(states, net_changes="net_changes" not in model.switched_off),
            model.state,
            start,
            env.new_batch(),
            delta(changed_input, facts),
            inserts_only=all(s.change is Change.INSERTS for s in changed.values()) and _is_monotone(changed_input),
        )
        types = yield from _state_types(model, analysis, start)
        applied = yield from choose(work, {**analysis.types, **types}, record.rows, model.switched_off)
        head = (yield from history(model.state, 1))[0]
        if head.version != start + applied.commits:
            raise IvmError(
                f"{model.name}: another run wrote {quoted(model.state)} at the same time; nothing was published, run again"
            )
        version, timestamp = head.version, head.timestamp if applied.commits else record.timestamp
    rows = applied.rows if applied.strategy == "overwrite" else record.rows
    if applied.strategy in ("append", "replace", "merge") and record.rows >= 0:
        rows = record.rows + applied.rows
    new = _record(model, definition, analysis, env, Built(version, timestamp, rows))
    yield from publish(model, view_text(model, layout, new), new, env)
    reason = Reason("changed", f"{len(changed)} of {len(states)} sources changed")
    outcome = Outcome(applied.strategy, True, reason, new, branches(changed_input, facts), rows_changed, applied.rows)
    outcome.hints = _feed_hints(definition, env)
    return outcome


def _maintained(core: Relation) -> Relation:
    """What the delta is taken of: an aggregate at the root is folded from its input's delta."""
    return core.child if isinstance(core, Aggregate) else core


def _is_monotone(relation: Relation) -> bool:
    """Inserts below give only inserts above."""
    return not any(isinstance(node, Aggregate) for node in relation.walk())


def _state_types(model: Model, analysis: Analysis, version: int) -> Generator[Statement, list, dict[str, str]]:
    if analysis.root.aggregate is None:
        return {}
    rows = yield Statement(
        "state's types", f"DESCRIBE QUERY SELECT * FROM {quoted(model.state)} VERSION AS OF {version}", fetch=True
    )
    by_column = {str(row[0]): str(row[1]) for row in rows}
    return {symbol: by_column[name] for symbol, name in analysis.layout.stored}


def _clean_state(
    model: Model, record: Record, text: str, env: Environment
) -> Generator[Statement, list, tuple[int, Record, str]]:
    """The version to write upon: the published one, after undoing what a crashed or foreign run left behind."""
    commits = yield from history(model.state, 50)
    if commits[-1].version > record.version:
        commits = yield from history(model.state, None)
    head = commits[0]
    published = next((commit for commit in commits if commit.version == record.version), None)
    if published is None or published.timestamp != record.timestamp:
        raise NotIncremental(
            "state_replaced", f"the state table {source_name(model.state)} is not the one that was published"
        )
    if is_near_wall(record.timestamp, env.now(), {}) and head.version == record.version:
        yield Statement("touch the state", set_properties(model.state, {"ivm.touched": str(record.version)}))
        head = (yield from history(model.state, 1))[0]
        moved = replace(record, version=head.version, timestamp=head.timestamp)
        text = republished(text, record, moved)
        yield from publish(model, text, moved, env)
        return head.version, moved, text
    if head.version != record.version:
        yield Statement("undo", f"RESTORE TABLE {quoted(model.state)} TO VERSION AS OF {record.version}")
        head = (yield from history(model.state, 1))[0]
        if head.operation != "RESTORE" or str(head.parameters.get("version")) != str(record.version):
            raise IvmError(
                f"{model.name}: another run wrote {quoted(model.state)} at the same time; nothing was published, run again"
            )
    return head.version, record, text
