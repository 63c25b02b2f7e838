"""What must hold of a case on DuckDB after every batch."""

from __future__ import annotations

import duckdb
from sqlglot import exp

from dbt_ivm.protocol.environment import Model, Outcome
from tests.properties.case import Case
from tests.properties.duck_driver import DuckDriver
from tests.properties.duck_sql import parsed, spark_type, to_duck

MAY_RECOMPUTE = frozenset(("nested_float",))
"""Reasons for which a view of these classes is recomputed."""


class Wrong(AssertionError):
    """A property does not hold; the message has the case as a script."""

    def __init__(self, message: str, case: Case | None = None) -> None:
        super().__init__(message)
        self.case = case


def check_case(case: Case, connection: duckdb.DuckDBPyConnection) -> list[Outcome]:
    driver = DuckDriver(connection)
    try:
        return _check(case, driver)
    finally:
        driver.lake.close()


def _check(case: Case, driver: DuckDriver) -> list[Outcome]:
    for text in case.setup:
        driver.sql(text)
    models = [
        driver.model(name, text.replace("{s}", driver.schema), switched_off=case.switched_off)
        for name, text in case.views
    ]
    outcomes = _refresh_all(case, driver, models, "after the first build")
    for i, batch in enumerate(case.batches):
        for text in batch:
            driver.sql(text)
        outcomes += _refresh_all(case, driver, models, f"after batch {i + 1}")
    if case.check_state:
        for model in models:
            _compare_state(case, driver, model)
    return outcomes


def _refresh_all(case: Case, driver: DuckDriver, models: list[Model], when: str) -> list[Outcome]:
    outcomes = []
    env = driver.environment()
    for model in models:
        try:
            outcome = driver.refresh(model, env)
        except Exception as problem:
            raise Wrong(_message(case, driver, f"{type(problem).__name__}: {problem}", when)) from problem
        if when != "after the first build" and outcome.record.reason not in MAY_RECOMPUTE and not outcome.incremental:
            raise Wrong(_message(case, driver, f"not incremental: {outcome.reason}", when))
        problem = difference(driver, model)
        if problem:
            raise Wrong(_message(case, driver, f"{model.name}, {outcome.strategy}: {problem}", when))
        outcomes.append(outcome)
    return outcomes


def difference(driver: DuckDriver, model: Model) -> str:
    """Empty if the view equals its SELECT as a bag, names and types included."""
    view = to_duck(parsed(driver.lake.views[model.target[-1].lower()]), driver.lake)
    wanted = to_duck(parsed(model.sql), driver.lake)
    return _bags_differ(driver, view, wanted)


def _bags_differ(driver: DuckDriver, left: str, right: str) -> str:
    columns = driver.lake.columns(left)
    ours, theirs = ({(n, spark_type(t)) for n, t in found} for found in (columns, driver.lake.columns(right)))
    if ours != theirs:
        return f"columns {sorted(ours - theirs)} instead of {sorted(theirs - ours)}"
    names = ", ".join('"' + name.replace('"', '""') + '"' for name, _ in columns)
    a, b = (f"SELECT {names} FROM ({side})" for side in (left, right))
    rows = driver.lake.run(
        f"SELECT 'too much', * FROM ({a} EXCEPT ALL {b}) UNION ALL SELECT 'missing', * FROM ({b} EXCEPT ALL {a})"
    )
    return "; ".join(map(str, rows[:6]))


def _compare_state(case: Case, driver: DuckDriver, model: Model) -> None:
    """Hidden columns too are what a fresh build gives: counts and partials, no mark left behind, no row with count zero."""
    fresh = driver.model(f"{model.name}_fresh", model.sql, switched_off=model.switched_off)
    outcome = driver.refresh(fresh)
    kept, built = (f"SELECT * EXCLUDE (__ivm_batch) FROM ({_published_state(driver, each)})" for each in (model, fresh))
    if outcome.record.incremental:
        if problem := _bags_differ(driver, kept, built):
            raise Wrong(_message(case, driver, f"hidden state of {model.name}: {problem}", "at the end"))
        marks = driver.lake.run(f"SELECT count(*) FROM ({kept}) WHERE __ivm_mark <> 0 OR __ivm_count < 0")
        assert marks == [(0,)], case.script()


def _published_state(driver: DuckDriver, model: Model) -> str:
    tree = parsed(driver.lake.views[model.target[-1].lower()]).copy()
    tree.set("expressions", [exp.Star()])
    tree.set("where", None)
    return to_duck(tree, driver.lake)


def _message(case: Case, driver: DuckDriver, problem: str, when: str) -> str:
    statements = "\n".join(f"   {line[:3000]}" for line in driver.transcript())
    return f"{problem} {when}\n\n{case.script()}\nlast statements:\n{statements}"
