"""Building the state: first run, changed definition, --full-refresh, and whatever cannot be maintained."""

from __future__ import annotations

import json
from collections.abc import Generator

from sqlglot import exp

from dbt_ivm.algebra.relations import column
from dbt_ivm.capture.delta_lake import Commit
from dbt_ivm.errors import Interleaved, IvmError, NotIncremental
from dbt_ivm.parse.sql import write
from dbt_ivm.protocol.analyse import Analysis, pinned_states
from dbt_ivm.protocol.definition import Definition
from dbt_ivm.protocol.environment import Environment, Model
from dbt_ivm.protocol.observe import HISTORY_LIMIT, history, quoted
from dbt_ivm.protocol.publish import Built
from dbt_ivm.render.relations import Renderer, aliased
from dbt_ivm.state.layout import Layout
from dbt_ivm.strategy.full import state_select
from dbt_ivm.strategy.work import Statement

STATE_PROPERTIES = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}


def build_sql(model: Model, layout: Layout, definition: Definition, env: Environment, batch: int) -> str:
    if not layout.opaque:
        return write(state_select(layout, Renderer(pinned_states(definition, env)), batch))
    text = model.sql.strip().rstrip(";")
    if all(name == state for name, state in layout.public):
        return text
    items = [aliased(column(name), state) for name, state in layout.public]
    return write(exp.Select(expressions=items)) + f" FROM (\n{text}\n)"


def check_types(
    model: Model, analysis: Analysis, definition: Definition, env: Environment
) -> Generator[Statement, list, None]:
    """The state's columns must have the SELECT's types to the last field name: `arrays_zip(a, b)` names fields by columns."""
    query = build_sql(model, analysis.layout, definition, env, 0)
    rows = yield Statement("state's types", f"DESCRIBE QUERY {query}", fetch=True)
    ours = {str(row[0]): str(row[1]) for row in rows}
    for (name, state), type_ in zip(analysis.layout.public, analysis.layout.types, strict=True):
        if ours.get(state) != type_:
            raise NotIncremental(
                "unfaithful_reading", f"`{name}` would have type {ours.get(state)} where the SELECT has {type_}"
            )


def build(
    model: Model, analysis: Analysis, definition: Definition, env: Environment
) -> Generator[Statement, list, Built]:
    batch = env.new_batch()
    properties = {**dict(model.tblproperties), **STATE_PROPERTIES, "ivm.batch": str(batch)}
    pairs = ", ".join(f"{write(exp.Literal.string(k))} = {write(exp.Literal.string(v))}" for k, v in properties.items())
    cluster = ", ".join(write(exp.to_identifier(name, quoted=True)) for name in _clustering(model, analysis.layout))
    yield Statement(
        "build",
        f"CREATE OR REPLACE TABLE {quoted(model.state)} USING delta"
        + (f" CLUSTER BY ({cluster})" if cluster else "")
        + f" TBLPROPERTIES ({pairs}) AS\n{build_sql(model, analysis.layout, definition, env, batch)}",
    )
    comments = dict(model.column_comments)
    for name, state in analysis.layout.public:
        if comments.get(name.lower()):
            text = write(exp.Literal.string(comments[name.lower()]))
            yield Statement(
                "comment",
                f"ALTER TABLE {quoted(model.state)} ALTER COLUMN {write(exp.to_identifier(state, quoted=True))} COMMENT {text}",
            )
    commits = yield from history(model.state, HISTORY_LIMIT)
    ours = next((i for i, commit in enumerate(commits) if _is_ours(commit, batch)), None)
    if ours is None or any("CHANGE COLUMN" not in commit.operation for commit in commits[:ours]):
        raise Interleaved(model.name, quoted(model.state))
    return Built(commits[0].version, commits[0].timestamp, int(commits[ours].metrics.get("numOutputRows") or 0))


def _clustering(model: Model, layout: Layout) -> list[str]:
    """The state's names of the columns that the user names."""
    by_name = {name.lower(): state for name, state in layout.public}
    unknown = [name for name in model.cluster_by if name.lower() not in by_name]
    if unknown:
        raise IvmError(
            f"{model.name}: cluster_by names {', '.join(unknown)}, which the SELECT does not return; "
            f"choose among {', '.join(name for name, _ in layout.public)}"
        )
    return [by_name[name.lower()] for name in model.cluster_by]


def _is_ours(commit: Commit, batch: int) -> bool:
    properties = commit.parameters.get("properties") or "{}"
    try:
        found = json.loads(properties) if isinstance(properties, str) else properties
    except ValueError:
        return str(batch) in str(properties)
    return found.get("ivm.batch") == str(batch)
