"""Delta tables: `DESCRIBE HISTORY` tells without a query that nothing changed, that rows were only appended, how many changed.

The feed is read only across operations that cannot change the schema; anything else, and every replacement of the whole
table, is the difference of two versions: across schema changes the feed fails or lies.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from dbt_ivm.errors import NotIncremental
from dbt_ivm.render.sources import Change, SourceState
from dbt_ivm.state.record import SourceMark

WALL_FRACTION = 0.8
"""A version is given up for reading well before Delta refuses it (`delta.deletedFileRetentionDuration`)."""
ZONE_SLACK = timedelta(hours=14)
"""Histories show local time of a session that may live anywhere on earth."""
DEFAULT_RETENTION = timedelta(days=7)

# A RESTORE may bring back another schema, so it is not among these.
_ROWS_MOVE = frozenset(("WRITE", "DELETE", "UPDATE", "MERGE", "TRUNCATE", "STREAMING UPDATE", "COPY INTO"))
_NO_ROW_CHANGES = frozenset(("OPTIMIZE", "VACUUM START", "VACUUM END", "REORG", "CLUSTER BY", "COMPUTE STATS"))


@dataclass(frozen=True)
class Commit:
    version: int
    timestamp: str
    operation: str
    parameters: dict = field(default_factory=dict)
    metrics: dict = field(default_factory=dict)

    @property
    def is_append(self) -> bool:
        return (
            self.operation in ("WRITE", "STREAMING UPDATE", "COPY INTO")
            and self.parameters.get("mode", "Append") == "Append"
            and str(self.parameters.get("outputMode", "Append")) == "Append"
        )

    @property
    def is_quiet(self) -> bool:
        """No row changed, nor anything that the feed depends on."""
        if self.operation == "SET TBLPROPERTIES":
            return not any(str(key).startswith("delta.") for key in mapping(self.parameters.get("properties")))
        return self.operation in _NO_ROW_CHANGES

    @property
    def is_replacement(self) -> bool:
        """Too much to be read from the feed: the two versions are compared."""
        return self.parameters.get("mode") == "Overwrite" or not (self.is_quiet or self.operation in _ROWS_MOVE)

    @property
    def rows_in(self) -> int:
        return self._sum("numTargetRowsInserted" if self.operation == "MERGE" else "numOutputRows")

    @property
    def rows_out(self) -> int:
        return self._sum("numTargetRowsDeleted" if self.operation == "MERGE" else "numDeletedRows")

    @property
    def rows(self) -> int:
        """How many rows it touched."""
        return self.rows_in + self.rows_out + self._sum("numUpdatedRows", "numTargetRowsUpdated")

    def _sum(self, *names: str) -> int:
        return sum(int(self.metrics.get(name) or 0) for name in names)


def read_history(rows: list[list], names: list[str]) -> list[Commit]:
    """Newest first, from the rows of DESCRIBE HISTORY."""
    at = {name: i for i, name in enumerate(names)}
    return [
        Commit(
            int(row[at["version"]]),
            _timestamp(row[at["timestamp"]]),
            str(row[at["operation"]]),
            mapping(row[at["operationParameters"]]),
            mapping(row[at["operationMetrics"]]),
        )
        for row in rows
    ]


def _timestamp(value: object) -> str:
    """
    >>> _timestamp("2026-11-18 11:10:28.8360") == _timestamp(datetime(2026, 11, 18, 11, 10, 28, 836000))
    True
    """
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.") + f"{value.microsecond // 1000:03d}"
    text = str(value).replace("T", " ")[:23]
    seconds, _, fraction = text.partition(".")
    return f"{seconds}.{fraction[:3]:0<3}"


def mapping(value: object) -> dict:
    """A map column, or the text in which a Thrift server shows it: quotes inside of its values are not escaped there.

    >>> mapping('{"mode":"Append","partitionBy":"["a","b"]","properties":"{"ivm.batch":"1"}","x":null}')
    {'mode': 'Append', 'partitionBy': '["a","b"]', 'properties': '{"ivm.batch":"1"}', 'x': None}
    >>> mapping('{"isManaged":"true"}'), mapping("{}"), mapping(None), mapping({"a": "b"})
    ({'isManaged': 'true'}, {}, {}, {'a': 'b'})
    """
    if not isinstance(value, str):
        return dict(value) if value else {}  # type: ignore[call-overload]
    with suppress(ValueError):
        return json.loads(value)
    found: dict[str, str | None] = {}
    position = 1
    while match := _MAP_KEY.match(value, position):
        if match.group(2) == "null":
            found[match.group(1)], position = None, match.end()
            continue
        end = _end_of_value(value, match.end())
        found[match.group(1)], position = value[match.end() : end], end + 1
    return found


_MAP_KEY = re.compile(r',?"([^"]*)":("|null)')


def _end_of_value(text: str, start: int) -> int:
    """Where a value ends: JSON inside of it is read as such, anything else goes to the next closing quote."""
    if text[start : start + 1] in ("{", "["):
        with suppress(ValueError):
            end = json.JSONDecoder().raw_decode(text, start)[1]
            if text.startswith(('",', '"}'), end):
                return end
    ends = [end for end in (text.find('","', start), text.find('"}', start)) if end >= 0]
    return min(ends, default=len(text) - 1)


def retention_of(properties: dict) -> timedelta:
    """
    >>> retention_of({"delta.deletedFileRetentionDuration": "interval 2 hours"}).seconds
    7200
    """
    text = properties.get("delta.deletedFileRetentionDuration", "")
    match = re.search(r"(\d+)\s*(second|minute|hour|day|week|month)", str(text).lower())
    if not match:
        return DEFAULT_RETENTION
    unit = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "month": 2592000}[match.group(2)]
    return timedelta(seconds=int(match.group(1)) * unit)


def is_near_wall(timestamp: str, now: datetime, properties: dict) -> bool:
    try:
        then = datetime.strptime(timestamp, "%Y-%m-%d %H:%M:%S.%f")
    except ValueError:
        return True
    return now - then + ZONE_SLACK > retention_of(properties) * WALL_FRACTION


@dataclass(frozen=True)
class Observation:
    """A source as it stood when this run first looked: pinned for the whole run."""

    parts: tuple[str, ...]
    id: str
    history: tuple[Commit, ...]
    """Newest first, complete back to the oldest watermark that was asked for."""
    properties: dict | None = None
    """None: nobody needed them yet."""
    pin: int | None = None
    """A published version, for an ivm model's state; else the newest."""

    @property
    def version(self) -> int:
        return self.history[0].version if self.pin is None else self.pin

    def commit(self, version: int) -> Commit | None:
        return next((commit for commit in self.history if commit.version == version), None)

    @property
    def mark(self) -> SourceMark:
        commit = self.commit(self.version)
        return SourceMark(self.id, self.version, commit.timestamp if commit else "")

    def is_at(self, mark: SourceMark | None) -> bool:
        """Nothing happened since the watermark."""
        return mark is not None and (self.mark.version, self.mark.timestamp) == (mark.version, mark.timestamp)

    def continues(self, mark: SourceMark) -> bool:
        """The same table as the watermark's: its commit is in this history, and nothing since has made the table anew."""
        base = self.commit(mark.version)
        since = [commit for commit in self.history if commit.version > mark.version]
        return base is not None and base.timestamp == mark.timestamp and not any(c.is_replacement for c in since)

    @property
    def has_feed(self) -> bool:
        return str((self.properties or {}).get("delta.enableChangeDataFeed", "")).lower() == "true"

    @property
    def lacks_feed(self) -> bool:
        return self.properties is not None and not self.has_feed


