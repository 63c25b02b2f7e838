"""One schema with sources and ivm models: refreshed by dbt processes, looked at from the suite's own session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dbt_ivm.protocol.environment import Model
from dbt_ivm.state.record import Record
from tests.crash.conductor import Conductor, Event, Result, Run
from tests.crash.project import write_project
from tests.spark_driver import SparkDriver
from tests.thrift_server import ThriftServer

SOURCES = (
    "CREATE TABLE {s}.facts (k INT, g STRING, x INT) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
    "CREATE TABLE {s}.names (k INT, name STRING) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
    "INSERT INTO {s}.facts VALUES (1, 'a', 10), (2, 'a', 20), (3, 'b', 30), (1, 'b', 40), (NULL, NULL, 5)",
    "INSERT INTO {s}.names VALUES (1, 'one'), (2, 'two'), (3, 'three')",
)


class World:
    def __init__(
        self, spark, thrift: ThriftServer, conductor: Conductor, folder: Path, schema: str, models: dict[str, str]
    ) -> None:
        """`models` by name, upstream ones first: SQL in which {s} is the schema and {config} the model's own options."""
        self.driver = SparkDriver(spark, schema)
        self.spark, self.schema, self.conductor, self.folder = spark, schema, conductor, folder
        self.names = list(models)
        self.models = {name: self._model(name, sql) for name, sql in models.items()}
        write_project(folder, thrift.output(schema), {name: sql.format(s=schema) for name, sql in models.items()})
        self.sql(f"CREATE SCHEMA {schema}", *(text.format(s=schema) for text in SOURCES))
        conductor.parse(folder)

    def _model(self, name: str, sql: str) -> Model:
        text = sql.format(s=self.schema).rpartition("}}")[2] if "config(" in sql else sql.format(s=self.schema)
        return self.driver.model(name, text)

    def sql(self, *texts: str) -> list:
        for text in texts:
            rows = self.driver.sql(text.format(s=self.schema))
        return rows

    def start(self, *args: str, settings: dict[str, Any] | None = None) -> Run:
        return self.conductor.start(self.folder, *(args or ("run",)), settings=settings)

    def play(
        self, react: Callable[[Event], str | None] = lambda event: None, *args: str, settings: dict | None = None
    ) -> Result | None:
        return self.start(*args, settings=settings).play(react)

    def refresh(self, *args: str, settings: dict[str, Any] | None = None) -> Result:
        result = self.play(lambda event: None, *args, settings=settings)
        assert result is not None
        return result

    def statements(self, *args: str, settings: dict[str, Any] | None = None) -> list[Event]:
        """A dry run: what a refresh asks of Spark now."""
        seen: list[Event] = []
        result = self.play(lambda event: seen.append(event), *args, settings=settings)  # type: ignore[func-returns-value]
        assert result is not None and result.success, result
        return [event for event in seen if event.moment == "before" and event.node]

    def rows(self, name: str) -> list[str]:
        return sorted(map(str, self.sql(f"SELECT * FROM {{s}}.{name}")))

    def text(self, name: str) -> str:
        """The view's text, empty if there is none."""
        catalog = self.spark._jsparkSession.sharedState().externalCatalog()
        if not catalog.tableExists(self.schema, name):
            return ""
        return catalog.getTable(self.schema, name).viewText().getOrElse(None) or ""

    def record(self, name: str) -> Record:
        record = Record.from_text(self.text(name))
        assert record is not None, self.text(name)
        return record

    def version(self, table: str) -> int:
        """The newest version of a table, from its log; -1 if there is none."""
        warehouse = self.spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
        log = Path(warehouse) / f"{self.schema}.db" / table / "_delta_log"
        return max((int(path.stem) for path in log.glob("*.json") if path.stem.isdigit()), default=-1)

    def snapshot(self) -> dict[str, tuple[str, int]]:
        """All that a rerun can see of earlier runs."""
        return {name: (self.text(name), self.version(f"{name}__ivm")) for name in self.names}

    def assert_exact(self, context: object = "") -> None:
        """Every view is its SELECT over its recorded versions."""
        for model in self.models.values():
            assert self.driver.differences(model) == [], f"{model.name} {context}"

    def assert_current(self, context: object = "") -> None:
        """Every view is its SELECT over what is there now."""
        self.assert_exact(context)
        for name in self.names:
            for source, mark in self.record(name).sources.items():
                table = source.rpartition(".")[2]
                upstream = table.removesuffix("__ivm")
                now = self.record(upstream).version if upstream in self.names else self.version(table)
                assert mark.version == now, f"{name} reflects {source} {mark.version}, now {now} {context}"
