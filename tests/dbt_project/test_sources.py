"""Everything a model may stand on: each change of each kind of source arrives, and what cannot be followed says so."""

from __future__ import annotations

import json

import pytest

FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
NO_FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'false')"
KEYS = {
    "_message", "code", "rows_affected",  # dbt's own
    "strategy", "incremental", "reason", "reason_text", "branches", "branches_removed", "rows_changed", "statements",
    "seconds", "state_version", "watermark",
}  # fmt: skip

MODELS = {
    "without_feed": "select k, upper(g) as g from {{ source('raw', 'plain') }} where k > 0",
    "feed_enabled": "select k, g from {{ source('raw', 'enabled') }}",
    "on_parquet": "select k, g from {{ source('raw', 'parquet') }}",
    "on_seed": "select k, g from {{ ref('a_seed') }}",
    "kinds": """
        select 'table' as kind, k, g from {{ ref('a_table') }}
        union all select 'incremental', k, g from {{ ref('an_incremental') }}
        union all select 'snapshot', k, g from {{ ref('a_snapshot') }} where dbt_valid_to is null
        union all select 'view', k, g from {{ ref('a_view') }}
        union all select 'ephemeral', k, g from {{ ref('an_ephemeral') }}""",
    "pairs": """
        select a.g, a.k as k1, b.k as k2 from {{ source('raw', 't') }} a
        join {{ source('raw', 't') }} b on a.g = b.g and a.k < b.k""",
    "pairs_by_group": "select g, count(*) as pairs from {{ ref('pairs') }} group by g",
    "groups_by_pairs": "select pairs, count(*) as groups from {{ ref('pairs_by_group') }} group by pairs",
}
T = "select k, g from {{ source('raw', 't') }}"
UPSTREAM = {
    "a_table": ("table", f"{T} where k < 100", {"file_format": "delta"}),
    "an_incremental": (
        "incremental",
        f"{T} {{% if is_incremental() %}} where k not in (select k from {{{{ this }}}}) {{% endif %}}",
        {"file_format": "delta", "tblproperties": {"delta.enableChangeDataFeed": "true"}},
    ),
    "a_view": ("view", f"{T} where g is not null", {}),
    "an_ephemeral": ("ephemeral", "select k, lower(g) as g from {{ source('raw', 't') }}", {}),
}
SNAPSHOT = """
{% snapshot a_snapshot %}
{{ config(unique_key='k', strategy='check', check_cols=['g'], file_format='delta') }}
select k, g from {{ source('raw', 't') }} where k is not null
{% endsnapshot %}
"""


class Story:
    """The project after each of its runs."""

    def __init__(self, project) -> None:
        self.project = project
        self.first = project.dbt("build", "--exclude-resource-type", "test")
        self.state_file = json.loads((project.folder / "target/ivm_state.json").read_text())
        for statement in (
            "INSERT INTO {s}.t VALUES (7, 'c', 70), (8, 'c', 80), (NULL, NULL, 1)",
            "UPDATE {s}.t SET g = 'B' WHERE k = 2",
            "DELETE FROM {s}.t WHERE k = 1",
            "INSERT INTO {s}.plain VALUES (5, 'e')",
            "DELETE FROM {s}.plain WHERE k = 1",
            "UPDATE {s}.enabled SET g = 'z' WHERE k = 2",
            "INSERT INTO {s}.parquet VALUES (9, 'p')",
        ):
            project.sql(statement)
        project.write("seeds/a_seed.csv", "k,g\n1,one\n3,three\n")
        self.second = project.dbt("build")
        self.rows = {name: project.rows(name) for name in MODELS}
        self.third = project.dbt("run", "--exclude", "on_seed")


@pytest.fixture(scope="module")
def story(new_project):
    project = new_project(seeds={"+file_format": "delta"})
    project.sql("CREATE SCHEMA {s}")
    project.sql("CREATE TABLE {s}.t (k INT, g STRING, x INT) USING delta " + FEED)
    project.sql("INSERT INTO {s}.t VALUES (1, 'a', 10), (2, 'a', 20), (3, 'b', 30), (4, 'b', 40)")
    for name, rest in {
        "plain": "USING delta " + NO_FEED,
        "enabled": "USING delta " + NO_FEED,
        "parquet": "USING parquet",
    }.items():
        project.sql(f"CREATE TABLE {{s}}.{name} {rest} AS SELECT * FROM VALUES (1, 'a'), (2, 'b') AS v (k, g)")
    project.write("seeds/a_seed.csv", "k,g\n1,one\n2,two\n")
    project.write("snapshots/a_snapshot.sql", SNAPSHOT)
    for name, (materialized, sql, config) in UPSTREAM.items():
        project.model(name, sql, materialized, **config)
    for name, sql in MODELS.items():
        config = {"ivm_enable_change_feed": True} if name == "feed_enabled" else {}
        project.model(name, sql, "incremental_view" if name == "without_feed" else "ivm", **config)
    tables = [{"name": name} for name in ("t", "plain", "enabled", "parquet")]
    project.write(
        "models/all.yml",
        {
            "sources": [{"name": "raw", "schema": project.schema, "tables": tables}],
            "models": [{"name": name, "data_tests": ["dbt_ivm.equals_recompute"]} for name in MODELS],
        },
    )
    return Story(project)


def test_first_run_builds_everything_and_says_so(story):
    assert story.first.success, story.first.log
    assert story.first.strategies() == dict.fromkeys(MODELS, "build")
    for name in MODELS:
        response = story.first.response(name)
        assert set(response) == KEYS
        assert response["incremental"] is False
        assert response["reason"] == ("not_delta" if name == "on_parquet" else "first_build")
        assert f"{name} build: " in story.first.log


