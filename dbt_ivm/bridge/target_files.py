"""What dbt_ivm leaves under `target/`: the watermarks of the whole project, and explained models."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dbt_ivm.bridge.config import MATERIALIZATIONS
from dbt_ivm.bridge.response import IvmResponse
from dbt_ivm.bridge.run import cached_information
from dbt_ivm.state.record import Record

_PROJECTS: dict[str, dict[str, Any]] = {}
_GUARD = threading.Lock()


def target_folder(ref: Any) -> Path:
    return Path(ref.config.project_root) / ref.config.project_target_path


def write_state(ref: Any, adapter: Any, invocation_id: str, unique_id: str, response: IvmResponse) -> None:
    """`ivm_state.json`: every ivm model of the project, also those that this run left alone."""
    with _GUARD:
        if invocation_id not in _PROJECTS:
            _PROJECTS.clear()
            _PROJECTS[invocation_id] = _published(ref, adapter)
        states = _PROJECTS[invocation_id]
        states[unique_id] = {
            **states.get(unique_id, {"relation": ref.manifest.nodes[unique_id].relation_name}),
            "state_version": response.state_version,
            "watermark": response.watermark,
            "strategy": response.strategy,
        }
        _replace(target_folder(ref) / "ivm_state.json", json.dumps(states, indent=2, sort_keys=True))


def _published(ref: Any, adapter: Any) -> dict[str, Any]:
    states = {}
    for unique_id, node in ref.manifest.nodes.items():
        if node.resource_type == "model" and node.config.materialized in MATERIALIZATIONS:
            record = Record.from_text(cached_information(adapter, (node.schema, node.alias)))
            if record is not None:
                states[unique_id] = {
                    "relation": node.relation_name,
                    "state_version": record.version,
                    "watermark": {name: asdict(mark) for name, mark in record.sources.items()},
                    "strategy": None,
                }
    return states


def write_explained(ref: Any, name: str, text: str) -> Path:
    path = target_folder(ref) / "ivm_explain" / f"{name}.txt"
    _replace(path, text)
    return path


def _replace(path: Path, text: str) -> None:
    """A script that reads along sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)
