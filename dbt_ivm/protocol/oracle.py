"""The oracle: view = SELECT over the recorded source versions, as a bag, to the bit, names and types included."""

from __future__ import annotations

from collections.abc import Generator

from sqlglot import exp

from dbt_ivm.algebra.relations import column
from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.sql import parse, write
from dbt_ivm.protocol.environment import Environment, Model, Parts, source_name
from dbt_ivm.protocol.inline import inline_views
from dbt_ivm.protocol.observe import quoted
from dbt_ivm.render.relations import M, aliased, net, select
from dbt_ivm.render.sources import versioned
from dbt_ivm.state.record import Record
from dbt_ivm.strategy.work import Statement


def difference(model: Model, env: Environment, float_digits: int | None = None) -> Generator[Statement, list, str]:
    """A SELECT that returns the rows of either side which the other lacks; none if all is well."""
    record = Record.from_text(env.entry(model.target).text)
    recompute = recorded_select(model, record, env) if record else _as_written(model)
    view = write(select([exp.Star()], versioned(model.target, None)))
    left = yield Statement("view's columns", f"DESCRIBE QUERY {view}", fetch=True)
    right = yield Statement("SELECT's columns", f"DESCRIBE QUERY {recompute}", fetch=True)
    ours, theirs = ([(str(row[0]), str(row[1])) for row in rows] for rows in (left, right))
    if ours != theirs:
        text = write(exp.Literal.string(f"columns differ: view {ours}, SELECT {theirs}"))
        return f"SELECT {text} AS problem"
    symbols = [(f"c{i}", type_) for i, (_, type_) in enumerate(ours)]
    items = []
    for (name, _), (symbol, type_) in zip(ours, symbols, strict=True):
        value: exp.Expr = column(name)
        if float_digits is not None and type_ in ("double", "float"):
            value = exp.func("round", value, exp.Literal.number(float_digits))
        items.append(aliased(value, symbol))
    head = write(exp.Select(expressions=items))
    plus = f"{head}, CAST(1 AS BIGINT) AS `{M}` FROM {quoted(model.target)}"
    minus = f"{head}, CAST(-1 AS BIGINT) AS `{M}` FROM (\n{recompute}\n) AS s"
    both = exp.Select(expressions=[exp.Star()]).from_("__ivm_both")
    return write(net(both, symbols)).replace("__ivm_both", f"({plus} UNION ALL {minus}) AS b")


def recorded_select(model: Model, record: Record, env: Environment) -> str:
    """The SELECT with every source at its recorded version; as written where our reading of it may not be Spark's."""

    def version_of(parts: Parts) -> exp.Expr | None:
        mark = record.sources.get(source_name(parts))
        return None if mark is None else versioned(parts, mark.version).args["version"]

    if not record.incremental:
        return _as_written(model)
    try:
        return write(inline_views(parse(model.sql), env, version_of))
    except NotIncremental:
        return _as_written(model)


def _as_written(model: Model) -> str:
    return model.sql.strip().rstrip(";")
