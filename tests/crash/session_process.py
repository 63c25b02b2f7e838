"""A dbt process with `method: session`: its Spark lives in its own process group and dies with it.

Steps come as JSON: ["sql", text], ["rows", view], ["run"], ["run", "file" or "commit"] and ["test"]; what they found is
written to a file line by line, so that it outlives the process.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from tests.spark_session import settings, start_spark

SCHEMA = "embedded"


def output(folder: Path) -> dict:
    """The target of the dbt profile."""
    return {
        "type": "spark",
        "method": "session",
        "host": "NA",
        "schema": SCHEMA,
        "threads": 1,
        "server_side_parameters": settings(folder),
    }


def kill_group_at(sign: str, state: Path) -> None:
    """SIGKILL to the whole group as soon as the state has a new data file, or a new version: in the middle of a write."""
    pattern = {"file": "*.parquet", "commit": "_delta_log/*.json"}[sign]
    known = set(state.glob(pattern))

    def watch() -> None:
        while not set(state.glob(pattern)) - known:
            time.sleep(0.001)
        os.killpg(os.getpgid(0), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def dbt(project: Path, *args: str) -> None:
    from dbt.cli.main import dbtRunner

    result = dbtRunner().invoke([*args, "--project-dir", str(project), "--profiles-dir", str(project)])
    assert result.success, (result.exception, [node.message for node in result.result or ()])


def main(folder: Path, steps: list[list[str]]) -> None:
    spark = start_spark(folder)
    with (folder / "found").open("a") as found:
        for step, *rest in steps:
            if step == "sql":
                spark.sql(rest[0].format(s=SCHEMA))
            elif step == "rows":
                rows = sorted(map(str, spark.sql(f"SELECT * FROM {SCHEMA}.{rest[0]}").collect()))
                print(json.dumps(rows), file=found, flush=True)
            else:
                if rest:
                    kill_group_at(rest[0], folder / "warehouse" / f"{SCHEMA}.db" / "m__ivm")
                dbt(folder / "project", step)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
