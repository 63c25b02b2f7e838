"""The dbt package without the Python package: one clear sentence, wherever a user first meets it."""

from __future__ import annotations

import pytest
from dbt.context import base

SENTENCE = "dbt_ivm's Python half is missing: pip install dbt-ivm in the environment that runs dbt"


@pytest.fixture
def without_python_half(monkeypatch):
    original = base.get_context_modules

    def bare() -> dict:
        return {name: module for name, module in original().items() if name != "ivm"}

    bare.has_ivm = True  # so that the plugin leaves it alone
    monkeypatch.setattr(base, "get_context_modules", bare)


def test_every_entry_says_what_is_missing(new_project, without_python_half):
    project = new_project()
    project.model("m", "select 1 as x")
    project.write("models/all.yml", {"models": [{"name": "m", "data_tests": ["dbt_ivm.equals_recompute"]}]})
    project.write("macros/skip.sql", "{% macro direct() %}{{ dbt_ivm.ivm_materialize() }}{% endmacro %}")
    for command in (
        ["run"],
        ["test"],
        ["run-operation", "ivm_explain", "--args", "{model: m}"],
        ["run-operation", "direct"],
    ):
        run = project.dbt(*command)
        assert not run.success
        assert SENTENCE in run.log, command
        assert "has no attribute" not in run.log
    for name in ("equals_recompute", "ivm_materialize"):
        assert "dbt_ivm.ivm_python()" in _macro(project, name)


def _macro(project, name: str) -> str:
    [path] = (project.folder / "dbt_packages/dbt_ivm/macros").glob(f"*/{name}.sql")
    return path.read_text()
