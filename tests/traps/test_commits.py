"""Section 4 of the design: whose commit is it, how old may it be, and can it go back."""

from __future__ import annotations

import pytest

from dbt_ivm.errors import IvmError
from tests.traps.shop import age, feed_table, version

STRANGER = "INSERT INTO {s}.v__ivm SELECT * FROM {s}.v__ivm LIMIT 1"


def before(driver, purpose: str, action, times: int = 1) -> None:
    """Runs `action` just before the next `times` statements of this purpose."""
    left = [times]

    def hook(statement) -> None:
        if statement.purpose == purpose and left[0]:
            left[0] -= 1
            action()

    driver.before = hook


@pytest.fixture
def groups(driver):
    feed_table(driver, "t (k INT, x INT)", "(1, 10), (1, 20), (2, 5)")
    model = driver.model(
        "v",
        f"SELECT k, SUM(x) AS s FROM {driver.schema}.t WHERE k < 9 GROUP BY k",
        switched_off=frozenset(["overwrite"]),
    )
    driver.refresh(model)
    return model


def test_a_statement_without_a_commit_does_not_let_a_strangers_commit_through(driver, groups):
    """The change is outside the filter, so staging writes nothing; the stranger's commit then stands where ours would."""
    s = driver.schema
    driver.sql(f"INSERT INTO {s}.t VALUES (9, 1)")
    before(driver, "touched keys", lambda: driver.sql(STRANGER.format(s=s)))
    driver.refresh(groups)
    assert driver.differences(groups) == []
    assert "undo" in [purpose for purpose, _ in driver.statements]


@pytest.mark.parametrize("purpose", ["touched keys", "fold", "delete old rows"])
def test_a_strangers_commit_between_ours_is_undone_and_the_refresh_tried_again(driver, groups, purpose):
    s = driver.schema
    driver.sql(f"DELETE FROM {s}.t WHERE x = 10")
    before(driver, purpose, lambda: driver.sql(STRANGER.format(s=s)))
    driver.refresh(groups)
    assert driver.differences(groups) == []


def test_a_stranger_who_never_stops_ends_in_a_clear_error_and_the_old_view(driver, groups):
    s = driver.schema
    driver.sql(f"DELETE FROM {s}.t WHERE x = 10")
    before(driver, "delete old rows", lambda: driver.sql(STRANGER.format(s=s)), times=99)
    with pytest.raises(IvmError, match="another run wrote .* nothing was published"):
        driver.refresh(groups)
    assert sorted(map(tuple, driver.sql(f"SELECT * FROM {s}.v"))) == [(1, 30), (2, 5)]
    driver.before = lambda statement: None
    driver.refresh(groups)
    assert driver.differences(groups) == []


def test_the_seven_day_wall_does_not_break_the_published_view(driver):
    s = driver.schema
    feed_table(driver, "t (k INT, x INT)", "(1, 10), (2, 5)")
    off = frozenset(["overwrite", "append"])
    models = [driver.model(n, f"SELECT k, SUM(x) AS s FROM {s}.t GROUP BY k", switched_off=off) for n in ("v", "w")]
    for model in models:
        driver.before = lambda statement, model=model: (
            age(driver, f"{model.name}__ivm") if statement.purpose == "history" and _exists(driver, model) else None
        )
        driver.refresh(model)
    driver.before = lambda statement: None
    with pytest.raises(Exception, match="(?i)retention|time travel"):
        driver.sql(f"ALTER TABLE {s}.w__ivm SET TBLPROPERTIES ('some' = '1')")
        driver.sql(f"SELECT * FROM {s}.w")
    driver.sql(f"INSERT INTO {s}.t VALUES (1, 1)")
    seen = []

    def read(statement) -> None:
        if statement.purpose in ("stage the change", "fold", "delete old rows"):
            seen.append(sorted(map(tuple, driver.sql(f"SELECT * FROM {s}.v"))))

    driver.before = read
    outcome = driver.refresh(models[0])
    assert outcome.incremental, outcome.reason
    assert seen == [[(1, 10), (2, 5)]] * 3
    assert driver.differences(models[0]) == []
    # The other one was broken by the foreign commit; a refresh repairs it.
    driver.before = lambda statement: None
    driver.refresh(models[1])
    assert driver.differences(models[1]) == []


