"""Somebody else's hands on a state: detected, explained, repaired; and seen by `dbt_ivm.equals_recompute` if published."""

from __future__ import annotations

import pytest

FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
SUMS = "select g, sum(k) as s from {{ source('raw', 't') }} group by g"
MODELS = ("dropped", "written", "third")
DAMAGE = {
    "dropped": "UPDATE {s}.dropped__ivm SET __ivm_mark = 3 WHERE g = 'a'",
    "written": "UPDATE {s}.written__ivm SET __ivm_count = __ivm_count + 1 WHERE g = 'a'",
    "third": "UPDATE {s}.third__ivm SET s = s + 1 WHERE g = 'a'",
}


class Story:
    def __init__(self, project) -> None:
        self.project = project
        self.first = project.dbt("run")
        project.sql("DROP TABLE {s}.dropped__ivm")
        project.sql("INSERT INTO {s}.written__ivm SELECT * FROM {s}.written__ivm")
        self.written_meanwhile = project.rows("written")
        self.alone = project.dbt("run", "--select", "written")
        project.sql("INSERT INTO {s}.t VALUES (4, 'b')")
        self.repaired = project.dbt("run")
        self.rows = project.all_rows(*MODELS)
        self.healthy = project.dbt("test")
        for name, statement in DAMAGE.items():
            project.sql(statement)
            self._republish(name)
        self.tampered = project.dbt("test")
        self.rows_tampered = project.all_rows(*MODELS)

    def _republish(self, name: str) -> None:
        """As a stranger would: the view moved to the damaged version."""
        [text] = [row[0] for row in self.project.sql(f"SHOW CREATE TABLE {{s}}.{name}")]
        query = text[text.index("SELECT /* ivm") :]
        head = (
            self.project.spark.sql(f"DESCRIBE HISTORY {self.project.schema}.{name}__ivm LIMIT 1").collect()[0].version
        )
        published = self.repaired.response(name)["state_version"]
        assert f"VERSION AS OF {published}" in query and f'"version":{published}' in query
        query = query.replace(f"VERSION AS OF {published}", f"VERSION AS OF {head}")
        query = query.replace(f'"version":{published},', f'"version":{head},', 1)
        self.project.spark.sql(f"ALTER VIEW {self.project.schema}.{name} AS {query}")


@pytest.fixture(scope="module")
def story(new_project):
    project = new_project()
    project.sql("CREATE SCHEMA {s}")
    project.sql("CREATE TABLE {s}.t (k INT, g STRING) USING delta " + FEED)
    project.sql("INSERT INTO {s}.t VALUES (1, 'a'), (2, 'a'), (3, 'b')")
    for name in MODELS:
        project.model(name, SUMS)
    sources = [{"name": "raw", "schema": project.schema, "tables": [{"name": "t"}]}]
    models = [{"name": name, "data_tests": ["dbt_ivm.equals_recompute"]} for name in MODELS]
    project.write("models/all.yml", {"sources": sources, "models": models})
    return Story(project)


def test_dropped_state_is_rebuilt_with_the_reason(story):
    response = story.repaired.response("dropped")
    assert (response["strategy"], response["reason"]) == ("full", "state_missing")
    assert f"the state table {story.project.schema}.dropped__ivm is gone" in response["reason_text"]
    assert story.rows["dropped"] == [("a", 3), ("b", 7)]


def test_view_does_not_show_what_somebody_wrote_to_its_state(story):
    assert story.written_meanwhile == [("a", 3), ("b", 3)]
    assert story.alone.strategy("written") == "no_op"


def test_written_state_is_restored_and_said_so(story):
    response = story.repaired.response("written")
    assert response["incremental"] is True
    assert story.rows["written"] == [("a", 3), ("b", 7)]
    [hint] = [line for line in story.repaired.messages if line.startswith("written hint: ")]
    assert f"{story.project.schema}.written__ivm held commits that no run published" in hint
    assert not any(line.startswith("third hint") for line in story.repaired.messages)


def _status(run, model: str) -> str:
    [status] = [node["status"] for name, node in run.nodes.items() if f"equals_recompute_{model}_" in name]
    return status


@pytest.mark.parametrize("name", MODELS)
def test_equals_recompute_passes_on_a_healthy_state(story, name):
    assert _status(story.healthy, name) == "pass", story.healthy.log


@pytest.mark.parametrize("name", DAMAGE)
def test_equals_recompute_fails_on_a_tampered_state(story, name):
    assert _status(story.tampered, name) == "fail"
    hidden = name != "third"
    assert (story.rows_tampered[name] == story.rows[name]) is hidden
