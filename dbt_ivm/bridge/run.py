"""One dbt invocation: the memory its models share, and the catalog as dbt's adapter sees it."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt_ivm.bridge.catalog import read_information
from dbt_ivm.protocol.environment import CatalogEntry, Environment, Parts, RunMemory
from dbt_ivm.protocol.observe import quoted

_MEMORIES: dict[str, RunMemory] = {}
_GUARD = threading.Lock()


def memory_of(invocation_id: str) -> RunMemory:
    """The memory of this run; those of earlier runs in the same process are dropped."""
    with _GUARD:
        if invocation_id not in _MEMORIES:
            _MEMORIES.clear()
            _MEMORIES[invocation_id] = RunMemory()
        return _MEMORIES[invocation_id]


def environment_of(adapter: Any, execute: Callable, invocation_id: str) -> Environment:
    def catalog(parts: Parts) -> CatalogEntry:
        if len(parts) < 2:
            return CatalogEntry("missing")
        information = cached_information(adapter, parts)
        if information and ("Type: VIEW" not in information or "/* ivm {" in information):
            return read_information(information)
        return _fresh(parts, execute)

    return Environment(
        catalog,
        memory_of(invocation_id),
        now=lambda: datetime.now(timezone.utc).replace(tzinfo=None),
        new_batch=lambda: random.SystemRandom().randrange(1, 2**62),
        fresh_catalog=lambda parts: _fresh(parts, execute),
    )


def cached_information(adapter: Any, parts: Parts) -> str:
    """What dbt's relation cache knows of a name: costs no statement once the schema was listed."""
    relation = adapter.get_relation(database=None, schema=parts[-2], identifier=parts[-1])
    return getattr(relation, "information", None) or ""


def _fresh(parts: Parts, execute: Callable) -> CatalogEntry:
    """dbt's cache has no text for what was built in this run."""
    name = parts[-1].replace("'", "\\'").replace("*", ".").replace("|", ".")
    try:
        table = execute(f"SHOW TABLE EXTENDED IN {quoted(parts[:-1])} LIKE '{name}'", True)
    except DbtRuntimeError:
        return CatalogEntry("missing")
    for row in table.rows:
        if str(row[1]).lower() == parts[-1].lower():
            return read_information(str(row[3]))
    return CatalogEntry("missing")