def _exists(driver, model) -> bool:
    return driver.environment().entry(model.state).kind == "delta"


def test_a_source_that_stood_still_beyond_the_wall_has_its_pre_from_its_change(driver):
    s = driver.schema
    feed_table(driver, "t (k INT, x INT)", "(1, 10), (2, 5), (2, 5), (NULL, 1)")
    feed_table(driver, "u (k INT, name STRING)", "(1, 'one'), (2, 'two')")
    age(driver, "t")
    age(driver, "u")
    model = driver.model("v", f"SELECT t.x, u.name FROM {s}.t JOIN {s}.u ON t.k = u.k")
    distinct = driver.model("w", f"SELECT name, COUNT(DISTINCT x) AS n FROM {s}.t JOIN {s}.u USING (k) GROUP BY name")
    nested = driver.model(
        "z", f"SELECT n, COUNT(*) AS m FROM (SELECT k, COUNT(*) AS n FROM {s}.t GROUP BY k) GROUP BY n"
    )
    models = (model, distinct, nested)
    for each in models:
        driver.refresh(each)
    driver.sql(f"UPDATE {s}.u SET name = 'zwei' WHERE k = 2")
    driver.sql(f"DELETE FROM {s}.t WHERE x = 10")
    driver.sql(f"INSERT INTO {s}.t VALUES (2, 7)")
    with pytest.raises(Exception, match="(?i)retention|time travel"):
        driver.sql(f"SELECT * FROM {s}.t VERSION AS OF 1")
    for each in models:
        outcome = driver.refresh(each)
        assert outcome.incremental, outcome.reason
        assert driver.differences(each) == []
    rows = sorted(map(tuple, driver.sql(f"SELECT * FROM {s}.v")))
    assert rows == [(5, "zwei"), (5, "zwei"), (7, "zwei")]


def test_a_published_version_that_goes_back_is_a_change_for_those_who_read_it(driver):
    s = driver.schema
    feed_table(driver, "t (k INT, x INT)", "(1, 10), (2, 5)")
    below = driver.model("b", f"SELECT k, x FROM {s}.t WHERE x > 0")
    above = driver.model("v", f"SELECT k, SUM(x) AS s FROM {s}.b GROUP BY k")
    driver.refresh(below)
    old_text = driver.environment().entry(below.target).text
    driver.sql(f"INSERT INTO {s}.t VALUES (1, 7)")
    driver.refresh(below)
    driver.refresh(above)
    assert version(driver, "b__ivm") == 1
    driver.sql(f"ALTER VIEW {s}.b AS {old_text}")
    driver.refresh(above)
    assert sorted(map(tuple, driver.sql(f"SELECT * FROM {s}.v"))) == [(1, 10), (2, 5)]
    assert driver.differences(above) == []


def test_a_refresh_after_a_crashed_one_starts_from_the_published_version(driver, groups):
    s = driver.schema
    for _ in range(2):
        driver.sql(f"INSERT INTO {s}.t VALUES (1, 1), (3, 3)")

        def crash() -> None:
            raise KeyboardInterrupt

        before(driver, "delete old rows", crash)
        with pytest.raises(KeyboardInterrupt):
            driver.refresh(groups)
        assert sorted(map(tuple, driver.sql(f"SELECT * FROM {s}.v"))) == [(1, 30), (2, 5)]
    driver.before = lambda statement: None
    driver.refresh(groups)
    assert driver.differences(groups) == []


def test_a_watermark_too_long_for_the_metastore_is_refused_before_publishing(driver, groups):
    from dbt_ivm.protocol import publish

    limit = publish.MAX_TEXT
    publish.MAX_TEXT = 100
    try:
        driver.sql(f"INSERT INTO {driver.schema}.t VALUES (1, 1)")
        with pytest.raises(IvmError, match="the metastore takes 100"):
            driver.refresh(groups)
    finally:
        publish.MAX_TEXT = limit
    assert driver.refresh(groups).incremental
    assert driver.differences(groups) == []
