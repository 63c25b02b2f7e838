"""Builds the shop, changes its sources, refreshes it and shows what every refresh did: `make demo`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
LOG = HERE / "logs" / "demo.log"
HEADER = ["model", "strategy", "rows in, by source", "branches", "rows out", "seconds", "why"]


def main() -> int:
    if subprocess.run([str(HERE.parent / ".ci" / "check-java")]).returncode:
        return 1
    os.chdir(HERE)
    begin_afresh()
    started = time.monotonic()

    with step("starting Spark (the first time downloads Delta, about 90 MB)"):
        spark = start_spark()
    with step("creating six source tables"):
        run_script(spark, "create.sql")
    with step("dbt deps, dbt seed"):
        dbt("deps")
        ok, _ = dbt("seed")

    ok &= refresh("dbt run: the first one builds every model")
    with step("changing the sources: inserts, updates, deletes, a dimension update, a late-arriving row"):
        run_script(spark, "change.sql")
    ok &= refresh("dbt run: refresh from what changed")
    ok &= compare("dbt test: is every view what its SELECT returns today?")
    ok &= refresh("dbt run: nothing has changed since")

    seconds = time.monotonic() - started
    if ok:
        print(f"\nDone in {seconds:.0f} s. Every view equals its recomputed SELECT.")
        print("Go on by yourself: cd integration_tests && ../.venv/bin/dbt build")
    else:
        print(f"\nFailed after {seconds:.0f} s; details are in integration_tests/logs.")
    return 0 if ok else 1


def begin_afresh() -> None:
    """The demo tells one story from its first build on; tables of an earlier demo would spoil it."""
    for leftover in ("spark-warehouse", "metastore_db", "target", "logs"):
        shutil.rmtree(leftover, ignore_errors=True)
    LOG.parent.mkdir()


@contextmanager
def step(title: str) -> Iterator[None]:
    print(f"{title} ...", end="", flush=True)
    begin = time.monotonic()
    try:
        yield
    except BaseException:
        print(" failed", flush=True)
        raise
    print(f" {time.monotonic() - begin:.0f} s", flush=True)


def start_spark() -> Any:
    """The session that dbt's `method: session` will find. Starting it here keeps the JVM's chatter (dependency
    resolution, native library warnings) out of the story: the process inherits a log file as its output."""
    from pyspark.sql import SparkSession

    profile = yaml.safe_load((HERE / "profiles.yml").read_text())
    builder = SparkSession.builder.appName("dbt_ivm demo").enableHiveSupport()
    for key, value in profile["dbt_ivm_shop"]["outputs"]["local"]["server_side_parameters"].items():
        builder = builder.config(key, value)
    with output_to(LOG):
        spark = builder.getOrCreate()
        spark.sql("select 1").collect()
    return spark


@contextmanager
def output_to(path: Path) -> Iterator[int]:
    """Sends the file descriptors, not just Python's streams: child processes keep them for life. Yields the
    descriptor of the terminal, for what a human should see nevertheless."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(1), os.dup(2)]
    with path.open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            yield saved[0]
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for target, fd in enumerate(saved, start=1):
                os.dup2(fd, target)
                os.close(fd)


def run_script(spark: Any, name: str) -> None:
    text = (HERE / "sources" / name).read_text()
    for statement in text.split(";\n"):
        if any(line and not line.startswith("--") for line in statement.splitlines()):
            spark.sql(statement)


def dbt(*arguments: str) -> tuple[bool, list[dict[str, Any]]]:
    """Runs dbt in this process, quietly, and returns whether it succeeded and the results it recorded."""
    from dbt.cli.main import dbtRunner

    results_file = HERE / "target" / "run_results.json"
    results_file.unlink(missing_ok=True)
    with output_to(LOG) as terminal:

        def show_progress(event: Any) -> None:
            if event.info.name == "NodeFinished":
                os.write(terminal, b".")

        outcome = dbtRunner(callbacks=[show_progress]).invoke(["--quiet", *arguments])
    recorded = json.loads(results_file.read_text())["results"] if results_file.exists() else []
    results = [result for result in recorded if not result["unique_id"].startswith("operation.")]
    if not outcome.success and not recorded:
        raise SystemExit(f"dbt {' '.join(arguments)} failed: {outcome.exception or f'see {LOG}'}")
    return outcome.success, results


def refresh(title: str) -> bool:
    print()
    with step(title):
        ok, results = dbt("run")
    rows: list[list[str]] = []
    for result in results:
        response = result["adapter_response"]
        if result["status"] != "success":
            print(f"  {name_of(result)}: {result['status']}: {result['message']}")
        elif "strategy" in response:
            rows.append(summary(name_of(result), response))
    show(HEADER, rows)
    idle = sum(row[1] == "no_op" for row in rows)
    if idle:
        print(f"  {idle} of {len(rows)} models had nothing to do")
    # A run without a single report would show nothing of what the demo is about.
    return ok and bool(rows)


def name_of(result: dict[str, Any]) -> str:
    return result["unique_id"].split(".")[2]


def summary(model: str, response: dict[str, Any]) -> list[str]:
    changed = response.get("rows_changed") or {}
    sources = ", ".join(f"{short_name(name)} {text_of(count)}" for name, count in changed.items() if count != 0)
    branches, removed = response.get("branches"), response.get("branches_removed")
    return [
        model,
        str(response["strategy"]),
        sources or "-",
        "-" if not branches else f"{branches}" + (f" ({removed} removed)" if removed else ""),
        text_of(response.get("rows_affected")),
        f"{float(response.get('seconds') or 0):.1f}",
        f"{response['reason_text']} [{response['reason']}]",
    ]


def short_name(relation: str) -> str:
    return relation.replace("`", "").split(".")[-1]


def text_of(value: Any) -> str:
    """-1: its two versions were compared, so nobody counted."""
    return "-" if value is None else "?" if value == -1 else str(value)


def show(header: list[str], rows: list[list[str]]) -> None:
    if not rows:
        return
    widths = [max(len(line[i]) for line in [header, *rows]) for i in range(len(header))]
    for line in [header, ["-" * width for width in widths], *rows]:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def compare(title: str) -> bool:
    print()
    with step(title):
        ok, results = dbt("test", "--select", "test_name:equals_recompute")
    passed = sum(result["status"] == "pass" for result in results)
    print(f"  view = recompute for {passed} of {len(results)} models")
    for result in results:
        if result["status"] not in ("pass", "warn"):
            print(f"  {name_of(result)}: {result['status']}: {result['message']}")
    # A selection that matches no test would prove nothing.
    return ok and bool(results)


if __name__ == "__main__":
    sys.exit(main())
