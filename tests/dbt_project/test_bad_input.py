"""What goes wrong in a model: the error names the model, the problem and the remedy; the old view still reads."""

from __future__ import annotations

import pytest

FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
T = "{{ source('raw', 't') }}"
GOOD = f"select k, g from {T}"

BAD = {
    "not_a_select": (f"delete from {T} where k = 1", ["must be a SELECT", "found DELETE"]),
    "syntax_error": (f"select k g h from {T} where", ["Spark cannot run this SELECT", "PARSE_SYNTAX_ERROR"]),
    "missing_source": ("select * from {{ source('raw', 'gone') }}", ["TABLE_OR_VIEW_NOT_FOUND", "gone"]),
    "ambiguous": (f"select k from {T} a join {T} b on a.g = b.g", ["AMBIGUOUS_REFERENCE", "`a`.`k`, `b`.`k`"]),
    "duplicate": (f"select k, g as K from {T}", ["two output columns are named `K`", "give one of them an alias"]),
    "reserved": (f"select k as __ivm_key from {T}", ["`__ivm_key` is reserved", "rename the column"]),
}
UNSTABLE = {"rand": "rand()", "uuid": "uuid()", "clock": "current_timestamp()"}


@pytest.fixture(scope="module")
def story(new_project):
    project = new_project()
    project.sql("CREATE SCHEMA {s}")
    project.sql("CREATE TABLE {s}.t (k INT, g STRING) USING delta " + FEED)
    project.sql("INSERT INTO {s}.t VALUES (1, 'a'), (2, 'b')")
    tables = [{"name": "t"}, {"name": "gone"}]
    project.write("models/all.yml", {"sources": [{"name": "raw", "schema": project.schema, "tables": tables}]})
    for name in (*BAD, "strict"):
        project.model(name, GOOD)
    first = project.dbt("run")
    assert first.success, first.log
    commits = {name: project.commits(f"{name}__ivm") for name in (*BAD, "strict")}
    assert set(commits.values()) == {1}
    for name, (sql, _) in BAD.items():
        project.model(name, sql)
    for name, call in UNSTABLE.items():
        project.model(name, f"select k, {call} as v from {T}")
    project.model(
        "strict", f"select k, rand() as v, uuid() as u, current_timestamp() as c from {T}", refresh="incremental"
    )
    second = project.dbt("run")
    rows = project.all_rows("t", *commits)
    written = {name: project.commits(f"{name}__ivm") - before for name, before in commits.items()}
    third = project.dbt("run", "--select", "clock")
    return rows, written, second, third


@pytest.mark.parametrize("name", BAD)
def test_error_names_model_problem_and_remedy(story, name):
    _, _, run, _ = story
    assert run.status(name) == "error"
    message = run.message(name)
    assert f"{name}: " in message
    for text in BAD[name][1]:
        assert text in message, message
    assert "Traceback" not in message and "Runtime Error" not in message


@pytest.mark.parametrize("name", [*BAD, "strict"])
def test_nothing_is_written_and_the_old_view_still_reads(story, name):
    rows, written, _, _ = story
    assert rows[name] == [(1, "a"), (2, "b")]
    assert written[name] == 0


def test_source_is_untouched_by_a_model_that_is_not_a_select(story):
    rows, *_ = story
    assert rows["t"] == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("name", UNSTABLE)
def test_unstable_function_is_recomputed_with_the_reason(story, name):
    _, _, second, _ = story
    response = second.response(name)
    assert (response["strategy"], response["reason"]) == ("build", "non_deterministic")
    assert UNSTABLE[name] in response["reason_text"]


def test_unstable_function_is_recomputed_though_no_source_changed(story):
    *_, third = story
    assert third.strategies() == {"clock": "full"}
    assert third.response("clock")["reason"] == "non_deterministic"


def test_unstable_function_fails_where_only_incremental_will_do(story):
    _, _, second, _ = story
    assert second.status("strict") == "error"
    assert "strict: configured with refresh = incremental, but rand() does not return" in second.message("strict")
    assert "[non_deterministic]" in second.message("strict")
