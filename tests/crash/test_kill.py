"""A dbt process killed with SIGKILL at every statement: readers keep the old view, the rerun is exact.

A crash before anything is written leaves everything as it was, which is checked; one while reading what was written
leaves what a crash right after that write leaves. So a rerun is needed only where something was written.

The scenarios run side by side, each in a schema of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pytest

from tests.crash.embedded import kill_embedded
from tests.crash.points import Point, crash, crash_in_a_row, points, rerun
from tests.crash.world import BAG, GROUPS, TOTALS, TOTALS_OF_GROUPS, View, World

pytestmark = pytest.mark.long

INSERT = ("INSERT INTO {s}.facts VALUES (1, 'a', 7), (3, 'c', 8)",)
UPDATE = ("UPDATE {s}.facts SET x = x + 1 WHERE g = 'a'",)
DROP = ("DROP VIEW IF EXISTS {s}.m", "DROP TABLE IF EXISTS {s}.m__ivm")


@dataclass(frozen=True)
class Scenario:
    views: dict[str, View]
    strategy: str
    change: tuple[str, ...]
    args: tuple[str, ...] = ("run", "--select", "m")
    node: str = "m"
    reads: bool = False
    only: str = ""
    """Only writes that begin with this word: the others are another scenario's."""


def without(view: View, *strategies: str) -> View:
    return view._replace(options={"ivm_switch_off": list(strategies)})


ON_BAG, ON_GROUPS = {"m": BAG, "d": TOTALS}, {"m": GROUPS, "d": TOTALS_OF_GROUPS}
BY_KEY = {"m": without(GROUPS, "overwrite", "append"), "d": TOTALS_OF_GROUPS}
BY_MERGE = {"m": without(GROUPS, "overwrite", "append", "replace"), "d": TOTALS_OF_GROUPS}

SCENARIOS = {
    "replace": Scenario(BY_KEY, "replace", UPDATE),
    "build": Scenario(ON_BAG, "build", DROP, reads=True),
    "append": Scenario(ON_BAG, "append", INSERT, reads=True),
    "overwrite": Scenario(ON_BAG, "overwrite", UPDATE),
    "merge": Scenario(BY_MERGE, "merge", UPDATE, only="MERGE"),
    "full_refresh": Scenario(ON_BAG, "full", INSERT, ("run", "--select", "m", "--full-refresh")),
    "downstream": Scenario(ON_BAG, "overwrite", INSERT, ("run",), "d"),
}


def kill_everywhere(scenario: Scenario, world: World) -> int:
    world.refresh()
    world.sql(*scenario.change)
    events, result = world.statements(*scenario.args)
    assert result.response(scenario.node)["strategy"] == scenario.strategy
    reads = [point for point in points(events, scenario.node, "sent") if not point.is_write]
    writes = [point for point in points(events, scenario.node, "sent") if point.is_write]
    rows = [[replace(point, moment=moment) for moment in ("sent", "after")] for point in writes if not point.is_publish]
    # Once published there is nothing left to crash: each of these begins with a change of its own.
    rows += [[replace(point, moment=moment)] for point in writes if point.is_publish for moment in ("sent", "after")]
    rows = [row for row in rows if row[0].shape.startswith(scenario.only)]
    assert rows
    if scenario.reads:
        world.sql(*scenario.change)
        crash_in_a_row(world, reads, *scenario.args)
        rows.append(reads)
    for row in rows:
        if row is not reads:
            world.sql(*scenario.change)
            crash_in_a_row(world, row, *scenario.args)
            rerun(world, row, *scenario.args)
    world.refresh()
    world.assert_current()
    return sum(map(len, rows))


def complete_without_client(world: World) -> int:
    """The client dies, its statement goes on and completes in the server; then the runs that undo it die, too."""
    world.refresh()
    world.sql(*INSERT)
    events, _ = world.statements("run", "--select", "m")
    write = next(point for point in points(events, "m", "lingering") if point.is_write)
    world.sql(*INSERT)
    text, rows, version = world.text("m"), world.rows("m"), world.version("m__ivm")
    crash(world, write, "run", "--select", "m")
    deadline = time.monotonic() + 120
    while world.version("m__ivm") == version:
        assert time.monotonic() < deadline, "the statement did not complete"
        time.sleep(0.02)
    assert (world.text("m"), world.rows("m")) == (text, rows)
    restores = [Point("m", "RESTORE", 1, moment, True, False) for moment in ("before", "sent", "after")]
    crash_in_a_row(world, restores, "run", "--select", "m")
    rerun(world, [write, *restores])
    world.assert_current()
    return 1 + len(restores)


RUNS: dict[str, Callable[[Callable[[dict], World]], int]] = {
    name: lambda make, scenario=scenario: kill_everywhere(scenario, make(scenario.views))
    for name, scenario in SCENARIOS.items()
}
RUNS["completes_in_the_server"] = lambda make: complete_without_client(make(ON_BAG))


@pytest.fixture(scope="module")
def outcomes(request, world_of, tmp_path_factory):
    """What was selected runs in the background, two at a time; each test waits for its own."""
    pool = ThreadPoolExecutor(2)
    selected = {
        item.callspec.params["name"] for item in request.session.items if item.name.startswith("test_killed_at")
    }
    futures = {name: pool.submit(run, world_of) for name, run in RUNS.items() if name in selected}
    if "embedded" in selected:
        futures["embedded"] = pool.submit(kill_embedded, tmp_path_factory.mktemp("embedded"))
    yield futures
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("name", [*RUNS, "embedded"])
def test_killed_at_every_statement(outcomes, name):
    assert outcomes[name].result() >= 2


def test_points_in_all(outcomes):
    assert sum(outcome.result() for outcome in outcomes.values()) >= 25
