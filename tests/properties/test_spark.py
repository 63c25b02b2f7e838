"""The same random views and changes on Spark + Delta, all of Spark's types included."""

from __future__ import annotations

import pytest

from tests.properties.spark_check import check_group, group

GROUPS, VIEWS = 3, 28


@pytest.mark.parametrize("seed", range(GROUPS))
def test_views_equal_recompute(spark, seed: int):
    cases = group(seed, VIEWS)
    done = check_group(spark, f"random_{seed}", cases)
    assert len(done) >= 25, "Spark refused too many of the SELECTs"
    changed = [outcome for _, outcome in done if outcome.strategy != "no_op"]
    assert len(changed) >= VIEWS * 2 // 3, "most histories must change what their view reads"
