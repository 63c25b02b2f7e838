"""Observing a source: once per run, pinned for every model."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from sqlglot import exp

from dbt_ivm.capture.delta_lake import HISTORY_LIMIT, Commit, Observation, _mapping, read_history
from dbt_ivm.parse.sql import write
from dbt_ivm.protocol.environment import Environment, Parts, source_name
from dbt_ivm.protocol.rows import Rows
from dbt_ivm.render.sources import versioned
from dbt_ivm.state.record import Record
from dbt_ivm.strategy.work import Statement


def quoted(parts: Parts) -> str:
    return write(versioned(parts, None))


def history(parts: Parts, limit: int | None) -> Generator[Statement, Rows, list[Commit]]:
    text = f"DESCRIBE HISTORY {quoted(parts)}" + (f" LIMIT {limit}" if limit else "")
    rows = yield Statement("history", text, fetch=True)
    return read_history(rows, rows.names)


def set_properties(parts: Parts, properties: dict[str, str]) -> str:
    pairs = ", ".join(f"{write(exp.Literal.string(k))} = {write(exp.Literal.string(v))}" for k, v in properties.items())
    return f"ALTER TABLE {quoted(parts)} SET TBLPROPERTIES ({pairs})"


def observe(
    parts: Parts, env: Environment, wanted: int | None, pin: int | None = None, enable_feed: bool = False
) -> Generator[Statement, Rows, Observation]:
    """The source as this run sees it, with its history back to version `wanted`."""
    name = source_name(parts)
    with env.memory.lock(name):
        seen = env.memory.observations.get(name)
        if seen is not None and pin is not None and seen.pin != pin:
            seen = None
        if seen is None:
            detail = (yield Statement("detail", f"DESCRIBE DETAIL {quoted(parts)}", fetch=True)).dicts()[0]
            properties = _mapping(detail["properties"])
            seen = Observation(parts, str(detail["id"]), (), properties, pin)
            if enable_feed and not seen.has_feed:
                yield Statement("enable change feed", set_properties(parts, {"delta.enableChangeDataFeed": "true"}))
                seen = replace(seen, properties={**properties, "delta.enableChangeDataFeed": "true"})
            commits = yield from history(parts, HISTORY_LIMIT)
            seen = replace(seen, history=tuple(commits), pin=pin if pin is not None else commits[0].version)
        oldest = min(seen.version, wanted if wanted is not None else seen.version)
        if seen.history[-1].version > oldest:
            commits = yield from history(parts, None)
            seen = replace(seen, history=tuple(commits))
        env.memory.observations[name] = seen
        return seen


def columns_of(parts: Parts, env: Environment) -> Generator[Statement, list, tuple[tuple[str, str], ...]]:
    name = source_name(parts)
    with env.memory.lock(name):
        if name not in env.memory.columns:
            seen = env.memory.observations.get(name)
            query = exp.Select(expressions=[exp.Star()]).from_(versioned(parts, seen.version if seen else None))
            rows = yield Statement("columns", f"DESCRIBE QUERY {write(query)}", fetch=True)
            env.memory.columns[name] = tuple((str(row[0]), str(row[1])) for row in rows)
        return env.memory.columns[name]


def published(text: str) -> Record | None:
    return Record.from_text(text)
