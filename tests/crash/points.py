"""Every point at which a dbt process can die: each statement about to be sent, in flight, or just done."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tests.crash.conductor import Event
from tests.crash.world import World
from tests.crash.zygote import KILL, KILL_LINGER, KILL_SENT


@dataclass(frozen=True)
class Point:
    """The `nth` statement of a shape, and the moment: `before`, `sent`, `lingering` or `after`."""

    node: str
    shape: str
    nth: int
    moment: str
    is_write: bool
    is_publish: bool
    follows_write: bool = False
    """Something of the same run is written already."""

    def __str__(self) -> str:
        return f"{self.moment} {self.node}: {self.shape} #{self.nth}"


def points(events: list[Event], node: str, *moments: str) -> list[Point]:
    seen: Counter[str] = Counter()
    found = []
    written = False
    for event in events:
        if event.node == node:
            seen[event.shape] += 1
            found += [
                Point(node, event.shape, seen[event.shape], moment, event.is_write, event.is_publish, written)
                for moment in moments
            ]
            written |= event.is_write
    return found


class Killer:
    """Kills a run at a point."""

    def __init__(self, point: Point) -> None:
        self.point = point
        self.seen = 0

    def __call__(self, event: Event) -> str | None:
        point = self.point
        if event.node != point.node or not event.shape.startswith(point.shape):
            return None
        self.seen += event.moment == "before"
        if self.seen != point.nth:
            return None
        if event.moment == "after":
            return KILL if point.moment == "after" else None
        return {"before": KILL, "sent": KILL_SENT, "lingering": KILL_LINGER}.get(point.moment)


def crash(world: World, point: Point, *args: str) -> None:
    run = world.start(*args)
    result = run.play(Killer(point))
    assert result is None, f"not reached: {point}\n{result}"
    if point.moment == "lingering":
        world.lingering.append(world.conductor.lingering(run.pid))


def crash_in_a_row(world: World, row: list[Point], *args: str) -> None:
    """Crashes one after the other without a completed run between them. Readers see the old view all the time."""
    for point in row:
        before = world.snapshot()
        harmless = not point.is_write and not point.follows_write
        # What stands upstream of the killed model was published by the same run.
        watched = world.names[world.names.index(point.node) :]
        rows = {} if harmless else {name: world.rows(name) for name in watched if before[name][0]}
        crash(world, point, *args)
        if harmless:
            # No different from no crash at all: the rerun needs no proof of its own.
            assert all(world.snapshot()[name] == before[name] for name in watched), point
        for name, old in rows.items():
            if not (point.is_publish and name == point.node):
                assert world.text(name) == before[name][0], point
                assert world.rows(name) == old, point
        if point.is_publish and world.text(point.node):
            world.assert_exact(point, only=point.node)


def rerun(world: World, row: list[Point], *args: str) -> None:
    """The next run completes, or says that the dead one's statement came between; then the one after it completes."""
    result = world.play(lambda event: None, *args)
    assert result is not None
    if not result.success:
        assert "another run wrote" in result.messages, result.messages
        world.refresh(*args)
    if any(point.is_publish and point.moment == "sent" for point in row):
        # The dead run's ALTER VIEW may have arrived after ours: an older version is published, exact but not current.
        world.assert_exact(row, only=row[0].node)
        world.refresh(*args)
    world.assert_current(row, only=row[0].node)
