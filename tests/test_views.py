"""Every view class, kept exact through changes of every kind: as chosen, and with optimisations switched off.

All views stand on the same two tables and are refreshed side by side, as in one dbt run with several threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.spark_driver import SparkDriver

CDF = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"

SETUP = [
    f"CREATE TABLE {{s}}.t (k INT, g STRING, x INT, d DOUBLE, p DECIMAL(10,2)) USING delta {CDF}",
    f"CREATE TABLE {{s}}.u (k INT, name STRING, w BIGINT) USING delta {CDF}",
    "INSERT INTO {s}.t VALUES (1,'a',10,1.5,1.10),(2,'a',20,2.5,2.20),(3,'b',30,0.5,3.30),"
    "(NULL,NULL,5,-0.0,NULL),(1,'a',10,1.5,1.10)",
    "INSERT INTO {s}.u VALUES (1,'one',100),(2,'two',200),(NULL,'none',1)",
]

BATCHES = [
    ["INSERT INTO {s}.t VALUES (3,'c',7,0.25,9.99),(2,NULL,1,NULL,0.01)"],
    [
        "UPDATE {s}.u SET name = 'TWO' WHERE k = 2",
        "INSERT INTO {s}.u VALUES (3,'three',300),(3,'drei',301)",
        "DELETE FROM {s}.t WHERE g = 'a' AND x = 10",
        "UPDATE {s}.t SET k = 1, d = 0.0 WHERE k IS NULL",
        "DELETE FROM {s}.u WHERE k = 1",
    ],
    ["DELETE FROM {s}.t", "INSERT INTO {s}.u VALUES (1,'uno',11)"],
    ["INSERT INTO {s}.t VALUES (1,'a',1,0.5,1.00),(1,'a',1,0.5,1.00),(NULL,NULL,NULL,NULL,NULL)"],
]

VIEWS = {
    "filter_project": "SELECT k, x + 1 AS y, d FROM {s}.t WHERE x > 5",
    "join": "SELECT t.k, t.g, u.name FROM {s}.t JOIN {s}.u ON t.k = u.k",
    "theta_join": "SELECT t.x, u.w FROM {s}.t, {s}.u WHERE t.x * 10 < u.w",
    "using": "SELECT * FROM {s}.t JOIN {s}.u USING (k)",
    "self_join": "SELECT a.x, b.x AS bx FROM {s}.t a JOIN {s}.t b ON a.g = b.g",
    "union_all": "SELECT k FROM {s}.t UNION ALL SELECT w FROM {s}.u",
    "distinct": "SELECT DISTINCT g, k FROM {s}.t",
    "grouped": "SELECT g, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a, MIN(x) AS lo, MAX(x) AS hi FROM {s}.t GROUP BY g",
    "grouped_decimal": "SELECT g, SUM(p) AS s, AVG(p) AS a, COUNT(p) AS n FROM {s}.t GROUP BY g",
    "grouped_double": "SELECT g, SUM(d) AS s, AVG(d) AS a, MIN(d) AS lo FROM {s}.t GROUP BY g",
    "having": "SELECT g, SUM(x) / COUNT(*) AS m FROM {s}.t GROUP BY g HAVING COUNT(*) > 1",
    "hidden_key": "SELECT COUNT(*) AS n FROM {s}.t GROUP BY g, k",
    "grand_total": "SELECT COUNT(*), SUM(x) AS s, MIN(g) AS lo, AVG(d) FROM {s}.t",
    "joined_groups": "SELECT u.name, SUM(t.x) AS s, COUNT(*) FILTER (WHERE t.x > 5) AS n "
    "FROM {s}.t JOIN {s}.u ON t.k = u.k GROUP BY 1",
    "count_distinct": "SELECT g, COUNT(DISTINCT k) AS n FROM {s}.t GROUP BY g",
    "nested": "SELECT n, COUNT(*) AS groups FROM (SELECT g, COUNT(*) AS n, SUM(x) AS s FROM {s}.t GROUP BY g) GROUP BY n",
    "join_of_groups": "WITH c AS (SELECT k, COUNT(*) AS n FROM {s}.t GROUP BY k) "
    "SELECT u.name, c.n FROM c JOIN {s}.u ON c.k = u.k",
    "no_columns": "SELECT COUNT(*) AS n FROM {s}.t JOIN {s}.u ON true",
}


CHOSEN: frozenset[str] = frozenset()
NAIVE = frozenset(("overwrite", "append", "push_filters", "prune_columns", "merge_projects", "flatten_joins"))
MERGE = frozenset(("overwrite", "append", "replace"))
THREADS = 3


def test_every_view_equals_its_recompute_after_every_batch(driver):
    for text in SETUP:
        driver.sql(text.format(s=driver.schema))
    models = []
    for i, (name, sql) in enumerate(VIEWS.items()):
        for suffix, off in (("chosen", CHOSEN), *([("off", (NAIVE, MERGE)[i // 2 % 2])] if i % 2 else [])):
            models.append(driver.model(f"{name}_{suffix}", sql.format(s=driver.schema), switched_off=off))
    assert {outcome.strategy for outcome in _run(driver, models)} == {"build"}
    strategies = set()
    for batch in BATCHES:
        for text in batch:
            driver.sql(text.format(s=driver.schema))
        outcomes = _run(driver, models)
        wrong = [f"{m.name}: {o.reason}" for m, o in zip(models, outcomes, strict=True) if not o.incremental]
        assert wrong == [], batch
        strategies |= {outcome.strategy for outcome in outcomes}
    assert {outcome.strategy for outcome in _run(driver, models)} == {"no_op"}
    assert strategies == {"append", "overwrite", "replace", "merge"}


def _run(driver, models: list) -> list:
    """One run: the sources are observed once, whichever model comes first."""
    env = driver.environment()

    def one(model):
        own = SparkDriver(driver.spark, driver.schema)
        outcome = own.refresh(model, env)
        differences = [] if outcome.strategy == "no_op" else own.differences(model)
        assert differences == [], f"{model.name}: {outcome.strategy}"
        return outcome

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, models))
