"""Publishing is moving a pinned view: ALTER VIEW is one in-place update of the catalog, the commit point of a refresh.

CREATE OR REPLACE VIEW is drop, then create, in Spark's session catalog: only where there is no view yet.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from dbt_ivm.algebra.relations import column
from dbt_ivm.errors import IvmError
from dbt_ivm.parse.sql import write
from dbt_ivm.protocol.analyse import Analysis
from dbt_ivm.protocol.definition import Definition
from dbt_ivm.protocol.environment import Environment, Model, lowered, source_name
from dbt_ivm.protocol.observe import quoted
from dbt_ivm.render.relations import aliased, select
from dbt_ivm.render.sources import versioned
from dbt_ivm.state.layout import VISIBLE, Layout
from dbt_ivm.state.record import MAX_TEXT, Record
from dbt_ivm.strategy.work import Statement


@dataclass(frozen=True)
class Built:
    """A version of the state that is ready to be published."""

    version: int
    timestamp: str
    rows: int


def record_of(model: Model, definition: Definition, analysis: Analysis, env: Environment, built: Built) -> Record:
    names = [source_name(parts) for parts in definition.tables.values()]
    return Record(
        definition=definition.fingerprint,
        state=source_name(model.state),
        version=built.version,
        timestamp=built.timestamp,
        incremental=not analysis.layout.opaque,
        reason=analysis.reason.code if analysis.reason else "",
        schema=analysis.schema,
        rows=built.rows,
        sources={name: env.memory.observations[name].mark for name in names},
    )


def view_text(model: Model, layout: Layout, record: Record) -> str:
    items = [column(state) if state == name else aliased(column(state), name) for name, state in layout.public]
    query = select(items, versioned(model.state, record.version))
    if layout.has_filter and not layout.opaque:
        query = query.where(column(VISIBLE), copy=False)
    text = f"SELECT /* {record.to_comment()} */ " + write(query)[len("SELECT ") :]
    if len(text) > MAX_TEXT:
        raise IvmError(
            f"{model.name}: the view's text has {len(text)} characters, the metastore takes {MAX_TEXT}; split the model"
        )
    return text


def publish(model: Model, text: str, env: Environment) -> Generator[Statement, list, None]:
    kind = env.entry(model.target).kind
    name = quoted(model.target)
    backup = (*model.target[:-1], f"{model.target[-1]}__ivm_backup")
    if kind == "view":
        yield Statement("publish", f"ALTER VIEW {name} AS {text}")
    else:
        # A table of this name is set aside first; one that a crashed run set aside has done its service.
        set_aside = env.entry(backup).kind != "missing"
        if kind != "missing":
            if set_aside:
                yield Statement("drop the old table", f"DROP TABLE {quoted(backup)}")
            yield Statement("set the old table aside", f"ALTER TABLE {name} RENAME TO {quoted(backup)}")
            set_aside = True
        yield Statement("publish", f"CREATE OR REPLACE VIEW {name} AS {text}")
        if set_aside:
            yield Statement("drop the old table", f"DROP TABLE {quoted(backup)}")
    env.memory.texts[lowered(model.target)] = text


def republished(text: str, old: Record, new: Record) -> str:
    """The same view at another version."""
    return text.replace(old.to_comment(), new.to_comment()).replace(
        f"VERSION AS OF {old.version}", f"VERSION AS OF {new.version}"
    )
