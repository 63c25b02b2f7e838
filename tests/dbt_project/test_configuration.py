"""Options of dbt_ivm and dbt's own, on one model or a few."""

from __future__ import annotations

import json

import pytest

FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
T = "{{ source('raw', 't') }}"
WINDOW = f"select k, row_number() over (order by k) as r from {T}"


def contract(name: str, type_: str) -> dict:
    columns = [{"name": "k", "data_type": "int"}, {"name": "n", "data_type": type_}]
    return {"name": name, "config": {"contract": {"enforced": True}}, "columns": columns}


@pytest.fixture(scope="module")
def story(new_project):
    project = new_project()
    project.sql("CREATE SCHEMA {s}")
    project.sql("CREATE TABLE {s}.t (k INT, g STRING) USING delta " + FEED)
    project.sql("CREATE TABLE {s}.audit (what STRING, n BIGINT) USING delta")
    project.sql("INSERT INTO {s}.t VALUES (1, 'a'), (2, 'b')")
    project.model(
        "configured",
        f"select k, g from {T}",
        schema="marts",
        alias="shown_as",
        state_schema=f"{project.schema}_states",
        cluster_by=["k"],
        tblproperties={"team": "it's us"},
        tags=["nightly"],
        pre_hook=f"insert into {project.schema}.audit values ('before', 0)",
        post_hook=f"insert into {project.schema}.audit select 'after', count(*) from {{{{ this }}}}",
    )
    project.model("always_full", f"select k from {T}", refresh="full")
    project.model("only_incremental", f"select k from {T} where g <> 'z'", refresh="incremental")
    project.model("never_incremental", WINDOW, refresh="incremental")
    project.model("kept", f"select k, count(*) as n from {T} group by k")
    project.model("broken", f"select k, count(*) as n from {T} group by k")
    project.model("granted", f"select k from {T} where k > 1", grants={"select": ["reader"]})
    sources = [{"name": "raw", "schema": project.schema, "tables": [{"name": "t"}]}]
    models = [contract("kept", "bigint"), contract("broken", "string")]
    project.write("models/all.yml", {"sources": sources, "models": models})
    first = project.dbt("run")
    project.sql("INSERT INTO {s}.t VALUES (3, 'c')")
    granted = project.rows("granted")
    second = project.dbt("run", "--exclude", "never_incremental", "broken", "granted")
    assert granted == [(2,)], "the view was published before Spark refused the grant"
    return project, first, second


def test_schema_alias_and_state_schema(story):
    project, first, second = story
    assert first.response("configured")["strategy"] == "build", first.message("configured")
    assert sorted(project.sql("SELECT * FROM {s}_marts.shown_as")) == [(1, "a"), (2, "b"), (3, "c")]
    names = {row[1] for row in project.sql("SHOW TABLES IN {s}_marts")}
    assert names == {"shown_as"}
    assert {row[1] for row in project.sql("SHOW TABLES IN {s}_states")} == {"shown_as__ivm"}
    assert second.strategy("configured") == "append"


def test_clustering_and_properties_of_the_state(story):
    project, *_ = story
    detail = project.spark.sql(f"DESCRIBE DETAIL {project.schema}_states.shown_as__ivm").collect()[0]
    assert detail.clusteringColumns == ["k"]
    assert detail.properties["team"] == "it's us"
    assert detail.properties["delta.enableChangeDataFeed"] == "true"


def test_hooks_run_around_every_refresh(story):
    project, *_ = story
    assert project.rows("audit") == [("after", 2), ("after", 3), ("before", 0), ("before", 0)]


def test_tags_select(story):
    project, *_ = story
    manifest = json.loads((project.folder / "target/manifest.json").read_text())
    assert manifest["nodes"]["model.small.configured"]["tags"] == ["nightly"]


def test_refresh_full_always_recomputes(story):
    project, _, second = story
    response = second.response("always_full")
    assert (response["strategy"], response["reason"]) == ("full", "refresh_full")
    assert project.rows("always_full") == [(1,), (2,), (3,)]


def test_refresh_incremental_fails_rather_than_recompute(story):
    project, first, second = story
    assert first.strategy("only_incremental") == "build" and second.response("only_incremental")["incremental"] is True
    assert first.status("never_incremental") == "error"
    message = first.message("never_incremental")
    assert "never_incremental: configured with refresh = incremental, but a window function" in message
    assert "[window]" in message
    assert not project.sql("SHOW TABLES IN {s} LIKE 'never_incremental*'")


def test_contract_kept(story):
    _, first, second = story
    assert first.strategy("kept") == "build"
    assert second.response("kept")["incremental"] is True


def test_contract_broken_is_an_error_before_anything_is_written(story):
    project, first, _ = story
    assert first.status("broken") == "error"
    assert "enforced contract" in first.message("broken")
    assert not project.sql("SHOW TABLES IN {s} LIKE 'broken*'")


def test_grants_are_issued(story):
    """Spark's own catalog knows no GRANT: it says so, and the statement it refused is the one that was asked for."""
    project, first, _ = story
    assert first.status("granted") == "error"
    message = first.message("granted").lower()
    assert f"grant select on {project.schema}.granted to `reader`" in message
