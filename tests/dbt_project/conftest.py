"""Projects for tests of what is visible through dbt itself."""

from __future__ import annotations

import itertools

import pytest

from tests.dbt_project.project import DbtProject

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def new_project(spark, tmp_path_factory):
    """Makes an empty project with a schema of its own and the package installed by `local:`."""
    made = []

    def make(**settings) -> DbtProject:
        schema = f"dbt_{next(_NUMBERS)}"
        project = DbtProject(tmp_path_factory.mktemp("project"), spark, schema, **settings)
        assert project.dbt("deps").success
        made.append(project)
        return project

    yield make
    for project in made:
        for row in spark.sql(f"SHOW SCHEMAS LIKE '{project.schema}*'").collect():
            spark.sql(f"DROP SCHEMA {row[0]} CASCADE")
