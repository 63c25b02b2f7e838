"""One schema with sources and ivm models: refreshed by dbt processes, looked at from the suite's own session."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

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


class View(NamedTuple):
    """An ivm model: {s} in its SELECT is the schema, {m} the model named m."""

    select: str
    options: dict[str, Any] = {}

    def source(self, schema: str, names: Iterable[str]) -> str:
        """As a file of the project."""
        config = "".join(f"{{{{ config({key}={value!r}) }}}}\n" for key, value in self.options.items())
        return config + self.select.format(s=schema, **{name: f"{{{{ ref('{name}') }}}}" for name in names})

    def compiled(self, schema: str, names: Iterable[str]) -> str:
        return self.select.format(s=schema, **{name: f"{schema}.{name}" for name in names})


BAG = View("SELECT f.k, f.g, f.x, n.name FROM {s}.facts f JOIN {s}.names n ON f.k = n.k")
GROUPS = View("SELECT g, COUNT(*) AS n, SUM(x) AS s, MIN(x) AS lo FROM {s}.facts GROUP BY g")
TOTALS = View("SELECT g, COUNT(*) AS n, SUM(x) AS s FROM {m} GROUP BY g")
TOTALS_OF_GROUPS = View("SELECT n, COUNT(*) AS groups, SUM(s) AS s FROM {m} GROUP BY n")


class World:
    def __init__(
        self, spark, thrift: ThriftServer, conductor: Conductor, folder: Path, schema: str, views: dict[str, View]
    ) -> None:
        self.driver = SparkDriver(spark, schema)
        self.spark, self.schema, self.conductor, self.folder = spark, schema, conductor, folder
        self.names = list(views)
        self.lingering: list[Connection] = []
        self.models = {name: self.driver.model(name, view.compiled(schema, views)) for name, view in views.items()}
        write_project(folder, thrift.output(schema), {name: view.source(schema, views) for name, view in views.items()})
        self.sql(f"CREATE SCHEMA {schema}", *SOURCES)
        conductor.parse(folder)

    def sql(self, *texts: str) -> list:
        for text in texts:
            rows = self.driver.sql(text.format(s=self.schema))
        return rows

    def start(self, *args: str) -> Run:
        return self.conductor.start(self.folder, *(args or ("run",)))

    def play(self, react: Callable[[Event], str | None], *args: str) -> Result | None:
        return self.start(*args).play(react)

    def refresh(self, *args: str) -> Result:
        """One dbt process that nobody disturbs."""
        result = self.play(lambda event: None, *args)
        assert result is not None and result.success, result
        return result

    def statements(self, *args: str) -> tuple[list[Event], Result]:
        """A dry run: what a refresh asks of Spark."""
        seen: list[Event] = []

        def note(event: Event) -> None:
            seen.append(event)

        result = self.play(note, *args)
        assert result is not None and result.success, result
        return [event for event in seen if event.moment == "before" and event.node], result

    def rows(self, name: str) -> list[str]:
        return sorted(map(str, self.sql(f"SELECT * FROM {{s}}.{name}")))

    def text(self, name: str) -> str:
        """The view's text, empty if there is none."""
        catalog = self.spark._jsparkSession.sharedState().externalCatalog()
        if not catalog.tableExists(self.schema, name):
            return ""
        text = catalog.getTable(self.schema, name).viewText()
        return text.get() if text.isDefined() else ""

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

    def assert_exact(self, context: object = "", only: str = "") -> None:
        """Every view is its SELECT over its recorded versions."""
        for model in self.models.values():
            if not only or model.name == only:
                assert self.driver.differences(model) == [], f"{model.name} {context}"

    def assert_current(self, context: object = "", only: str = "") -> None:
        """Every view is its SELECT over what is there now."""
        self.assert_exact(context, only)
        for name in [only] if only else self.names:
            for source, mark in self.record(name).sources.items():
                table = source.rpartition(".")[2]
                upstream = table.removesuffix("__ivm")
                now = self.record(upstream).version if upstream in self.names else self.version(table)
                assert mark.version == now, f"{name} reflects {source} {mark.version}, now {now} {context}"

    def close(self) -> None:
        for connection in self.lingering:
            connection.close()
        self.sql("DROP SCHEMA {s} CASCADE")
