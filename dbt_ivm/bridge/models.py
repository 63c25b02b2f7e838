"""A dbt node as the planner's model."""

from __future__ import annotations

import copy
from typing import Any

from dbt_ivm.bridge.config import problems
from dbt_ivm.errors import IvmError
from dbt_ivm.protocol.docs import Docs
from dbt_ivm.protocol.environment import Model

STATE_SUFFIX = "__ivm"


def state_name(identifier: str) -> str:
    return identifier + STATE_SUFFIX


def model_of(node: dict, config: dict, sql: str, full_refresh: bool, refs: list) -> Model:
    found = problems(config)
    if found:
        raise IvmError(f"{node['name']}: " + "; ".join(found))
    cluster = config.get("cluster_by") or ()
    off = config.get("ivm_switch_off") or ()
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
        column_comments=docs_of(node, config).columns or (),
        switched_off=frozenset((off,) if isinstance(off, str) else off),
        depends_on=tuple(tuple(parts) for parts in refs),
    )


def docs_of(node: dict, config: dict) -> Docs:
    wanted = config.get("persist_docs") or {}
    columns = None
    if wanted.get("columns"):
        columns = tuple((k.lower(), v.get("description") or "") for k, v in (node.get("columns") or {}).items())
    return Docs((node.get("description") or "") if wanted.get("relation") else None, columns)


def compiled(ref: Any, unique_id: str) -> Any:
    """A node with its SQL compiled, ephemeral models included; `ref` knows manifest and project."""
    from dbt.compilation import Compiler

    node = ref.manifest.nodes[unique_id]
    if node.compiled_code:
        return node
    return Compiler(ref.config).compile_node(copy.deepcopy(node), ref.manifest, {}, write=False)