def source_state(name: str, seen: Observation, mark: SourceMark | None, now: datetime) -> SourceState:
    """Where Pre, Post and the change are read from; refuses where the watermark can no longer be reached."""
    post = seen.version
    if mark is None:
        return SourceState(seen.parts, post, post)
    pre = mark.version
    base = seen.commit(pre)
    if base is None or base.timestamp != mark.timestamp:
        raise NotIncremental(
            "source_replaced",
            f"{name} was dropped and made again, or its history is gone: rebuilt from what is there now",
        )
    if pre == post:
        return SourceState(seen.parts, post, post)
    lost = pre != seen.history[0].version and is_near_wall(base.timestamp, now, seen.properties or {})
    between = [commit for commit in seen.history if pre < commit.version <= post]
    if pre < post and all(commit.is_quiet for commit in between):
        return SourceState(seen.parts, post, post)
    if pre < post and seen.has_feed and not any(commit.is_replacement for commit in between):
        moves = [commit for commit in between if not commit.is_quiet]
        change = Change.INSERTS if all(commit.is_append for commit in moves) else Change.FEED
        return SourceState(seen.parts, post, pre, change, lost, sum(commit.rows for commit in moves))
    if lost:
        raise NotIncremental(
            "version_too_old",
            f"version {pre} of {name} is older than Delta keeps for reading, and its change feed cannot be used",
        )
    return SourceState(seen.parts, post, pre, Change.DIFF)