def test_every_view_equals_its_recompute(story):
    tests = {name: result["status"] for name, result in story.second.nodes.items() if "equals_recompute" in name}
    assert set(tests.values()) == {"pass"} and len(tests) == len(MODELS), tests


def test_changes_of_every_kind_of_source_arrive(story):
    assert story.second.success, story.second.log
    rows = [row for row in story.rows["kinds"] if row[1] is not None]
    expected = {
        "table": [(2, "B"), (3, "b"), (4, "b"), (7, "c"), (8, "c")],
        "incremental": [(1, "a"), (2, "a"), (3, "b"), (4, "b"), (7, "c"), (8, "c")],
        "snapshot": [(1, "a"), (2, "B"), (3, "b"), (4, "b"), (7, "c"), (8, "c")],
        "view": [(2, "B"), (3, "b"), (4, "b"), (7, "c"), (8, "c")],
        "ephemeral": [(2, "b"), (3, "b"), (4, "b"), (7, "c"), (8, "c")],
    }
    for kind, wanted in expected.items():
        assert sorted((k, g) for found, k, g in rows if found == kind) == wanted, kind
    assert story.rows["on_seed"] == [(1, "one"), (3, "three")]
    assert story.rows["groups_by_pairs"] == [(1, 2)]


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("on_parquet", "on_seed")])
def test_refresh_is_incremental(story, name):
    response = story.second.response(name)
    assert response["incremental"] is True, response
    assert response["strategy"] in ("append", "replace", "merge", "overwrite")
    assert response["reason"] == "changed"
    assert response["branches"] >= 1 and response["rows_changed"] and response["statements"] > 0


def test_rows_changed_are_told_per_source(story):
    schema = story.project.schema
    assert story.second.response("pairs")["rows_changed"] == {f"{schema}.t": 5}
    assert set(story.second.response("pairs_by_group")["rows_changed"]) == {f"{schema}.pairs__ivm"}
    assert set(story.second.response("kinds")["rows_changed"]) == {
        f"{schema}.{name}" for name in ("t", "a_table", "an_incremental", "a_snapshot")
    }


def test_source_without_feed_is_compared_whole_with_a_hint(story):
    for run in (story.first, story.second):
        hints = [line for line in run.messages if line.startswith("without_feed hint: ")]
        assert len(hints) == 1 and "\n" not in hints[0]
        assert f"ALTER TABLE `{story.project.schema}`.`plain` SET TBLPROPERTIES" in hints[0]
        assert "'delta.enableChangeDataFeed' = 'true'" in hints[0]
    assert not any(line.startswith("pairs hint") for line in story.second.messages)


def test_change_feed_is_enabled_where_configured(story):
    properties = dict(story.project.sql("SHOW TBLPROPERTIES {s}.enabled"))
    assert properties["delta.enableChangeDataFeed"] == "true"
    assert dict(story.project.sql("SHOW TBLPROPERTIES {s}.plain"))["delta.enableChangeDataFeed"] == "false"
    assert not any(line.startswith("feed_enabled hint") for line in story.second.messages)
    assert story.second.response("feed_enabled")["rows_changed"] == {f"{story.project.schema}.enabled": 1}


def test_source_that_is_not_delta_is_recomputed_with_the_reason(story):
    response = story.second.response("on_parquet")
    assert (response["strategy"], response["incremental"], response["reason"]) == ("full", False, "not_delta")
    assert f"{story.project.schema}.parquet is not a Delta table" in response["reason_text"]
    assert story.rows["on_parquet"] == [(1, "a"), (2, "b"), (9, "p")]


def test_seed_loaded_anew_is_another_table(story):
    """dbt drops a seed's table and makes it again: its earlier rows are gone, so there is no change to read."""
    response = story.second.response("on_seed")
    assert (response["strategy"], response["reason"]) == ("full", "source_replaced")


def test_only_what_changed_runs_again(story):
    still = {"without_feed", "feed_enabled", "pairs", "pairs_by_group", "groups_by_pairs"}
    assert {name for name, strategy in story.third.strategies().items() if strategy == "no_op"} == still
    for name in still:
        response = story.third.response(name)
        assert (response["reason"], response["incremental"]) == ("unchanged", True)
        assert response["watermark"] == story.second.response(name)["watermark"]
        assert response["state_version"] == story.second.response(name)["state_version"]


def test_table_rewritten_with_the_same_rows_changes_nothing(story):
    response = story.third.response("kinds")
    assert response["incremental"] is True
    assert response["watermark"] != story.second.response("kinds")["watermark"]
    assert story.project.rows("kinds") == story.rows["kinds"]


def test_watermark_is_mirrored(story):
    source = f"{story.project.schema}.t"
    watermark = story.first.response("pairs")["watermark"]
    assert set(watermark) == {source} and set(watermark[source]) == {"id", "version", "timestamp"}
    detail = story.project.spark.sql(f"DESCRIBE DETAIL {source}").collect()[0]
    assert watermark[source]["id"] == detail.id and watermark[source]["version"] == 1
    assert set(story.state_file) == {f"model.small.{name}" for name in MODELS}
    for name in MODELS:
        entry, response = story.state_file[f"model.small.{name}"], story.first.response(name)
        assert {key: entry[key] for key in ("strategy", "state_version", "watermark")} == {
            key: response[key] for key in ("strategy", "state_version", "watermark")
        }


def test_state_file_keeps_the_models_a_run_left_alone(story):
    now = json.loads((story.project.folder / "target/ivm_state.json").read_text())
    assert set(now) == set(story.state_file)
    alone = now["model.small.on_seed"]
    assert alone["strategy"] is None
    assert alone["watermark"] == story.second.response("on_seed")["watermark"]
