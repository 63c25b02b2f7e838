"""Embedded Spark dies with its dbt process: warehouse and metastore are what the disk has of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.crash.project import REPOSITORY, write_project
from tests.crash.session_process import SCHEMA, output
from tests.crash.world import BAG, SOURCES, TOTALS

CHANGE = ["sql", "UPDATE {s}.facts SET x = x + 1 WHERE k = 1"]
SHOW = [["rows", "m"], ["rows", "d"]]
REPAIR = [["run"], ["test"]]


def kill_embedded(folder: Path) -> int:
    views = {"m": BAG, "d": TOTALS}
    write_project(
        folder / "project", output(folder), {name: view.source(SCHEMA, views) for name, view in views.items()}
    )
    setup = [["sql", text] for text in ("CREATE SCHEMA {s}", *SOURCES)]
    play(folder, [*setup, ["run"], *SHOW, CHANGE, ["run", "file"]], killed=True)
    # Readers see the old views after the crash; then the rerun and `dbt test` succeed; then the next crash.
    play(folder, [*SHOW, *REPAIR, *SHOW, CHANGE, ["run", "commit"]], killed=True)
    play(folder, [*SHOW, *REPAIR, *SHOW], killed=False)
    found = [json.loads(line) for line in (folder / "found").read_text().splitlines()]
    built, first, repaired, second, at_last = (found[i : i + 2] for i in range(0, 10, 2))
    assert first == built and second == repaired
    assert built != repaired != at_last
    return 2


def play(folder: Path, steps: list[list[str]], killed: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.session_process", str(folder), json.dumps(steps)],
        cwd=REPOSITORY,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert done.returncode == (-9 if killed else 0), done.stdout[-4000:]
