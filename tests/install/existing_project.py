"""Run by the Python of a fresh environment: an existing dbt project takes in the package, builds and refreshes a view.

Arguments: the folder to work in, then for each project its name and its `packages:` entry as JSON. Prints JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

PROFILE = {
    "type": "spark",
    "method": "session",
    "host": "NA",
    "threads": 2,
    "server_side_parameters": {
        "spark.jars.packages": "io.delta:delta-spark_4.1_2.13:4.4.0",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": "{folder}/warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:;databaseName={folder}/metastore;create=true",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
        "-Dderby.stream.error.file={folder}/derby.log",
        "spark.driver.memory": "1g",
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.shuffle.partitions": "1",
    },
}
MODELS = {
    "numbers": "{{ config(materialized='incremental', file_format='delta') }}\n"
    "select id, id % 2 as parity from range({% if is_incremental() %} 10, 13 {% else %} 0, 10 {% endif %})",
    "by_parity": "{{ config(materialized='ivm') }}\nselect parity, count(*) as n from {{ ref('numbers') }} group by parity",
}


def write_project(folder: Path, name: str, package: dict) -> None:
    """As it stood before, and `packages.yml`."""
    (folder / "models").mkdir(parents=True)
    parameters = {key: value.format(folder=folder.parent) for key, value in PROFILE["server_side_parameters"].items()}
    output = {**PROFILE, "schema": name, "server_side_parameters": parameters}
    files = {
        "profiles.yml": {name: {"target": "t", "outputs": {"t": output}}},
        "dbt_project.yml": {"name": name, "version": "1.0.0", "profile": name},
        "packages.yml": {"packages": [package]},
    }
    for path, content in files.items():
        (folder / path).write_text(json.dumps(content))
    for model, text in MODELS.items():
        (folder / "models" / f"{model}.sql").write_text(text)


def run(folder: Path) -> dict:
    from dbt.cli.main import dbtRunner

    place = ["--project-dir", str(folder), "--profiles-dir", str(folder)]
    found: dict = {}
    for command in ("deps", "run", "run"):
        outcome = dbtRunner().invoke([command, "--no-send-anonymous-usage-stats", *place])
        if not outcome.success:
            return {**found, "failed": command, "why": str(outcome.exception or outcome.result)}
        if command == "run":
            results = json.loads((folder / "target" / "run_results.json").read_text())["results"]
            found.setdefault("strategies", []).append(
                [r["adapter_response"]["strategy"] for r in results if r["unique_id"].endswith("by_parity")][0]
            )
    from pyspark.sql import SparkSession

    rows = SparkSession.builder.getOrCreate().sql(f"select * from {folder.name}.by_parity order by 1").collect()
    return {**found, "rows": [list(row) for row in rows]}


def main(folder: str, *projects: str) -> None:
    import dbt_ivm

    found: dict = {"dbt_ivm": dbt_ivm.__file__}
    for name, package in zip(projects[::2], projects[1::2], strict=True):
        place = Path(folder) / name
        write_project(place, name, json.loads(package))
        found[name] = run(place)
    Path(folder, "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
