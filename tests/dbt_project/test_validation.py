"""Wrong options: all of them in one error, before anything runs, each with what to write instead."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def run(new_project):
    project = new_project(models={"small": {"from_project": {"+ivm_swich_off": ["append"]}}})
    project.sql("CREATE SCHEMA {s}")
    project.model("fine", "select 1 as x")
    project.model("typing_error", "select 1 as x", ivm_enable_change_fed=True)
    project.model(
        "many",
        "select 1 as x",
        "incremental_view",
        refresh="sometimes",
        state_schema=["a"],
        cluster_by={"k": 1},
        tblproperties="x",
        ivm_enable_change_feed="yes",
        ivm_switch_off=["append", "joins"],
    )
    project.model("not_ours", "select 1 as x", "view", refresh="sometimes", ivm_nonsense=1)
    project.model("from_project/inherits", "select 1 as x")
    wrong = project.dbt("run")
    tables = [row for row in project.sql("SHOW TABLES IN {s}") if row[0]]
    return tables, wrong, project.dbt("run", "--select", "not_ours")


def test_all_errors_at_once(run):
    _, run, _ = run
    assert not run.success
    lines = [line.strip() for line in run.messages[-1].splitlines()]
    expected = [
        "dbt_ivm: these models are not configured correctly; nothing was run.",
        "typing_error: ivm_enable_change_fed is no option of dbt_ivm: did you mean ivm_enable_change_feed?",
        "many: refresh is 'sometimes': use auto, incremental or full",
        "many: state_schema must be a name, found ['a']",
        "many: cluster_by must be a column or a list of columns, found {'k': 1}",
        "many: tblproperties must be a mapping, found 'x'",
        "many: ivm_enable_change_feed must be true or false, found 'yes'",
        "inherits: ivm_swich_off is no option of dbt_ivm: did you mean ivm_switch_off?",
    ]
    assert [line for line in expected if line not in lines] == []
    assert any(line.startswith("many: ivm_switch_off has 'joins': choose among ") for line in lines)
    assert not any("not_ours" in line or "fine" in line for line in lines)


def test_nothing_ran(run):
    tables, run, _ = run
    assert (tables, run.nodes, run.jobs) == ([], {}, 0)


def test_models_that_are_not_selected_are_not_in_the_way(run):
    *_, other = run
    assert other.success, other.log
    assert other.status("not_ours") == "success"
