"""Random views and changes through DuckDB: view = recompute after every batch, whatever is switched off."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings

from tests.properties.case import Case, cases
from tests.properties.duck_check import check_case
from tests.properties.switches import ALL_SETS

CI = settings(deadline=None, database=None, derandomize=True, print_blob=True, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config={"threads": 1})


@settings(CI, max_examples=2000)
@given(case=cases(ALL_SETS))
def test_view_equals_recompute(connection, case: Case):
    check_case(case, connection)
