"""The statements a refresh would run if every source moved on by one version: the strategy itself, with made-up answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dbt_ivm.algebra.relations import Aggregate, Relation, sources
from dbt_ivm.delta import ChangeFacts, delta
from dbt_ivm.protocol.analyse import Analysis
from dbt_ivm.protocol.build import build
from dbt_ivm.protocol.definition import Definition
from dbt_ivm.protocol.environment import Environment, Model
from dbt_ivm.protocol.observe import quoted
from dbt_ivm.protocol.publish import view_text
from dbt_ivm.render.relations import Renderer
from dbt_ivm.render.sources import Change, SourceState
from dbt_ivm.state.record import Record
from dbt_ivm.strategy.choose import choose
from dbt_ivm.strategy.work import Statement, Work

AS_IF_ONE_KEY = [[1] * 8]
"""The answer to every question of a strategy: one key was touched, one row was written."""


@dataclass(frozen=True)
class Script:
    strategy: str
    statements: tuple[Statement, ...]
    change: Relation | None = None


def refresh_script(
    model: Model, analysis: Analysis, types: Mapping[str, str], record: Record | None, env: Environment
) -> Script:
    layout, core = analysis.layout, analysis.root.core
    changed = core.child if isinstance(core, Aggregate) else core
    states = {name: _next_version(name, env) for name in sources(core)}
    change = delta(changed, ChangeFacts(frozenset(states), analysis.types))
    start = record.version if record else 0
    work = Work(layout, Renderer(states), model.state, start, 1, change)
    by_symbol = {symbol: types.get(name.lower(), "") for symbol, name in layout.stored}
    merged = {**analysis.types, **by_symbol}
    steps = choose(work, merged, record.rows if record else -1, model.switched_off)
    statements = []
    try:
        statement = next(steps)
        while True:
            statements.append(statement)
            statement = steps.send(AS_IF_ONE_KEY)
    except StopIteration as done:
        applied = done.value
    publish = _publish(model, analysis, record, start + applied.commits)
    return Script(applied.strategy, (*statements, publish), change)


def build_script(
    model: Model, analysis: Analysis, definition: Definition, record: Record | None, env: Environment
) -> Script:
    first = next(build(model, analysis, definition, env))
    version = record.version + 1 if record else 0
    return Script("full", (first, _publish(model, analysis, record, version)))


def _next_version(name: str, env: Environment) -> SourceState:
    seen = env.memory.observations[name]
    change = Change.FEED if seen.has_feed else Change.DIFF
    return SourceState(seen.parts, seen.version + 1, seen.version, change)


def _publish(model: Model, analysis: Analysis, record: Record | None, version: int) -> Statement:
    moved = replace(record or Record("", "", 0, "", True), version=version)
    text = view_text(model, analysis.layout, moved).replace(moved.to_comment(), "ivm {the record}")
    verb = "ALTER VIEW" if record else "CREATE OR REPLACE VIEW"
    return Statement("publish", f"{verb} {quoted(model.target)} AS {text}")
