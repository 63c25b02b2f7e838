"""Runs the same conversations straight on a SparkSession: the protocol without dbt, for many small cases."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import datetime, timezone

from dbt_ivm.bridge.catalog import read_information
from dbt_ivm.errors import StatementFailed
from dbt_ivm.parse.sql import write
from dbt_ivm.planner import refresh
from dbt_ivm.protocol.environment import CatalogEntry, Environment, Model, Outcome, Parts, RunMemory
from dbt_ivm.protocol.oracle import difference
from dbt_ivm.protocol.rows import Rows
from dbt_ivm.strategy.work import Statement


class SparkDriver:
    def __init__(self, spark, schema: str) -> None:
        self.spark = spark
        self.schema = schema
        self.statements: list[tuple[str, str]] = []
        self.before: Callable[[Statement], None] = lambda statement: None
        self._batches = itertools.count(1)

    def sql(self, text: str) -> list:
        return self.spark.sql(text).collect()

    def environment(self) -> Environment:
        return Environment(
            self._catalog,
            RunMemory(),
            now=lambda: datetime.now(timezone.utc).replace(tzinfo=None),
            new_batch=lambda: next(self._batches),
        )

    def _catalog(self, parts: Parts) -> CatalogEntry:
        schema = parts[-2] if len(parts) > 1 else self.schema
        pattern = parts[-1] if parts[-1].isidentifier() else "*"
        for row in self.spark.sql(f"SHOW TABLE EXTENDED IN `{schema}` LIKE '{pattern}'").collect():
            if row.tableName.lower() == parts[-1].lower():
                return read_information(row.information)
        return CatalogEntry("missing")

    def run(self, steps):
        try:
            statement = next(steps)
            while True:
                text = statement.sql if isinstance(statement.sql, str) else write(statement.sql)
                self.before(statement)
                self.statements.append((statement.purpose, text))
                try:
                    frame = self.spark.sql(text)
                    rows = (
                        Rows([list(row) for row in frame.collect()], frame.columns) if statement.fetch else Rows([], [])
                    )
                except Exception as problem:  # noqa: BLE001 - whatever Spark says goes back to the protocol
                    statement = steps.throw(StatementFailed(str(problem)))
                    continue
                statement = steps.send(rows)
        except StopIteration as done:
            return done.value

    def model(self, name: str, sql: str, **options) -> Model:
        return Model(name, (self.schema, name), (self.schema, f"{name}__ivm"), sql, **options)

    def refresh(self, model: Model, env: Environment | None = None) -> Outcome:
        self.statements = []
        return self.run(refresh(model, env or self.environment()))

    def differences(self, model: Model) -> list:
        """Rows in which the view and its recompute differ; the last statements stay for the reader."""
        done = self.statements
        text = self.run(difference(model, self.environment()))
        self.statements = done
        return self.sql(text)
