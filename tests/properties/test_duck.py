"""Random views and changes through DuckDB: view = recompute after every batch, whatever is switched off.

So naive and simplified plans, and all strategies, agree: each of them equals the recompute.
"""

from __future__ import annotations

from dataclasses import replace

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


@settings(CI, max_examples=400)
@given(case=cases(ALL_SETS))
def test_view_equals_recompute(connection, case: Case):
    check_case(case, connection)


@settings(CI, max_examples=60)
@given(case=cases(ALL_SETS, stacked=True))
def test_view_on_a_view_equals_recompute(connection, case: Case):
    check_case(case, connection)


@settings(CI, max_examples=60)
@given(case=cases(ALL_SETS))
def test_one_batch_gives_what_many_give(connection, case: Case):
    """The same view and changes, refreshed once at the end."""
    merged = tuple(text for batch in case.batches for text in batch)
    check_case(replace(case, batches=(merged,)), connection)
