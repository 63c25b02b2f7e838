"""The explain text: class of each operator, layout of the state, branches of the delta, SQL, reasons."""

from __future__ import annotations

from collections.abc import Generator

from dbt_ivm.algebra.relations import Aggregate, Filter, Join, Project, Relation, Scan, UnionAll, sources
from dbt_ivm.delta import ChangeFacts, branches, delta
from dbt_ivm.errors import NotIncremental, StatementFailed
from dbt_ivm.parse.sql import write
from dbt_ivm.protocol.analyse import Analysis, analyse
from dbt_ivm.protocol.definition import define
from dbt_ivm.protocol.environment import Environment, Model, source_name
from dbt_ivm.protocol.faithful import check_faithful
from dbt_ivm.protocol.observe import observe, observe_session
from dbt_ivm.render.relations import Renderer
from dbt_ivm.render.sources import Change, SourceState
from dbt_ivm.state.record import Record
from dbt_ivm.strategy.work import Statement

CLASSES = {
    Scan: "source",
    Filter: "linear",
    Project: "linear",
    UnionAll: "linear",
    Join: "bilinear",
    Aggregate: "per key",
}


def explain(model: Model, env: Environment) -> Generator[Statement, list, str]:
    yield from observe_session(env)
    definition = define(model, env)
    for parts in definition.tables.values():
        yield from observe(parts, env, None, definition.pins.get(source_name(parts)))
    analysis = yield from analyse(model, definition, env)
    reason = analysis.reason
    if reason is None:
        try:
            yield from check_faithful(model, env)
        except NotIncremental as refusal:
            reason = refusal.reason
        except StatementFailed as problem:
            raise problem
    entry = env.entry(model.target)
    record = Record.from_text(entry.text) if entry.kind == "view" else None
    lines = [f"model {model.name}: " + ("recompute" if reason else "incremental")]
    lines.append(f"published: version {record.version} of {record.state}" if record else "published: not yet built")
    if reason:
        lines += [f"reason: {reason}"] + ([f"suggestion: {reason.suggestion}"] if reason.suggestion else [])
        return "\n".join(lines) + "\n"
    return "\n".join(lines + _body(analysis, env)) + "\n"


def _body(analysis: Analysis, env: Environment) -> list[str]:
    layout = analysis.layout
    core = layout.root.core
    maintained = core.child if isinstance(core, Aggregate) else core
    names = sources(core)
    facts = ChangeFacts(frozenset(names), analysis.types)
    states = {}
    for name in names:
        seen = env.memory.observations[name]
        states[name] = SourceState(seen.parts, seen.version, max(seen.version - 1, 0), Change.FEED)
    lines = ["", "operators"] + _tree(core, 1, is_root=True)
    lines += ["", "state"] + [f"  {column}" for column in layout.columns]
    count = branches(maintained, facts)
    lines += ["", f"delta if every source changes: {count} {'branch' if count == 1 else 'branches'}"]
    lines += [
        "",
        "SQL of that delta, from each source's previous version",
        write(Renderer(states).signed(delta(maintained, facts)), pretty=True),
    ]
    return lines


def _tree(node: Relation, depth: int, is_root: bool = False) -> list[str]:
    kind = CLASSES.get(type(node), "recompute")
    if isinstance(node, Aggregate):
        kind = (
            "per key: summary delta folded into the state"
            if is_root
            else "per key: touched groups computed before and after"
        )
    what = type(node).__name__
    if isinstance(node, Scan):
        what = f"Scan {node.source} ({', '.join(c.name for c in node.columns)})"
    lines = [f"{'  ' * depth}{what}: {kind}"]
    for child in node.children:
        lines += _tree(child, depth + 1)
    return lines
