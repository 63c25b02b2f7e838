"""A small dbt project in a folder of its own, run in this process on the suite's SparkSession."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from dbt.cli.main import dbtRunner

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass
class Run:
    """What one dbt command did, as a user or a script would see it."""

    success: bool
    nodes: dict[str, dict[str, Any]]
    """Results of run_results.json by the node's name; a generic test's by its own."""
    messages: list[str] = field(default_factory=list)
    jobs: int = 0
    """Spark jobs that were started."""

    @property
    def log(self) -> str:
        return "\n".join(self.messages)

    def status(self, name: str) -> str:
        return self.nodes[name]["status"]

    def message(self, name: str) -> str:
        return self.nodes[name]["message"]

    def response(self, name: str) -> dict[str, Any]:
        return self.nodes[name]["adapter_response"]

    def strategy(self, name: str) -> str:
        node = self.nodes[name]
        return node["adapter_response"].get("strategy") or f"{node['status']}: {node['message']}"

    def strategies(self) -> dict[str, str]:
        return {
            name: self.strategy(name) for name, node in self.nodes.items() if "strategy" in node["adapter_response"]
        }


class DbtProject:
    def __init__(self, folder: Path, spark: Any, schema: str, **settings: Any) -> None:
        self.folder, self.spark, self.schema = folder, spark, schema
        folder.mkdir(parents=True, exist_ok=True)
        output = {"type": "spark", "method": "session", "host": "NA", "schema": schema, "threads": 4}
        self.write("profiles.yml", {"p": {"target": "t", "outputs": {"t": output}}})
        self.settings = {
            "name": "small",
            "version": "1.0.0",
            "config-version": 2,
            "profile": "p",
            "flags": {"send_anonymous_usage_stats": False, "require_generic_test_arguments_property": True},
            **settings,
        }
        self.write("dbt_project.yml", self.settings)
        self.write("packages.yml", {"packages": [{"local": str(REPOSITORY)}]})

    def write(self, path: str, content: Any) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))

    def model(self, name: str, sql: str, materialized: str = "ivm", **config: Any) -> None:
        options = "".join(f", {key}={value!r}" for key, value in config.items())
        self.write(f"models/{name}.sql", f"{{{{ config(materialized='{materialized}'{options}) }}}}\n{sql}\n")

    def remove(self, name: str) -> None:
        (self.folder / f"models/{name}.sql").unlink()

    def dbt(self, *arguments: str) -> Run:
        results = self.folder / "target" / "run_results.json"
        results.unlink(missing_ok=True)
        messages: list[str] = []

        def listen(event: Any) -> None:
            if event.info.level != "debug":
                messages.append(event.info.msg)

        before, ansi = self.jobs(), self.spark.conf.get("spark.sql.ansi.enabled")
        place = ["--project-dir", str(self.folder), "--profiles-dir", str(self.folder)]
        outcome = dbtRunner(callbacks=[listen]).invoke([*arguments, *place])
        jobs = self.jobs() - before
        # dbt-spark switches ANSI mode off in the session it shares with the rest of the suite.
        self.spark.conf.set("spark.sql.ansi.enabled", ansi)
        recorded = json.loads(results.read_text())["results"] if results.exists() else []
        if outcome.exception:
            messages.append(str(outcome.exception))
        nodes = {result["unique_id"].split(".", 2)[2]: result for result in recorded}
        return Run(outcome.success, nodes, messages, jobs)

    def jobs(self) -> int:
        return self.spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs()

    def sql(self, text: str) -> list[tuple]:
        return [tuple(row) for row in self.spark.sql(text.format(s=self.schema)).collect()]

    def commits(self, name: str) -> int:
        """How many commits a table has, without asking Spark."""
        folder = self.spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
        return len(list(Path(folder, f"{self.schema}.db", name, "_delta_log").glob("*.json")))

    def all_rows(self, *names: str) -> dict[str, list[tuple]]:
        """Rows of relations of the same shape, in one query."""
        selects = (f"SELECT '{name}', * FROM {self.schema}.{name}" for name in names)
        found: dict[str, list[tuple]] = {name: [] for name in names}
        for name, *row in self.sql(" UNION ALL ".join(selects)):
            found[name].append(tuple(row))
        return {name: sorted(rows, key=repr) for name, rows in found.items()}

    def rows(self, name: str) -> list[tuple]:
        """Rows of a relation of this project, in an order of their own."""
        return sorted(self.sql(f"SELECT * FROM {self.schema}.{name}"), key=repr)
