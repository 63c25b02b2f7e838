"""Docs in the catalog: they follow the model's descriptions without a rebuild.

Column comments belong to the state's columns, because a view takes them from its query; changing one makes a version of the
state with the same rows, and the view is published anew at that version. The view's own comment is a property of the view,
and so is the fingerprint that tells whether anything has to be done: dbt's relation cache shows it for free.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_ivm.errors import IvmError
from dbt_ivm.parse.sql import write
from dbt_ivm.protocol.environment import Environment, Model, Outcome
from dbt_ivm.protocol.observe import history, quoted
from dbt_ivm.protocol.publish import publish, republished
from dbt_ivm.state.fingerprint import fingerprint
from dbt_ivm.state.layout import public_names
from dbt_ivm.state.record import Record
from dbt_ivm.strategy.work import Statement

PROPERTY = "ivm.docs"
_WRITTEN = re.compile(rf"\b{re.escape(PROPERTY)}=([0-9a-f]+)")


@dataclass(frozen=True)
class Docs:
    """None: dbt was not asked to persist these."""

    relation: str | None = None
    columns: tuple[tuple[str, str], ...] | None = None

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.relation, self.columns) if self != Docs() else ""


def documented(information: str) -> str:
    """The fingerprint of the docs that a view has.

    >>> documented("Table Properties: [ivm.docs=0ab1, view.query.out.numCols=2]")
    '0ab1'
    """
    match = _WRITTEN.search(information)
    return match.group(1) if match else ""


def document(
    model: Model, docs: Docs, present: str, outcome: Outcome, env: Environment
) -> Generator[Statement, list, Record]:
    """The record as it stands afterwards."""
    wanted = docs.fingerprint
    if not wanted or wanted == present:
        return outcome.record
    record = outcome.record
    if docs.columns is not None and outcome.strategy not in ("build", "full"):
        record = yield from _comment_columns(model, dict(docs.columns), record, env)
    properties = {PROPERTY: wanted} if docs.relation is None else {"comment": docs.relation, PROPERTY: wanted}
    pairs = ", ".join(f"{_text(key)} = {_text(value)}" for key, value in properties.items())
    yield Statement("describe the view", f"ALTER VIEW {quoted(model.target)} SET TBLPROPERTIES ({pairs})")
    return record


def _comment_columns(
    model: Model, wanted: dict[str, str], record: Record, env: Environment
) -> Generator[Statement, list, Record]:
    state = quoted(model.state)
    rows = yield Statement("columns", f"DESCRIBE QUERY SELECT * FROM {quoted(model.target)}", fetch=True)
    stored = dict(public_names([str(row[0]) for row in rows], model.name))
    shown = {str(row[0]).lower(): (stored[str(row[0])], str(row[2] or "")) for row in rows}
    changed = [(shown[name][0], text) for name, text in wanted.items() if name in shown and shown[name][1] != text]
    if not changed:
        return record
    head = (yield from history(model.state, 1))[0]
    if head.version != record.version:
        # Left behind by a run that did not publish.
        yield Statement("undo", f"RESTORE TABLE {state} TO VERSION AS OF {record.version}")
        head = (yield from history(model.state, 1))[0]
    for name, text in changed:
        column = write(exp.to_identifier(name, quoted=True))
        yield Statement("comment", f"ALTER TABLE {state} ALTER COLUMN {column} COMMENT {_text(text)}")
    now = (yield from history(model.state, 1))[0]
    if now.version != head.version + len(changed):
        raise IvmError(
            f"{model.name}: another run wrote {state} at the same time; the columns' docs were not published, run again"
        )
    moved = replace(record, version=now.version, timestamp=now.timestamp)
    yield from publish(model, republished(env.entry(model.target).text, record, moved), env)
    return moved


def _text(value: str) -> str:
    return write(exp.Literal.string(value))
