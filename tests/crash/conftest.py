"""One zygote for all crash tests; a schema and a project for each."""

from __future__ import annotations

import itertools

import pytest

from tests.crash.conductor import Conductor
from tests.crash.world import View, World

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def conductor(tmp_path_factory):
    conductor = Conductor(tmp_path_factory.mktemp("zygote") / "log")
    yield conductor
    conductor.close()


@pytest.fixture(scope="session")
def world_of(spark, thrift, conductor, tmp_path_factory):
    """A factory of worlds."""
    made = []

    def make(views: dict[str, View]) -> World:
        number = next(_NUMBERS)
        folder = tmp_path_factory.mktemp("project")
        made.append(World(spark, thrift, conductor, folder, f"crash_{number}", views))
        return made[-1]

    yield make
    for world in made:
        world.close()
