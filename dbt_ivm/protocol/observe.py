"""Observing a source: once per run, pinned for every model.

One DESCRIBE HISTORY tells whether anything changed. Only if something did are the table's properties asked for, and its
id only where the watermark cannot vouch for it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from sqlglot import exp

from dbt_ivm.capture.delta_lake import Commit, Observation, mapping, read_history
from dbt_ivm.parse.sql import write
from dbt_ivm.protocol.environment import Environment, Parts, source_name
from dbt_ivm.protocol.rows import Rows
from dbt_ivm.render.sources import versioned
from dbt_ivm.state.record import SourceMark
from dbt_ivm.strategy.work import Statement

HISTORY_LIMIT = 50
SESSION_SETTINGS = ("spark.sql.session.timeZone", "spark.sql.ansi.enabled", "spark.sql.caseSensitive")
"""The same SELECT returns other rows under other values of these."""


def quoted(parts: Parts) -> str:
    return write(versioned(parts, None))


def history(parts: Parts, limit: int | None) -> Generator[Statement, Rows, list[Commit]]:
    text = f"DESCRIBE HISTORY {quoted(parts)}" + (f" LIMIT {limit}" if limit else "")
    rows = yield Statement("history", text, fetch=True)
    return read_history(rows, rows.names)


def set_properties(parts: Parts, properties: dict[str, str]) -> str:
    pairs = ", ".join(f"{write(exp.Literal.string(k))} = {write(exp.Literal.string(v))}" for k, v in properties.items())
    return f"ALTER TABLE {quoted(parts)} SET TBLPROPERTIES ({pairs})"


def observe_session(env: Environment) -> Generator[Statement, Rows, None]:
    with env.memory.lock("session"):
        if not env.memory.session:
            values = []
            for name in SESSION_SETTINGS:
                rows = yield Statement("session", f"SET {name}", fetch=True)
                values.append(str(rows[0][1]))
            env.memory.session = tuple(values)


def observe(
    parts: Parts, env: Environment, mark: SourceMark | None, pin: int | None = None, enable_feed: bool = False
) -> Generator[Statement, Rows, Observation]:
    """The source as this run sees it, with its history back to the watermark `mark`."""
    name = source_name(parts)
    with env.memory.lock(name):
        seen = env.memory.observations.get(name)
        if seen is None or (pin is not None and seen.pin != pin):
            seen = Observation(parts, "", tuple((yield from history(parts, HISTORY_LIMIT))), None, pin)
        oldest = min(seen.version, mark.version if mark is not None else seen.version)
        if seen.history[-1].version > oldest:
            seen = replace(seen, history=tuple((yield from history(parts, None))))
        if not seen.is_at(mark):
            seen = yield from _properties(seen, enable_feed)
        if not seen.id:
            seen = yield from _identified(seen, mark)
        # Pinned: what arrives from now on belongs to the next run.
        seen = replace(seen, pin=seen.version)
        env.memory.observations[name] = seen
        return seen


def _properties(seen: Observation, enable_feed: bool) -> Generator[Statement, Rows, Observation]:
    if seen.properties is None:
        rows = yield Statement("properties", f"SHOW TBLPROPERTIES {quoted(seen.parts)}", fetch=True)
        seen = replace(seen, properties={str(row[0]): str(row[1]) for row in rows})
    if enable_feed and seen.lacks_feed:
        enable = {"delta.enableChangeDataFeed": "true"}
        yield Statement("enable change feed", set_properties(seen.parts, enable))
        commits = yield from history(seen.parts, None)
        seen = replace(seen, properties={**(seen.properties or {}), **enable}, history=tuple(commits), pin=None)
    return seen


def _identified(seen: Observation, mark: SourceMark | None) -> Generator[Statement, Rows, Observation]:
    if mark is not None and seen.continues(mark):
        return replace(seen, id=mark.id)
    rows = yield Statement("detail", f"DESCRIBE DETAIL {quoted(seen.parts)}", fetch=True)
    detail = rows.dicts()[0]
    return replace(seen, id=str(detail["id"]), properties=mapping(detail["properties"]))


def columns_of(parts: Parts, env: Environment) -> Generator[Statement, Rows, tuple[tuple[str, str], ...]]:
    name = source_name(parts)
    with env.memory.lock(name):
        if name not in env.memory.columns:
            seen = env.memory.observations.get(name)
            query = exp.Select(expressions=[exp.Star()]).from_(versioned(parts, seen.version if seen else None))
            rows = yield Statement("columns", f"DESCRIBE QUERY {write(query)}", fetch=True)
            env.memory.columns[name] = tuple((str(row[0]), str(row[1])) for row in rows)
        return env.memory.columns[name]
