"""One zygote for all crash tests; a schema and a project for each."""

from __future__ import annotations

import itertools

import pytest

from tests.crash.conductor import Conductor
from tests.crash.world import World

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def conductor(tmp_path_factory):
    conductor = Conductor(tmp_path_factory.mktemp("zygote") / "log")
    yield conductor
    conductor.close()


@pytest.fixture
def world_of(spark, thrift, conductor, tmp_path):
    """A factory: models by name -> World."""
    made = []

    def make(models: dict[str, str]) -> World:
        number = next(_NUMBERS)
        made.append(World(spark, thrift, conductor, tmp_path / f"p{number}", f"crash_{number}", models))
        return made[-1]

    yield make
    for world in made:
        spark.sql(f"DROP SCHEMA {world.schema} CASCADE")
