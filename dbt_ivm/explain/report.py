"""The explain text: what a model is to the planner, and what a refresh of it would do. Works before the first run."""

from __future__ import annotations

from collections.abc import Generator

from dbt_ivm.algebra.relations import Aggregate
from dbt_ivm.capture.delta_lake import Observation
from dbt_ivm.errors import NotIncremental, Reason
from dbt_ivm.explain.branches import branch_lines
from dbt_ivm.explain.operators import operators
from dbt_ivm.explain.refresh_script import Script, build_script, refresh_script
from dbt_ivm.explain.state_columns import state_columns
from dbt_ivm.explain.suggestions import cheaper, suggestion_for
from dbt_ivm.explain.table import indented, table
from dbt_ivm.parse.sql import write
from dbt_ivm.protocol.analyse import Analysis, analyse
from dbt_ivm.protocol.build import build_sql
from dbt_ivm.protocol.definition import Definition, define
from dbt_ivm.protocol.environment import Environment, Model, source_name
from dbt_ivm.protocol.faithful import check_faithful
from dbt_ivm.protocol.observe import observe, observe_session
from dbt_ivm.state.record import Record
from dbt_ivm.strategy.work import Statement


def explain(model: Model, env: Environment) -> Generator[Statement, list, str]:
    yield from observe_session(env)
    definition = define(model, env)
    seen: dict[str, Observation] = {}
    for parts in definition.tables.values():
        name = source_name(parts)
        seen[name] = yield from observe(parts, env, None, definition.pins.get(name))
    analysis = yield from analyse(model, definition, env)
    if analysis.reason is None:
        try:
            yield from check_faithful(model, env)
        except NotIncremental as refusal:
            analysis = analysis.opaque(refusal.reason)
    entry = env.entry(model.target)
    record = Record.from_text(entry.text) if entry.kind == "view" else None
    types = yield from _state_types(model, analysis, definition, env)
    lines = _head(model, analysis.reason, record, seen)
    if analysis.reason is not None:
        script = build_script(model, analysis, definition, record, env)
        lines += ["", "operators", *table([("SELECT as written", "recompute", analysis.reason.code)])]
    else:
        script = refresh_script(model, analysis, types, record, env)
        lines += ["", "operators", *operators(analysis.root)]
    lines += ["", f"state {source_name(model.state)}", *state_columns(analysis.layout, types)]
    can_append = not any(isinstance(node, Aggregate) for node in analysis.root.core.walk())
    lines += _delta(script) + _statements(script, can_append and all(s.has_feed for s in seen.values()))
    better = [] if analysis.reason is not None else cheaper(analysis.layout, types, seen)
    if better:
        lines += ["", "suggestions", *(f"  - {text}" for text in better)]
    return "\n".join(lines) + "\n"


def _state_types(
    model: Model, analysis: Analysis, definition: Definition, env: Environment
) -> Generator[Statement, list, dict[str, str]]:
    """Spark's word on the SELECT that builds the state: there is a state to ask only after the first run."""
    query = build_sql(model, analysis.layout, definition, env, 1)
    rows = yield Statement("state's types", f"DESCRIBE QUERY {query}", fetch=True)
    return {str(row[0]).lower(): str(row[1]) for row in rows}


def _head(model: Model, reason: Reason | None, record: Record | None, seen: dict[str, Observation]) -> list[str]:
    rows = [("refresh", model.refresh)]
    if record:
        size = f", {record.rows:,} rows" if record.rows >= 0 else ""
        rows.append(("published", f"version {record.version} of {record.state}{size}"))
    else:
        rows.append(("published", "not yet: the first run builds it"))
    if reason is not None:
        rows.append(("reason", str(reason)))
        if suggestion_for(reason):
            rows.append(("suggestion", suggestion_for(reason)))
        if model.refresh == "incremental":
            rows.append(("outcome", "dbt run fails with this reason, because refresh is incremental"))
    for i, (name, observation) in enumerate(seen.items()):
        how = "change feed" if observation.has_feed else "no change feed: two versions are compared"
        rows.append(("sources" if i == 0 else "", f"{name} at version {observation.version}, {how}"))
    return [f"model {model.name}: {'recompute' if reason is not None else 'incremental'}", *table(rows)]


def _delta(script: Script) -> list[str]:
    if script.change is None:
        return []
    texts = branch_lines(script.change)
    count = f"{len(texts)} {'branch' if len(texts) == 1 else 'branches'}"
    return ["", f"delta if every source changes: {count}"] + [f"  {i}. {text}" for i, text in enumerate(texts, 1)]


def _statements(script: Script, can_append: bool) -> list[str]:
    title = "every run" if script.change is None else "refresh if every source changes"
    lines = ["", f"{title}: {script.strategy}"]
    if script.change is not None and can_append:
        lines.append("  (append, one INSERT, if the sources only gained rows)")
    for i, statement in enumerate(script.statements, 1):
        text = statement.sql if isinstance(statement.sql, str) else write(statement.sql, pretty=True)
        lines += [f"  {i}. {statement.purpose}", *indented(text)]
    return lines
