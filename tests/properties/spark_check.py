"""Many views over one set of tables on Spark + Delta: tables and changes are paid for once, latencies overlap in threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException

from dbt_ivm.protocol.environment import CatalogEntry, Environment, Model, Outcome, Parts, RunMemory, lowered
from dbt_ivm.protocol.oracle import difference
from tests.properties.case import Case, filled
from tests.properties.changes import thorough_batch
from tests.properties.choose import Choose
from tests.properties.duck_check import MAY_RECOMPUTE, Wrong
from tests.properties.queries import Queries
from tests.properties.reduce import reduced
from tests.properties.schema import SPARK_KINDS, TABLE_NAMES, tables
from tests.properties.switches import ALL_SETS
from tests.spark_driver import SparkDriver

THREADS = 3
SOURCES = frozenset(name.lower() for name in TABLE_NAMES)
TOGETHER = 6
"""Differences asked for in one query."""


def group(seed: int | str, views: int, batches: int = 1) -> list[Case]:
    """Cases that share their tables and changes, and differ in their views."""
    choose = Choose.by_seed(seed)
    made = tables(choose, SPARK_KINDS, low=2, high=3)
    setup = tuple(filled(choose, made))
    texts = [Queries(choose, made, spark=True).view().sql for _ in range(views)]
    changes = tuple(tuple(thorough_batch(choose, made)) for _ in range(batches))
    return [Case(setup, ((f"v{i}", text),), changes, choose.of(ALL_SETS)) for i, text in enumerate(texts)]


class GroupDriver(SparkDriver):
    """Knows its catalog by heart: asking for it before every model would cost more than the models."""

    def __init__(self, spark, schema: str) -> None:
        super().__init__(spark, schema)
        self.texts: dict[Parts, str] = {}

    def environment(self) -> Environment:
        return replace(super().environment(), memory=RunMemory())

    def _catalog(self, parts: Parts) -> CatalogEntry:
        key = lowered(parts)
        if key in self.texts:
            return CatalogEntry("view", self.texts[key])
        is_state = (*key[:-1], key[-1].removesuffix("__ivm")) in self.texts
        return CatalogEntry("delta" if is_state or key[-1] in SOURCES else "missing")


def check_group(spark, schema: str, cases: list[Case]) -> list[tuple[Case, Outcome]]:
    session = spark.newSession()
    # Six rows a table: generating and compiling code for every one of thousands of queries would be most of the time.
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    driver = GroupDriver(session, schema)
    driver.sql(f"CREATE SCHEMA {schema}")
    for text in cases[0].setup:
        driver.sql(text.replace("{s}", schema))
    cases = [case for case in cases if _runs_on_spark(driver, case)]
    models = [
        driver.model(name, text.replace("{s}", schema), switched_off=case.switched_off)
        for case in cases
        for name, text in case.views
    ]
    _round(driver, cases, models, "after the first build")
    outcomes: list[tuple[Case, Outcome]] = []
    for i, batch in enumerate(cases[0].batches):
        for text in batch:
            driver.sql(text.replace("{s}", schema))
        done = _round(driver, cases, models, f"after batch {i + 1}")
        for case, outcome in zip(cases, done, strict=True):
            if not outcome.incremental and outcome.record.reason not in MAY_RECOMPUTE:
                raise Wrong(f"not incremental: {outcome.reason}\n\n{case.script()}", case)
        outcomes += zip(cases, done, strict=True)
    driver.sql(f"DROP SCHEMA {schema} CASCADE")
    return outcomes


def _runs_on_spark(driver: GroupDriver, case: Case) -> bool:
    """Not every SELECT is one: Spark knows no alias with a dot in GROUP BY."""
    try:
        for _, text in case.views:
            driver.sql(f"DESCRIBE QUERY {text.replace('{s}', driver.schema)}")
    except AnalysisException:
        return False
    return True


def smallest(spark, schema: str, case: Case) -> Case:
    """The failing case of one view, made small."""
    names = (f"{schema}_{i}" for i in range(10**6))

    def fails(candidate: Case) -> bool:
        try:
            check_group(spark, next(names), [candidate])
        except Wrong:
            return True
        return False

    return reduced(case, fails)


def _round(driver: GroupDriver, cases: list[Case], models: list[Model], when: str) -> list[Outcome]:
    env = driver.environment()

    def refresh(pair: tuple[Case, Model]) -> Outcome:
        case, model = pair
        own = SparkDriver(driver.spark, driver.schema)
        own._batches = driver._batches
        try:
            return own.refresh(model, env)
        except Exception as problem:
            statements = "\n".join(f"   {purpose}: {text[:3000]}" for purpose, text in own.statements)
            message = f"{type(problem).__name__}: {str(problem)[:1500]} {when}\n\n{case.script()}\n{statements}"
            raise Wrong(message, case) from problem

    with ThreadPoolExecutor(THREADS) as pool:
        outcomes = list(pool.map(refresh, zip(cases, models, strict=True)))
        driver.texts.update(env.memory.texts)
        chunks = [range(i, min(i + TOGETHER, len(models))) for i in range(0, len(models), TOGETHER)]
        wrong = [i for found in pool.map(lambda chunk: _differing(driver, env, models, chunk), chunks) for i in found]
    if wrong:
        worst = cases[wrong[0]]
        rows = driver.sql(driver.run(difference(models[wrong[0]], env)))
        strategies = [outcomes[i].strategy for i in wrong]
        raise Wrong(f"{len(wrong)} views differ ({strategies}) {when}: {rows[:6]}\n\n{worst.script()}", worst)
    return outcomes


def _differing(driver: GroupDriver, env: Environment, models: list[Model], chunk: range) -> list[int]:
    """Which views differ from their SELECT, or keep a staged or negative row: one query for all."""
    parts = []
    for i in chunk:
        own = SparkDriver(driver.spark, driver.schema)
        parts.append(f"SELECT {i} AS i FROM ({own.run(difference(models[i], env))}) AS d")
        record = env.memory.texts[lowered(models[i].target)]
        if '"incremental":true' in record:
            state = f"`{driver.schema}`.`{models[i].state[-1]}`"
            parts.append(f"SELECT {i} AS i FROM {state} WHERE __ivm_mark <> 0 OR __ivm_count < 0")
    try:
        rows = driver.sql(" UNION ALL ".join(parts))
    except Py4JJavaError:
        # Spark's optimizer loses its way in some unions of many queries; each by itself is fine.
        rows = [row for part in parts for row in driver.sql(part)]
    return sorted({int(row[0]) for row in rows})
