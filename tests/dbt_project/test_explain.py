"""`dbt run-operation ivm_explain`: what a user reads before the first run and after it."""

from __future__ import annotations

import pytest

FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
NO_FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'false')"
JOINED = """
select c.region, count(*) as orders, sum(o.amount) as revenue, max(o.amount) as largest
from {{ source('raw', 'orders') }} o join {{ source('raw', 'customers') }} c on o.customer = c.id
where o.amount > 0
group by c.region
having count(*) > 1
"""
RANKED = "select id, row_number() over (order by region) as r from {{ source('raw', 'customers') }}"
PLAIN = "select id as `Order Id`, note as `# note` from {{ source('raw', 'orders') }}"


class Story:
    def __init__(self, project) -> None:
        self.project = project
        self.before = self.explain("joined")
        self.file = (project.folder / "target/ivm_explain/joined.txt").read_text()
        self.ranked = self.explain("ranked")
        self.run = project.dbt("run", "--select", "joined", "plain")
        assert self.run.success, self.run.log
        self.after = self.explain("joined")
        self.plain = self.explain("plain")
        self.table = self.explain("a_table")
        self.unknown = self.explain("nowhere")

    def explain(self, model: str):
        return self.project.dbt("run-operation", "ivm_explain", "--args", f"{{model: {model}}}")


@pytest.fixture(scope="module")
def story(new_project):
    project = new_project()
    project.sql("CREATE SCHEMA {s}")
    project.sql("CREATE TABLE {s}.orders (id INT, customer INT, amount DOUBLE, note STRING) USING delta " + FEED)
    project.sql("CREATE TABLE {s}.customers (id INT, region STRING) USING delta " + NO_FEED)
    project.sql("INSERT INTO {s}.orders VALUES (1, 1, 5, ''), (2, 1, 7, '')")
    project.sql("INSERT INTO {s}.customers VALUES (1, 'north')")
    project.model("joined", JOINED)
    project.model("ranked", RANKED)
    project.model("plain", PLAIN)
    project.model("a_table", "select 1 as x", "table")
    tables = [{"name": "orders"}, {"name": "customers"}]
    project.write("models/all.yml", {"sources": [{"name": "raw", "schema": project.schema, "tables": tables}]})
    return Story(project)


def _section(text: str, title: str) -> str:
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(title))
    end = next((i for i in range(start, len(lines)) if not lines[i]), len(lines))
    return "\n".join(lines[start:end])


def test_works_before_the_first_run_and_is_kept_under_target(story):
    assert story.before.success, story.before.log
    assert story.file in story.before.log
    assert story.file.startswith("model joined: incremental\n")
    assert "not yet: the first run builds it" in story.file


def test_classes_of_operators(story):
    section = _section(story.file, "operators")
    rows = [line.split()[:2] for line in section.splitlines()[1:]]
    assert rows == [
        ["Having", "linear"],
        ["Aggregate", "per-key"],
        ["Join", "bilinear"],
        ["Filter", "linear"],
        ["Scan", "source"],
        ["Scan", "source"],
    ]
    s = story.project.schema
    assert "o.amount" not in section and "orders.amount > 0" in section
    # Only used columns: a change of another one is no change of the view.
    assert f"{s}.orders (customer, amount)" in section and f"{s}.customers (id, region)" in section


def test_layout_of_the_state(story):
    section = _section(story.file, f"state {story.project.schema}.joined__ivm")
    rows = {line.split()[0]: line.split(None, 2)[1:] for line in section.splitlines()[1:]}
    assert rows["region"] == ["string", "grouping column customers.region"]
    assert rows["orders"] == ["bigint", "computed: COUNT(*)"]
    assert rows["revenue"][0] == "double" and "subtracting floats drifts" in rows["revenue"][1]
    assert rows["largest"][0] == "double" and "recomputed when its greatest value may be gone" in rows["largest"][1]
    assert rows["__ivm_visible"][0] == "boolean" and "HAVING" in rows["__ivm_visible"][1]
    assert rows["__ivm_key"] == ["bigint", "row key: hash of the grouping columns"]
    assert {"__ivm_count", "__ivm_batch", "__ivm_mark"} <= set(rows)


def test_branches_of_the_delta(story):
    s = story.project.schema
    assert _section(story.file, "delta if every source changes").splitlines() == [
        "delta if every source changes: 2 branches",
        f"  1. D({s}.orders) x Post({s}.customers)",
        f"  2. Pre({s}.orders) x D({s}.customers)",
    ]


def test_statements_of_a_refresh(story):
    s = story.project.schema
    section = story.file[story.file.index("refresh if every source changes") :]
    assert "INSERT INTO" in section and f"`{s}`.`joined__ivm`" in section
    assert f"TABLE_CHANGES('`{s}`.`orders`', 2, 2)" in section
    assert f"`{s}`.`customers` VERSION AS OF 2" in section
    assert "/* ivm {the record} */" in section


def test_statements_start_at_the_published_version_and_end_with_the_publication(story):
    after = story.after.log
    assert "published  version 0 of" in after
    assert f"ALTER VIEW `{story.project.schema}`.`joined` AS SELECT" in after


def test_suggestions(story):
    section = _section(story.file, "suggestions")
    assert f"ALTER TABLE `{story.project.schema}`.`customers` SET TBLPROPERTIES" in section
    assert "a DECIMAL would be subtracted" in section


def test_model_that_is_recomputed(story):
    text = story.ranked.log
    assert "model ranked: recompute" in text
    assert "[window]" in text and "suggestion  group in a model of its own" in text
    assert "SELECT as written  recompute  window" in text
    assert "every run: full" in text and "CREATE OR REPLACE TABLE" in text


def test_bag_with_a_name_the_state_cannot_have(story):
    text = story.plain.log
    assert "model plain: incremental" in text
    assert "shown as `Order Id`: column of the view" in text
    assert "shown as `# note`: column of the view" in text
    assert "append, one INSERT, if the sources only gained rows" in text


def test_clear_errors(story):
    assert not story.table.success and not story.unknown.success
    assert "dbt_ivm: a_table is materialized as table, not as ivm" in story.table.log
    assert "dbt_ivm: there is no model named 'nowhere'" in story.unknown.log
