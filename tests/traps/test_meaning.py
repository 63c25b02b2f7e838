"""Section 3 of the design: the analysis may read another meaning, and ANSI mode may fail on rows nobody would see."""

from __future__ import annotations

import pytest

from tests.traps.shop import feed_table

CHANGED_MEANING = {
    "to_char": "SELECT k, to_char(k, '999') AS c FROM {s}.t",
    "percentile": "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY k DESC) AS p FROM {s}.t",
}


@pytest.fixture
def table(driver):
    feed_table(driver, "t (k INT, d STRING)", "(1, '02/01/2020'), (2, '03/01/2020')")
    return driver


@pytest.mark.parametrize("name", CHANGED_MEANING)
def test_a_select_that_would_change_its_meaning_runs_as_written(table, name):
    model = table.model("v", CHANGED_MEANING[name].format(s=table.schema))
    built = table.refresh(model)
    assert not built.record.incremental
    assert built.reason.code in ("unfaithful_reading", "aggregate"), built.reason
    table.sql(f"INSERT INTO {table.schema}.t VALUES (3, '04/01/2020')")
    assert table.refresh(model).strategy == "full"
    assert table.differences(model) == []


def test_a_view_that_would_change_its_meaning_is_not_analysed_through(table):
    s = table.schema
    table.sql(f"CREATE VIEW {s}.w AS SELECT to_char(k, '999') AS c FROM {s}.t")
    model = table.model("v", f"SELECT c, COUNT(*) AS n FROM {s}.w GROUP BY c")
    assert table.refresh(model).reason.code == "unfaithful_reading"
    assert table.differences(model) == []


MENDED = {
    "quote": "SELECT k, 'it''s' AS s, \"a\"\"b\" AS t FROM {s}.t",
    "default_format": "SELECT k, to_date(concat('2020-01-0', k), 'yyyy-MM-dd') AS d FROM {s}.t",
    "logarithm": "SELECT log10(k) AS a, log2(k) AS b, instr(d, '/') AS c FROM {s}.t",
    "synonyms": "SELECT nvl(k, 0) AS k, substr(d, 1, 2) AS day, ucase(d) AS u, char_length(d) AS n FROM {s}.t",
}


@pytest.mark.parametrize("name", MENDED)
def test_what_sqlglot_would_change_is_mended_and_incremental(table, name):
    model = table.model("v", MENDED[name].format(s=table.schema))
    built = table.refresh(model)
    assert built.record.incremental, built.reason
    table.sql(f"INSERT INTO {table.schema}.t VALUES (3, '04/01/2020')")
    assert table.refresh(model).incremental
    rows = table.sql(f"SELECT * FROM {table.schema}.v EXCEPT ALL ({model.sql})")
    assert rows == []


def test_an_error_on_a_row_that_came_and_went_is_followed_by_the_select_as_written(table):
    s = table.schema
    model = table.model("v", f"SELECT k, CAST(d AS INT) AS n FROM {s}.t", switched_off=frozenset(["net_changes"]))
    table.sql(f"DELETE FROM {s}.t")
    table.sql(f"INSERT INTO {s}.t VALUES (1, '10')")
    table.refresh(model)
    table.sql(f"INSERT INTO {s}.t VALUES (2, 'bad')")
    table.sql(f"DELETE FROM {s}.t WHERE k = 2")
    outcome = table.refresh(model)
    assert (outcome.strategy, outcome.reason.code) == ("full", "delta_failed")
    assert table.differences(model) == []


def test_an_error_of_the_select_itself_reaches_the_user_and_leaves_the_old_view(table):
    from dbt_ivm.errors import StatementFailed

    s = table.schema
    table.sql(f"DELETE FROM {s}.t")
    table.sql(f"INSERT INTO {s}.t VALUES (1, '10')")
    model = table.model("v", f"SELECT k, CAST(d AS INT) AS n FROM {s}.t")
    table.refresh(model)
    table.sql(f"INSERT INTO {s}.t VALUES (2, 'bad')")
    with pytest.raises(StatementFailed, match="CAST_INVALID_INPUT"):
        table.refresh(model)
    assert [tuple(row) for row in table.sql(f"SELECT * FROM {s}.v")] == [(1, 10)]
    table.sql(f"DELETE FROM {s}.t WHERE k = 2")
    table.refresh(model)
    assert table.differences(model) == []


def test_a_change_of_an_upstream_view_that_the_analysis_drops_is_a_new_definition(table):
    s = table.schema
    model = table.model("v", f"SELECT * FROM {s}.w")
    for pattern in ("999", "0999"):
        table.sql(f"CREATE OR REPLACE VIEW {s}.w AS SELECT to_char(k, '{pattern}') AS c FROM {s}.t")
        table.refresh(model)
        now = [row.c for row in table.sql(f"SELECT c FROM {s}.w ORDER BY c")]
        assert [row.c for row in table.sql(f"SELECT c FROM {s}.v ORDER BY c")] == now


def test_a_decimal_sum_that_overflowed_without_ansi_mode_is_not_folded(driver):
    """It is NULL in Spark then; subtracting from NULL would keep it so when the sum has come back into range."""
    s = driver.schema
    feed_table(driver, "t (g INT, x DECIMAL(38, 0))")
    nines = "9" * 38
    driver.sql(f"INSERT INTO {s}.t VALUES (1, {nines}), (2, 5)")
    model = driver.model("v", f"SELECT g, SUM(x) AS s FROM {s}.t GROUP BY g")
    driver.sql("SET spark.sql.ansi.enabled = false")
    try:
        driver.refresh(model)
        for change in (f"INSERT INTO {s}.t VALUES (1, {nines})", f"UPDATE {s}.t SET x = 1 WHERE g = 1"):
            driver.sql(change)
            driver.refresh(model)
            assert driver.differences(model) == []
        assert sorted(map(tuple, driver.sql(f"SELECT g, CAST(s AS INT) FROM {s}.v"))) == [(1, 2), (2, 5)]
    finally:
        driver.sql("SET spark.sql.ansi.enabled = true")
