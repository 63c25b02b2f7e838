"""A sample of what refreshes say to Spark, one file per view class: made by the planner's own rooms, for the linter to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from dbt_ivm.algebra.relations import Aggregate
from dbt_ivm.delta import ChangeFacts, delta
from dbt_ivm.parse.reader import Reader, TableFacts
from dbt_ivm.parse.sql import parse
from dbt_ivm.protocol.analyse import Analysis
from dbt_ivm.protocol.build import build
from dbt_ivm.protocol.definition import Definition
from dbt_ivm.protocol.environment import CatalogEntry, Environment, Model, RunMemory
from dbt_ivm.protocol.publish import publish, view_text
from dbt_ivm.render.relations import Renderer
from dbt_ivm.render.sources import Change, SourceState
from dbt_ivm.simplify import simplify
from dbt_ivm.state.layout import layout_of, public_names
from dbt_ivm.state.record import Record, SourceMark
from dbt_ivm.state.root import root_of
from dbt_ivm.strategy.choose import choose
from dbt_ivm.strategy.work import Statement, Work
from tests.layout import laid_out
from tests.tables import TABLES


@dataclass(frozen=True)
class View:
    """A view class, with the answers Spark would give about types."""

    sql: str
    outputs: dict[str, str]
    changed: dict[str, Change]
    groups: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    partials: tuple[str, ...] = ()
    rows: int = 1_000_000
    touched_keys: int = 2


VIEWS = {
    "append": View(
        "SELECT k, x + 1 AS y FROM shop.t WHERE g = 'a'", {"k": "int", "y": "int"}, {"shop.t": Change.INSERTS}
    ),
    "replace_rows": View(
        "SELECT t.g, u.w FROM shop.t JOIN shop.u ON t.k = u.k WHERE t.x > 5",
        {"g": "string", "w": "bigint"},
        {"shop.t": Change.FEED, "shop.u": Change.INSERTS},
    ),
    "replace_groups": View(
        "SELECT g, count(*) AS n, avg(x) AS a, max(y) AS hi FROM shop.t GROUP BY g HAVING count(*) > 1",
        {"g": "string", "n": "bigint", "a": "double", "hi": "int"},
        {"shop.t": Change.FEED},
        ("string",),
        ("int", "int", "int"),
        ("bigint", "bigint", "int"),
    ),
    "recompute_groups": View(
        "SELECT t.g, count(DISTINCT u.w) AS n FROM shop.t JOIN shop.u ON t.k = u.k GROUP BY t.g",
        {"g": "string", "n": "bigint"},
        {"shop.u": Change.DIFF},
        ("string",),
        ("bigint",),
        ("bigint",),
    ),
    "merge_distinct": View(
        "SELECT DISTINCT k FROM shop.t UNION SELECT w FROM shop.u",
        {"k": "bigint"},
        {"shop.t": Change.FEED},
        ("bigint", "int"),
        touched_keys=60_000,
    ),
    "overwrite_total": View(
        "SELECT count(*) AS n, sum(x) AS total FROM shop.t",
        {"n": "bigint", "total": "bigint"},
        {"shop.t": Change.FEED},
        (),
        ("int", "int"),
        ("bigint", "bigint"),
        rows=1,
    ),
}

BATCH, START = 7, 11


def statements(name: str) -> Iterator[Statement]:
    """Build, refresh, publish."""
    view = VIEWS[name]
    model = Model(name, ("shop", name), ("shop", f"{name}__ivm"), view.sql)
    relation, outputs = Reader(_catalog).read(view.sql)
    relation = simplify(relation)
    aggregates = [node for node in relation.walk() if isinstance(node, Aggregate)]
    probed = dict(zip([symbol for node in aggregates for symbol, _ in node.groups], view.groups, strict=True))
    measures = [symbol for node in aggregates for symbol, _ in node.measures]
    probed |= dict(zip([f"{symbol}__argument" for symbol in measures], view.arguments, strict=True))
    public = public_names(list(view.outputs), name)
    root = root_of(relation, tuple((n, e) for n, (_, e) in zip(view.outputs, outputs, strict=True)))
    layout = layout_of(root, public, list(view.outputs.values()), probed)
    types = probed | dict(zip([partial.name for partial in layout.partials], view.partials, strict=True))

    tables = {("shop", table): ("shop", table) for table in ("t", "u") if f"shop.{table}" in view.sql}
    env = Environment(lambda _: CatalogEntry("view"), RunMemory(), lambda: datetime(2026, 1, 1), lambda: BATCH)
    yield next(build(model, Analysis(layout, types, ""), Definition(tables=tables), env))

    states = {f"shop.{parts[1]}": SourceState(parts, 3, 3) for parts in tables.values()}
    states |= {source: replace(states[source], pre=1, change=change) for source, change in view.changed.items()}
    core = relation_of(root.core)
    facts = ChangeFacts(frozenset(view.changed), types)
    inserts_only = all(change is Change.INSERTS for change in view.changed.values())
    work = Work(layout, Renderer(states), model.state, START, BATCH, delta(core, facts), inserts_only)
    steps = choose(work, types, view.rows)
    answers = {"touched keys": [[key, 1, 1] for key in range(view.touched_keys)], "stale keys": [[1], [2]]}
    try:
        statement = next(steps)
        while True:
            yield statement
            statement = steps.send(answers.get(statement.purpose, [[1]]))
    except StopIteration:
        pass
    marks = {source: SourceMark("id", state.post, "") for source, state in states.items()}
    record = Record("d", f"shop.{name}__ivm", START + 1, "", True, sources=marks)
    yield from publish(model, view_text(model, layout, record), env)


def relation_of(core):
    return core.child if isinstance(core, Aggregate) else core


def _catalog(parts: tuple[str, ...]) -> TableFacts:
    return TableFacts(".".join(parts), TABLES[parts[-1]][0])


def text(name: str) -> str:
    """The file's text; a comment at the head of a view's query is data and stays."""
    parts = []
    for statement in statements(name):
        sql = statement.sql if isinstance(statement.sql, str) else laid_out(statement.sql)
        if statement.purpose == "build":
            head, _, query = statement.sql.partition(" AS\n")
            sql = f"{head} AS\n{laid_out(parse(query))}"
        parts.append(f"-- {statement.purpose}\n{sql};\n")
    return "\n".join(parts)
