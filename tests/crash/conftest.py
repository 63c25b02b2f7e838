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


@pytest.fixture
def world_of(spark, thrift, conductor, tmp_path):
    """A factory of worlds."""
    made = []

    def make(views: dict[str, View]) -> World:
        number = next(_NUMBERS)
        made.append(World(spark, thrift, conductor, tmp_path / f"p{number}", f"crash_{number}", views))
        return made[-1]

    yield make
    for world in made:
        spark.sql(f"DROP SCHEMA {world.schema} CASCADE")
