"""What macros may call, as `modules.ivm`."""

from __future__ import annotations

import copy
import json
import random
import threading
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt_ivm.bridge.catalog import read_information
from dbt_ivm.bridge.config import problems, validate_all
from dbt_ivm.bridge.driver import drive
from dbt_ivm.bridge.response import IvmResponse, respond
from dbt_ivm.errors import IvmError, StatementFailed
from dbt_ivm.explain.report import explain as explain_steps
from dbt_ivm.planner import refresh as refresh_steps
from dbt_ivm.protocol.environment import CatalogEntry, Environment, Model, Parts, RunMemory, lowered
from dbt_ivm.protocol.observe import quoted
from dbt_ivm.protocol.oracle import difference as difference_steps
from dbt_ivm.strategy.work import Statement

_MEMORIES: dict[str, RunMemory] = {}
_GUARD = threading.Lock()
STATE_SUFFIX = "__ivm"


def exports() -> dict[str, Callable]:
    return {"refresh": refresh, "explain": explain, "validate": validate, "difference": difference}


def memory_of(invocation_id: str) -> RunMemory:
    """The memory of this run; those of earlier runs in the same process are dropped."""
    with _GUARD:
        if invocation_id not in _MEMORIES:
            _MEMORIES.clear()
            _MEMORIES[invocation_id] = RunMemory()
        return _MEMORIES[invocation_id]


def state_name(identifier: str) -> str:
    return identifier + STATE_SUFFIX


def validate(nodes: Any, selected: Any) -> str:
    try:
        validate_all(node for node in nodes if not selected or node.get("unique_id") in selected)
    except IvmError as problem:
        raise CompilationError(str(problem)) from problem
    return ""


def model_of(node: dict, config: dict, sql: str, full_refresh: bool, refs: list) -> Model:
    found = problems(config)
    if found:
        raise IvmError(f"{node['name']}: " + "; ".join(found))
    cluster = config.get("cluster_by") or ()
    off = config.get("ivm_switch_off") or ()
    docs = (config.get("persist_docs") or {}).get("columns")
    columns = node.get("columns") or {}
    return Model(
        name=node["name"],
        target=(node["schema"], node["alias"]),
        state=(config.get("state_schema") or node["schema"], state_name(node["alias"])),
        sql=sql,
        refresh=config.get("refresh") or "auto",
        full_refresh=full_refresh,
        cluster_by=(cluster,) if isinstance(cluster, str) else tuple(cluster),
        tblproperties=tuple(sorted((str(k), str(v)) for k, v in (config.get("tblproperties") or {}).items())),
        enable_change_feed=bool(config.get("ivm_enable_change_feed")),
        column_comments=tuple((k.lower(), v.get("description") or "") for k, v in columns.items()) if docs else (),
        switched_off=frozenset((off,) if isinstance(off, str) else off),
        depends_on=tuple(tuple(parts) for parts in refs),
    )


def environment_of(adapter: Any, execute: Callable, invocation_id: str) -> Environment:
    memory = memory_of(invocation_id)

    def catalog(parts: Parts) -> CatalogEntry:
        if len(parts) < 2:
            return CatalogEntry("missing")
        relation = adapter.get_relation(database=None, schema=parts[-2], identifier=parts[-1])
        information = getattr(relation, "information", None) or ""
        if information and ("Type: VIEW" not in information or "/* ivm {" in information):
            return read_information(information)
        return _fresh(parts, execute, memory)

    return Environment(
        catalog,
        memory,
        now=lambda: datetime.now(timezone.utc).replace(tzinfo=None),
        new_batch=lambda: random.SystemRandom().randrange(1, 2**62),
        fresh_catalog=lambda parts: _fresh(parts, execute, memory),
    )


def _fresh(parts: Parts, execute: Callable, memory: RunMemory) -> CatalogEntry:
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


def refresh(
    node: dict,
    config: dict,
    sql: str,
    adapter: Any,
    execute: Callable,
    invocation_id: str,
    full_refresh: bool,
    refs: list,
) -> IvmResponse:
    """Refreshes one model; the hints and the one line go to the log through the macro."""
    started = time.monotonic()
    statements: list[Statement] = []
    env = environment_of(adapter, execute, invocation_id)
    try:
        model = model_of(node, config, sql, full_refresh, refs)
        outcome = drive(refresh_steps(model, env), execute, statements.append)
    except IvmError as problem:
        raise CompilationError(str(problem)) from problem
    except StatementFailed as problem:
        raise DbtRuntimeError(f"{node['name']}: {problem}") from problem
    response = respond(outcome, len(statements), time.monotonic() - started)
    response.hints = outcome.hints  # type: ignore[attr-defined]
    _write_state(lowered(model.target), response)
    return response


def _write_state(target: Parts, response: IvmResponse) -> None:
    """The whole project's watermarks in one file."""
    from dbt.flags import get_flags

    path = Path(getattr(get_flags(), "TARGET_PATH", None) or "target") / "ivm_state.json"
    with _GUARD:
        try:
            states = json.loads(path.read_text()) if path.exists() else {}
        except ValueError:
            states = {}
        states[".".join(target)] = {
            "strategy": response.strategy,
            "state_version": response.state_version,
            "watermark": response.watermark,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(states, indent=2, sort_keys=True))


def compiled(ref: Any, unique_id: str) -> Any:
    """A node with its SQL compiled, ephemeral models included; `ref` knows manifest and project."""
    from dbt.compilation import Compiler

    node = ref.manifest.nodes[unique_id]
    if node.compiled_code:
        return node
    return Compiler(ref.config).compile_node(copy.deepcopy(node), ref.manifest, {}, write=False)


def difference(
    ref: Any, unique_id: str, adapter: Any, execute: Callable, invocation_id: str, float_digits: int | None = None
) -> str:
    node = compiled(ref, unique_id).to_dict()
    env = environment_of(adapter, execute, invocation_id)
    model = model_of(node, node["config"], node["compiled_code"], False, [])
    return drive(difference_steps(model, env, float_digits), execute, lambda statement: None)


def explain(ref: Any, unique_id: str, adapter: Any, execute: Callable, invocation_id: str) -> str:
    node = compiled(ref, unique_id).to_dict()
    env = environment_of(adapter, execute, invocation_id)
    try:
        model = model_of(node, node["config"], node["compiled_code"], False, [])
        text = drive(explain_steps(model, env), execute, lambda statement: None)
    except IvmError as problem:
        raise CompilationError(str(problem)) from problem
    from dbt.flags import get_flags

    path = Path(getattr(get_flags(), "TARGET_PATH", None) or "target") / "ivm_explain" / f"{node['name']}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return text
