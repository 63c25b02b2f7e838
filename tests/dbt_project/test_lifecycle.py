"""A model's life: built, left alone, refreshed, redefined, rebuilt; and what stood under its name before."""

from __future__ import annotations

import pytest

FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
PLAIN = "select k, g from {{ source('raw', 't') }} where k > 0"
REFORMATTED = """
-- the same thing, said differently
SELECT
  k,
  g  /* the group */
FROM {{ source('raw', 't') }}
WHERE k > 0
"""


def documents(relation: str, column: str) -> dict:
    columns = [{"name": "k", "description": column}, {"name": "Total Sum", "description": "it's 100%"}]
    docs = {"relation": True, "columns": True}
    return {"name": "documented", "description": relation, "config": {"persist_docs": docs}, "columns": columns}


class Story:
    def __init__(self, project) -> None:
        self.project = project
        self.built = project.dbt("run")
        self.comments = self._comments()

        project.model("reformatted", REFORMATTED)
        project.model("redefined", PLAIN.replace("k, g", "k, upper(g) as g"))
        project.model("was_table", PLAIN)
        project.model("was_view", PLAIN)
        self._write_yml(project, documents("Second.", "other key"))
        self.changed = project.dbt("run")
        self.comments_changed = self._comments()
        self.types = {row[1]: row[3] for row in project.sql("SHOW TABLE EXTENDED IN {s} LIKE 'was_*'")}

        self.alone = project.dbt("run")
        project.sql("INSERT INTO {s}.t VALUES (3, 'c')")
        self.refreshed = project.dbt("run")
        self.comments_refreshed = self._comments()
        self.full = project.dbt("run", "--full-refresh", "--select", "documented")
        self.comments_full = self._comments()

    def _comments(self) -> dict:
        name = f"{self.project.schema}.documented"
        columns = {row[0]: row[2] for row in self.project.sql(f"DESCRIBE {name}")}
        [comment] = [row[1] for row in self.project.sql(f"DESCRIBE EXTENDED {name}") if row[0] == "Comment"]
        return {"": comment, **columns}

    @staticmethod
    def _write_yml(project, documented: dict) -> None:
        sources = [{"name": "raw", "schema": project.schema, "tables": [{"name": "t"}]}]
        project.write("models/all.yml", {"sources": sources, "models": [documented]})


@pytest.fixture(scope="module")
def story(new_project):
    project = new_project()
    project.sql("CREATE SCHEMA {s}")
    project.sql("CREATE TABLE {s}.t (k INT, g STRING) USING delta " + FEED)
    project.sql("INSERT INTO {s}.t VALUES (1, 'a'), (2, 'b')")
    project.model("reformatted", PLAIN)
    project.model("redefined", PLAIN)
    project.model("was_table", PLAIN, "table", file_format="delta")
    project.model("was_view", PLAIN, "view")
    project.model("documented", "select k, sum(k) as `Total Sum` from {{ source('raw', 't') }} group by k")
    Story._write_yml(project, documents("First \\ 'one'.", "the key"))
    return Story(project)


def test_comments_and_formatting_do_not_rebuild(story):
    assert story.changed.success, story.changed.log
    assert story.changed.strategy("reformatted") == "no_op"


def test_changed_definition_rebuilds_and_says_so(story):
    response = story.changed.response("redefined")
    assert (response["strategy"], response["reason"]) == ("full", "definition_changed")
    assert "redefined full: 2 rows, the definition changed [definition_changed]" in story.changed.log
    assert story.project.rows("redefined") == [(1, "A"), (2, "B"), (3, "C")]


@pytest.mark.parametrize(("name", "kind"), [("was_table", "table"), ("was_view", "view")])
def test_what_stood_under_the_name_is_replaced(story, name, kind):
    response = story.changed.response(name)
    assert (response["strategy"], response["reason"]) == ("build", "first_build")
    assert response["reason_text"] == f"first build: replaces the existing {kind}"
    assert "Type: VIEW" in story.types[name] and "/* ivm {" in story.types[name]
    assert set(story.types) == {"was_table", "was_view", "was_table__ivm", "was_view__ivm"}


def test_nothing_changed_is_a_no_op_that_reads_one_history(story):
    """Five models on one source: DESCRIBE HISTORY reads Delta's log in a job of its own, once; nothing else runs one."""
    names = {"reformatted", "redefined", "was_table", "was_view", "documented"}
    assert story.alone.strategies() == dict.fromkeys(names, "no_op")
    assert story.alone.jobs <= 1


def test_refresh_follows_every_kind_of_beginning(story):
    assert story.refreshed.success, story.refreshed.log
    for name in ("reformatted", "redefined", "was_table", "was_view", "documented"):
        assert story.refreshed.response(name)["incremental"] is True, name
    for name in ("reformatted", "was_table", "was_view"):
        assert story.project.rows(name) == [(1, "a"), (2, "b"), (3, "c")]


def test_full_refresh_rebuilds(story):
    assert story.full.strategies() == {"documented": "full"}
    assert story.full.response("documented")["reason"] == "full_refresh"
    assert story.project.rows("documented") == [(1, 1), (2, 2), (3, 3)]


def test_docs_are_persisted(story):
    assert story.comments == {"": "First \\ 'one'.", "k": "the key", "Total Sum": "it's 100%"}


def test_changed_docs_are_applied_without_a_rebuild(story):
    response = story.changed.response("documented")
    assert response["strategy"] == "no_op" and response["reason"] == "unchanged"
    # A comment is a version of the state with the same rows.
    assert response["state_version"] == story.built.response("documented")["state_version"] + 1
    expected = {"": "Second.", "k": "other key", "Total Sum": "it's 100%"}
    assert story.comments_changed == story.comments_refreshed == story.comments_full == expected
