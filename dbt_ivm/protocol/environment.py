"""What a refresh is given: the model, the catalog, and the memory of this run."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from dbt_ivm.capture.delta_lake import Observation
from dbt_ivm.errors import Reason
from dbt_ivm.state.record import Record

Parts = tuple[str, ...]


@dataclass(frozen=True)
class CatalogEntry:
    """A name in the catalog: `kind` is delta, view, other or missing."""

    kind: str
    text: str = ""
    """A view's text."""
    columns: tuple[str, ...] = ()
    """A view's column names, where they may differ from its query's."""
    written: str = ""
    """A view's text as its author wrote it: what the analysis drops may still be a change."""


@dataclass(frozen=True)
class Model:
    name: str
    target: Parts
    state: Parts
    sql: str
    refresh: str = "auto"
    full_refresh: bool = False
    cluster_by: tuple[str, ...] = ()
    tblproperties: tuple[tuple[str, str], ...] = ()
    enable_change_feed: bool = False
    column_comments: tuple[tuple[str, str], ...] = ()
    switched_off: frozenset[str] = frozenset()
    """Names of optimisations that must not be used."""
    depends_on: tuple[Parts, ...] = ()


class RunMemory:
    """One per dbt invocation: every model of a run sees the same version of a source."""

    def __init__(self) -> None:
        self.observations: dict[str, Observation] = {}
        self.session: tuple[str, ...] = ()
        self.columns: dict[str, tuple[tuple[str, str], ...]] = {}
        self.texts: dict[Parts, str] = {}
        self._locks: dict[str, threading.RLock] = defaultdict(threading.RLock)
        self._guard = threading.Lock()

    def lock(self, source: str) -> threading.RLock:
        with self._guard:
            return self._locks[source]


@dataclass
class Environment:
    catalog: Callable[[Parts], CatalogEntry]
    memory: RunMemory
    now: Callable[[], datetime]
    new_batch: Callable[[], int]
    fresh_catalog: Callable[[Parts], CatalogEntry] | None = None
    """As `catalog`, but never from a cache."""

    def fresh(self, parts: Parts) -> CatalogEntry:
        self.memory.texts.pop(lowered(parts), None)
        return (self.fresh_catalog or self.catalog)(parts)

    def entry(self, parts: Parts) -> CatalogEntry:
        key = lowered(parts)
        if key in self.memory.texts:
            return CatalogEntry("view", self.memory.texts[key])
        return self.catalog(parts)


@dataclass
class Outcome:
    """What a refresh did; becomes the adapter response and the log line."""

    strategy: str
    incremental: bool
    reason: Reason
    record: Record
    branches: int = 0
    rows_changed: dict[str, int] = field(default_factory=dict)
    rows_affected: int = 0
    hints: list[str] = field(default_factory=list)


def lowered(parts: Parts) -> Parts:
    return tuple(part.lower() for part in parts)


def bare(parts: Parts) -> Parts:
    """Without the session's own catalog.

    >>> bare(("spark_catalog", "s", "t"))
    ('s', 't')
    """
    return parts[1:] if len(parts) == 3 and parts[0].lower() == "spark_catalog" else parts


def source_name(parts: Parts) -> str:
    return ".".join(
        part if part.replace("_", "a").isalnum() else f"`{part.replace('`', '``')}`" for part in lowered(bare(parts))
    )
