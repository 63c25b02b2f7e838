"""What a refresh costs when there is nothing, or next to nothing, to do: `make bench-fixed`.

Twenty ivm models on five sources: seconds of a `dbt run` in which nothing changed, beside twenty `view` models in the same
process; the statements of one refresh; and one small refresh beside `table` on the same SELECT.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from tests.dbt_project.project import DbtProject
from tests.spark_session import start_spark

MODELS, SOURCES, ROUNDS = 20, 5, 3
SELECT = "select k % {m} as g, count(*) as n, sum(x) as s from {schema}.t{i} group by k % {m}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        spark = start_spark(Path(folder) / "spark")
        spark.sql("CREATE SCHEMA fixed")
        for i in range(SOURCES):
            spark.sql(
                f"CREATE TABLE fixed.t{i} USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true') "
                "AS SELECT id AS k, id * 2 AS x FROM range(1000)"
            )
        project = DbtProject(Path(folder) / "project", spark, "fixed")
        for i in range(MODELS):
            sql = SELECT.format(m=i + 2, schema="fixed", i=i % SOURCES)
            for materialized in ("ivm", "view", "table"):
                config = {"file_format": "delta"} if materialized == "table" else {}
                project.model(f"{materialized}_{i}", sql, materialized, tags=[materialized], **config)
        project.dbt("deps")
        project.dbt("run")
        print(f"nothing changed, {MODELS} models, seconds of the whole dbt run (median of {ROUNDS})")
        seconds = {kind: statistics.median(_times(project, kind)) for kind in ("view", "ivm")}
        for kind, value in seconds.items():
            print(f"  {kind:6} {value:6.2f}")
        print(f"  an ivm model beyond a view: {(seconds['ivm'] - seconds['view']) / MODELS:.3f} s")
        spark.sql("INSERT INTO fixed.t0 VALUES (1, 1), (5000, 1)")
        run = project.dbt("run", "--select", "tag:ivm", "tag:table")
        for kind in ("ivm", "table"):
            node = run.nodes[f"{kind}_0"]
            print(
                f"two rows arrive: {kind}_0 {node['execution_time']:.2f} s {node['adapter_response'].get('_message', '')}"
            )
        print(f"statements of that refresh: {run.response('ivm_0')['statements']}")


def _times(project: DbtProject, kind: str) -> list[float]:
    times = []
    for _ in range(ROUNDS):
        started = time.monotonic()
        run = project.dbt("run", "--select", f"tag:{kind}")
        times.append(time.monotonic() - started)
        assert run.success, run.log
        assert kind != "ivm" or set(run.strategies().values()) == {"no_op"}, run.strategies()
    return times


if __name__ == "__main__":
    main()
