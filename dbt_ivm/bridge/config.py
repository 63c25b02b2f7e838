"""Model configuration: validated before anything runs, all errors at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from dbt_ivm.errors import IvmError
from dbt_ivm.simplify import PASSES

MATERIALIZATIONS = ("ivm", "incremental_view")
REFRESH = ("auto", "incremental", "full")
IVM_KEYS = ("ivm_enable_change_feed", "ivm_switch_off")
SWITCHES = tuple(name for name, _ in PASSES) + ("net_changes", "append", "overwrite", "replace")


def problems(config: Mapping[str, Any]) -> list[str]:
    """
    >>> print(*problems({"refresh": "sometimes", "ivm_enable_change_fed": True}), sep="\\n")
    refresh is 'sometimes': use auto, incremental or full
    ivm_enable_change_fed is no option of dbt_ivm: did you mean ivm_enable_change_feed?
    """
    found = []
    refresh = config.get("refresh")
    if refresh is not None and refresh not in REFRESH:
        found.append(f"refresh is {refresh!r}: use auto, incremental or full")
    for key in ("state_schema",):
        if config.get(key) is not None and not isinstance(config[key], str):
            found.append(f"{key} must be a name, found {config[key]!r}")
    cluster = config.get("cluster_by")
    if cluster is not None and not (isinstance(cluster, str) or _strings(cluster)):
        found.append(f"cluster_by must be a column or a list of columns, found {cluster!r}")
    properties = config.get("tblproperties")
    if properties is not None and not isinstance(properties, Mapping):
        found.append(f"tblproperties must be a mapping, found {properties!r}")
    feed = config.get("ivm_enable_change_feed")
    if feed is not None and not isinstance(feed, bool):
        found.append(f"ivm_enable_change_feed must be true or false, found {feed!r}")
    off = config.get("ivm_switch_off") or []
    for name in [off] if isinstance(off, str) else off:
        if name not in SWITCHES:
            found.append(f"ivm_switch_off has {name!r}: choose among {', '.join(SWITCHES)}")
    for key in config:
        if str(key).startswith("ivm_") and key not in IVM_KEYS:
            nearest = difflib.get_close_matches(str(key), IVM_KEYS, n=1, cutoff=0.0)[0]
            found.append(f"{key} is no option of dbt_ivm: did you mean {nearest}?")
    return found


def _strings(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def validate_all(nodes: Iterable[Mapping[str, Any]]) -> None:
    """All wrong options of all ivm models in one error."""
    lines = []
    for node in nodes:
        config = node.get("config") or {}
        if node.get("resource_type") == "model" and config.get("materialized") in MATERIALIZATIONS:
            lines += [f"  {node.get('name')}: {problem}" for problem in problems(config)]
    if lines:
        raise IvmError("dbt_ivm: these models are not configured correctly; nothing was run.\n" + "\n".join(lines))
