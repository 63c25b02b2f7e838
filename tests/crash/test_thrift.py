"""`method: thrift`, from the first build to `dbt test`."""

from __future__ import annotations

from tests.crash.world import BAG, TOTALS


def test_build_refresh_no_op_and_test_through_thrift(world_of):
    world = world_of({"m": BAG, "d": TOTALS})
    strategies = []
    for change in ("", "INSERT INTO {s}.facts VALUES (2, 'a', 9)", "DELETE FROM {s}.facts WHERE x = 10", ""):
        if change:
            world.sql(change)
        result = world.refresh()
        strategies.append(tuple(result.response(name)["strategy"] for name in ("m", "d")))
        if change:
            world.assert_current(change)
    assert strategies == [("build", "build"), ("append", "overwrite"), ("overwrite", "overwrite"), ("no_op", "no_op")]
    tested = world.refresh("test")
    assert [status for _, status, _, _ in tested.nodes].count("pass") == 2, tested.messages
