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

from dbt_ivm.errors import Interleaved, IvmError, NotIncremental, Reason, StatementFailed
from dbt_ivm.protocol.analyse import Analysis, analyse
from dbt_ivm.protocol.apply import apply_change
from dbt_ivm.protocol.build import build, check_types
from dbt_ivm.protocol.definition import Definition, define
from dbt_ivm.protocol.environment import CatalogEntry, Environment, Model, Outcome, source_name
from dbt_ivm.protocol.faithful import check_faithful
from dbt_ivm.protocol.observe import observe, observe_session, set_properties
from dbt_ivm.protocol.publish import publish, record_of, view_text
from dbt_ivm.state.record import Record
from dbt_ivm.strategy.work import Statement

Refresh = Generator[Statement, list, Outcome]

MAX_ATTEMPTS = 3
"""Two runs of one model can undo each other's work; each try starts from what is published by then."""
EXPECTED_BUILDS = ("first_build", "full_refresh", "definition_changed", "refresh_full")


def refresh(model: Model, env: Environment) -> Refresh:
    target = env.entry(model.target)
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return (yield from _refresh(model, target, env))
        except Interleaved:
            target = env.fresh(model.target)
    return (yield from _refresh(model, target, env))


def _refresh(model: Model, target: CatalogEntry, env: Environment) -> Refresh:
    yield from observe_session(env)
    definition = define(model, env)
    record = Record.from_text(target.text) if target.kind == "view" else None
    yield from _observe_all(model, definition, record, env)
    why_build = _why_build(model, definition, record, target.kind, env)
    if why_build is None and record is not None and _unchanged(definition, record, env):
        return Outcome("no_op", record.incremental, Reason("unchanged", "no source changed"), record)
    analysis = yield from analyse(model, definition, env)
    if record is not None:
        why_build = why_build or _why_recompute(analysis, record)
        if why_build is None:
            try:
                outcome = yield from apply_change(model, definition, analysis, record, target.text, env)
                outcome.hints = _feed_hints(definition, env)
                return outcome
            except NotIncremental as refusal:
                why_build = refusal.reason
            except StatementFailed as problem:
                if problem.is_conflict:
                    raise Interleaved(model.name, source_name(model.state)) from problem
                text = f"the change could not be applied ({problem.first_line})"
                why_build = Reason("delta_failed", text, "the SELECT was run as written instead")
    assert why_build is not None
    return (yield from _build(model, definition, analysis, record, why_build, env))


def _observe_all(
    model: Model, definition: Definition, record: Record | None, env: Environment
) -> Generator[Statement, list, None]:
    for parts in definition.tables.values():
        name = source_name(parts)
        pin = definition.pins.get(name)
        mark = record.sources.get(name) if record else None
        yield from observe(parts, env, mark, pin, model.enable_change_feed and pin is None)


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


def _why_recompute(analysis: Analysis, record: Record) -> Reason | None:
    if analysis.reason is not None:
        return analysis.reason
    if not record.incremental:
        return Reason("recomputed_before", record.reason or "the last refresh was a recompute")
    if analysis.schema != record.schema:
        return Reason("source_schema_changed", "the type of a used column changed")
    return None


def _unchanged(definition: Definition, record: Record, env: Environment) -> bool:
    if definition.unknown_sources or record.reason == "non_deterministic":
        return False
    names = [source_name(parts) for parts in definition.tables.values()]
    return all(env.memory.observations[name].is_at(record.sources.get(name)) for name in names)


def _build(
    model: Model, definition: Definition, analysis: Analysis, record: Record | None, why: Reason, env: Environment
) -> Refresh:
    if analysis.reason is None:
        try:
            yield from check_faithful(model, env)
            yield from check_types(model, analysis, definition, env)
        except NotIncremental as refusal:
            analysis = analysis.opaque(refusal.reason)
    if model.refresh == "incremental" and (analysis.reason is not None or why.code not in EXPECTED_BUILDS):
        raise IvmError(f"{model.name}: configured with refresh = incremental, but {analysis.reason or why}")
    try:
        built = yield from build(model, analysis, definition, env)
    except StatementFailed as problem:
        if problem.is_conflict:
            raise Interleaved(model.name, source_name(model.state)) from problem
        if analysis.layout.opaque:
            raise
        analysis = analysis.opaque(Reason("build_failed", f"the state could not be built ({problem.first_line})"))
        built = yield from build(model, analysis, definition, env)
    new = record_of(model, definition, analysis, env, built)
    yield from publish(model, view_text(model, analysis.layout, new), env)
    strategy = "build" if record is None else "full"
    hints = [] if analysis.layout.opaque else _feed_hints(definition, env)
    return Outcome(strategy, False, analysis.reason or why, new, rows_affected=built.rows, hints=hints)


def _feed_hints(definition: Definition, env: Environment) -> list[str]:
    hints = []
    for parts in definition.tables.values():
        if env.memory.observations[source_name(parts)].lacks_feed:
            hints.append(
                f"{source_name(parts)} has no change feed, so its versions are compared whole; enable it: "
                + set_properties(parts, {"delta.enableChangeDataFeed": "true"})
            )
    return hints
