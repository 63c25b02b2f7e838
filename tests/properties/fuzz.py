"""`make fuzz`: random cases for as long as told, from a seed; a failing one is shrunk and printed as a script.

python -m tests.properties.fuzz --seed 7 --seconds 300 [--backend spark]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

import duckdb
from hypothesis import HealthCheck, given, seed, settings

from tests.properties.case import Case, cases
from tests.properties.duck_check import Wrong, check_case
from tests.properties.switches import ALL_SETS

ROUND = 200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--backend", choices=("duckdb", "spark"), default="duckdb")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    done: Counter[str] = Counter()
    run = _on_duckdb if options.backend == "duckdb" else _on_spark
    try:
        run(options.seed, end, done)
    except Wrong as problem:
        print(problem)
        print("Keep the script above in tests/fixtures/properties/ as a test of the fix.")
        return 1
    finally:
        print(f"seed {options.seed}, {options.backend}: {done.pop('cases', 0)} cases; refreshes: {dict(done)}")
    return 0


def _on_duckdb(first: int, end: float, done: Counter[str]) -> None:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    round_ = 0
    while time.monotonic() < end:

        @seed(f"{first}.{round_}")
        @settings(max_examples=ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=cases(ALL_SETS))
        def check(case: Case) -> None:
            # Out of time: what is left of the round passes.
            if time.monotonic() < end:
                done["cases"] += 1
                done.update(outcome.strategy for outcome in check_case(case, connection))

        check()
        round_ += 1


def _on_spark(first: int, end: float, done: Counter[str]) -> None:
    from tests.properties.spark_check import check_group, group, smallest
    from tests.spark_session import start_spark

    spark = start_spark(Path(tempfile.mkdtemp()))
    try:
        number = 0
        while time.monotonic() < end:
            together = group(f"{first}.{number}", 25)
            done["cases"] += len(together)
            try:
                done.update(outcome.strategy for _, outcome in check_group(spark, f"fuzz_{number}", together))
            except Wrong as problem:
                if problem.case is None:
                    raise
                small = smallest(spark, f"small_{number}", problem.case)
                raise Wrong(f"{problem}\n\nmade smaller:\n{small.script()}") from problem
            number += 1
    finally:
        spark.stop()


if __name__ == "__main__":
    raise SystemExit(main())
