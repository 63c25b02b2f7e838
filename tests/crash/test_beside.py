"""Two dbt processes refresh one model at the same time: every published view is exact, nothing is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.crash.conductor import Run
from tests.crash.points import Point, crash
from tests.crash.world import BAG, TOTALS
from tests.crash.zygote import GO

ROUNDS = 10
M = ("run", "--select", "m")


def advance(run: Run, statements: int) -> None:
    """Until the model's n-th statement is about to be sent: there the process waits."""
    while (event := run.next()) is not None:
        if event.node == "m" and event.moment == "before":
            statements -= 1
            if statements < 0:
                return
        run.answer(GO)


def finish(run: Run):
    """Lets a waiting process go on to its end."""
    if run.result is None:
        run.answer(GO)
    return run.play()


def test_two_processes_refresh_one_model(world_of):
    world = world_of({"m": BAG, "d": TOTALS})
    world.refresh()
    with ThreadPoolExecutor(2) as pool:
        for number in range(ROUNDS):
            change = "INSERT INTO {{s}}.facts VALUES (1, 'a', {0}), (2, 'r{0}', {0})"
            if number % 2:
                change = "UPDATE {{s}}.facts SET x = x + {0} WHERE k = 1"
            world.sql(change.format(number + 100))
            runs = [world.start(*M), world.start(*M)]
            # Released together, a little later in every round.
            for run in runs:
                advance(run, number)
            for result in pool.map(finish, runs):
                assert result is not None
                if not result.success:
                    assert "another run wrote" in result.messages, result.messages
                    assert "nothing was published" in result.messages
            world.assert_exact(f"round {number}", only="m")
            if number % 3 == 2:
                world.refresh()
                world.assert_current(f"round {number}")
    world.refresh()
    world.assert_current()


def test_a_published_version_that_goes_back(world_of):
    """A slow run publishes after a fast one that began later; a downstream model has read the fast one's version."""
    world = world_of({"m": BAG, "d": TOTALS})
    world.refresh()
    world.sql("INSERT INTO {s}.facts VALUES (1, 'slow', 1)")
    slow = world.start(*M)
    while not (event := slow.next()).is_publish:
        slow.answer(GO)
    assert event.moment == "before"
    world.sql("INSERT INTO {s}.facts VALUES (2, 'fast', 2)", "DELETE FROM {s}.facts WHERE x = 10")
    world.refresh()
    world.assert_current()
    newer = world.record("m").version
    assert finish(slow).success
    assert world.record("m").version < newer == next(iter(world.record("d").sources.values())).version
    world.assert_exact("gone back", only="m")
    # The downstream model follows first, to the older version; then both move on.
    world.refresh("run", "--select", "d")
    assert next(iter(world.record("d").sources.values())).version == world.record("m").version
    world.assert_exact("followed")
    world.refresh()
    world.assert_current()


def test_a_source_that_commits_between_planning_and_reading(world_of):
    world = world_of({"m": BAG, "d": TOTALS})
    world.refresh()
    for change in ("INSERT INTO {s}.facts VALUES (1, 'x', 1)", "UPDATE {s}.facts SET x = x + 1 WHERE k = 2"):
        world.sql(change)
        pinned = world.version("facts")

        def commit(event, done=[]) -> None:  # noqa: B006
            if event.moment == "before" and event.node and event.is_write and event.node not in done:
                done.append(event.node)
                world.sql("INSERT INTO {s}.facts VALUES (3, 'late', 3)", "DELETE FROM {s}.names WHERE k = 3")
                world.sql("INSERT INTO {s}.names VALUES (3, 'late')")

        result = world.play(commit)
        assert result.success, result.messages
        facts = next(mark for name, mark in world.record("m").sources.items() if name.endswith(".facts"))
        assert facts.version == pinned < world.version("facts")
        world.assert_exact(change)
        world.refresh()
        world.assert_current(change)


def test_crashes_while_a_table_becomes_a_view(world_of):
    """The table is set aside, the view made, the table dropped: whatever a crash leaves of that, the rerun clears it."""
    world = world_of({"m": BAG, "d": TOTALS})
    for number, (shape, moment) in enumerate(
        [
            ("ALTER TABLE", "before"),
            ("ALTER TABLE", "after"),
            ("CREATE OR REPLACE VIEW", "after"),
            ("DROP TABLE", "after"),
        ]
    ):
        world.sql("DROP VIEW IF EXISTS {s}.m", "CREATE TABLE {s}.m USING delta AS SELECT 1 AS old")
        crash(world, Point("m", shape, 1, moment, True, True), *M)
        world.refresh(*M)
        world.assert_current(f"{number} {shape} {moment}", only="m")
        # Only where the view was made but the table not dropped does it stay, until the name is needed again.
        leftover = shape == "CREATE OR REPLACE VIEW"
        assert (world.version("m__ivm_backup") >= 0) == leftover, f"{shape} {moment}"
    world.refresh()
    world.assert_current()
