"""The version a refresh writes upon: the published one, after undoing what a crashed or foreign run left behind.

The 7-day wall: Delta refuses to read or restore a version that is neither the latest nor younger than the table keeps
deleted files. A view published long ago would break at today's first write, so the state is touched first (a commit that
changes no row) and the view moved to that version.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from dbt_ivm.capture.delta_lake import Commit, is_near_wall
from dbt_ivm.errors import Interleaved, NotIncremental, StatementFailed
from dbt_ivm.protocol.environment import Environment, Model, source_name
from dbt_ivm.protocol.observe import HISTORY_LIMIT, history, quoted, set_properties
from dbt_ivm.protocol.publish import publish, republished
from dbt_ivm.state.record import Record
from dbt_ivm.strategy.work import Rows, Statement


def clean_state(
    model: Model, record: Record, text: str, env: Environment
) -> Generator[Statement, Rows, tuple[Commit, Record]]:
    """The commit to write upon, and the record of what is published now."""
    commits = yield from history(model.state, HISTORY_LIMIT)
    if commits[-1].version > record.version:
        commits = yield from history(model.state, None)
    published = next((commit for commit in commits if commit.version == record.version), None)
    if published is None or published.timestamp != record.timestamp:
        raise NotIncremental(
            "state_replaced", f"the state table {source_name(model.state)} is not the one that was published"
        )
    is_near = is_near_wall(record.timestamp, env.now(), dict(model.tblproperties))
    since = [commit for commit in commits if commit.version > record.version]
    head = commits[0]
    if any(not commit.is_quiet for commit in since):
        head = yield from _restore(model, record)
    elif is_near and not since:
        yield Statement("touch the state", set_properties(model.state, {"ivm.touched": str(record.version)}))
        head = yield from _our_commit(model, record.version + 1)
    if is_near or (since and head.is_quiet):
        moved = replace(record, version=head.version, timestamp=head.timestamp)
        yield from publish(model, republished(text, record, moved), env)
        return head, moved
    return head, record


def _restore(model: Model, record: Record) -> Generator[Statement, Rows, Commit]:
    try:
        yield Statement("undo", f"RESTORE TABLE {quoted(model.state)} TO VERSION AS OF {record.version}")
    except StatementFailed as problem:
        if problem.is_conflict:
            raise Interleaved(model.name, quoted(model.state)) from problem
        raise NotIncremental(
            "state_unreachable",
            f"the published version of {source_name(model.state)} can no longer be restored",
        ) from problem
    head = (yield from history(model.state, 1))[0]
    if head.operation != "RESTORE" or str(head.parameters.get("version")) != str(record.version):
        raise Interleaved(model.name, quoted(model.state))
    return head


def _our_commit(model: Model, version: int) -> Generator[Statement, Rows, Commit]:
    head = (yield from history(model.state, 1))[0]
    if head.version != version or not head.is_quiet:
        raise Interleaved(model.name, quoted(model.state))
    return head
