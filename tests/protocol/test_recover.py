"""Undoing what another run left behind, while that run is still there."""

from __future__ import annotations

import pytest

from dbt_ivm.errors import Interleaved, NotIncremental, StatementFailed
from dbt_ivm.protocol.environment import Model
from dbt_ivm.protocol.recover import _restore
from dbt_ivm.state.record import Record

MODEL = Model("m", ("s", "m"), ("s", "m__ivm"), "SELECT 1")
RECORD = Record("definition", "s.m__ivm", 3, "", True)


@pytest.mark.parametrize(
    "message, outcome",
    [
        ("[DELTA_CONCURRENT_APPEND] somebody was faster", Interleaved),
        ("[DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_RETENTION] too old", NotIncremental),
    ],
    ids=["a run beside ours: try again", "the version is gone: rebuild"],
)
def test_a_failed_restore(message, outcome):
    steps = _restore(MODEL, RECORD)
    assert "RESTORE" in str(next(steps).sql)
    with pytest.raises(outcome):
        steps.throw(StatementFailed(message))
