from __future__ import annotations
import time
from tests.crash.world import View

MODELS = {
    "m": View("SELECT f.k, f.g, f.x, n.name FROM {s}.facts f JOIN {s}.names n ON f.k = n.k"),
    "d": View("SELECT g, COUNT(*) AS n, SUM(x) AS s FROM {m} GROUP BY g"),
}

def test_thrift(world_of):
    t = time.time()
    def lap(what):
        nonlocal t
        print(f"{what}: {time.time()-t:.2f}")
        t = time.time()
    world = world_of(MODELS)
    lap("world")
    for i in range(3):
        world.sql(f"INSERT INTO {{s}}.facts VALUES ({i}, 'z', {i})")
        lap("insert")
        times = []
        t0 = time.time()
        def react(event):
            nonlocal t0
            now = time.time()
            times.append((now - t0, event.moment, event.node, event.sql[:90].replace("\n", " ")))
            t0 = now
        result = world.play(react)
        for one in times: print("%.2f %s %s %s" % one)
        print("end %.2f" % (time.time() - t0))
        print(result.messages)
        lap("run")
        assert result.success
        world.assert_current()
        lap("oracle")
        world.rows("m"), world.rows("d"); lap("rows")
        world.snapshot(); lap("snapshot")
    assert world.refresh().success
    lap("no-op")
    r = world.refresh("test"); print(r.messages)
    lap("test")
