"""How Jinja reaches Python: dbt asks every installed `dbt_*` module for plugins; ours adds the planner to Jinja's `modules`."""

from __future__ import annotations

from typing import Any

from dbt.context import base
from dbt.plugins.manager import dbtPlugin


class IvmPlugin(dbtPlugin):
    def initialize(self) -> None:
        _extend_modules()


def _extend_modules() -> None:
    original = base.get_context_modules
    if getattr(original, "has_ivm", False):
        return

    def with_ivm() -> dict[str, dict[str, Any]]:
        from dbt_ivm.bridge import jinja

        return {**original(), "ivm": jinja.exports()}

    with_ivm.has_ivm = True  # type: ignore[attr-defined]
    base.get_context_modules = with_ivm


plugins = [IvmPlugin]
