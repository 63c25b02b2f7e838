"""The oracle: view = SELECT over the recorded source versions, as a bag, to the bit, names and types included."""

from __future__ import annotations

from collections.abc import Generator

from sqlglot import exp

from dbt_ivm.algebra.relations import column
from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.sql import parse, write
from dbt_ivm.protocol.environment import Environment, Model, lowered, source_name
from dbt_ivm.protocol.observe import quoted
from dbt_ivm.render.relations import M, aliased, net, select
from dbt_ivm.render.sources import versioned
from dbt_ivm.state.record import Record
from dbt_ivm.strategy.work import Statement


def difference(model: Model, env: Environment, float_digits: int | None = None) -> Generator[Statement, list, str]:
    """A SELECT that returns the rows of either side which the other lacks; none if all is well."""
    record = Record.from_text(env.entry(model.target).text)
    recompute = recorded_select(model, record, env) if record else model.sql
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
    """The SELECT with every source at its recorded version; as written where it cannot be read."""
    try:
        tree = parse(model.sql)
        return write(_pinned(tree, record, env, 0))
    except NotIncremental:
        return model.sql.strip().rstrip(";")


def _pinned(tree: exp.Expr, record: Record, env: Environment, depth: int) -> exp.Expr:
    if depth > 60:
        raise NotIncremental("view_depth", "views refer to each other too deeply")
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in list(tree.find_all(exp.Table)):
        parts = tuple(part.name for part in table.parts)
        if not isinstance(table.this, exp.Identifier) or (len(parts) == 1 and parts[0].lower() in ctes):
            continue
        mark = record.sources.get(source_name(parts))
        if mark is not None:
            table.set("version", versioned(parts, mark.version).args["version"])
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(parts[-1], quoted=True)))
            continue
        entry = env.entry(lowered(parts))
        if entry.kind == "view" and entry.text:
            inner = parse(entry.text)
            for inside in inner.find_all(exp.Table):
                inside.set("version", None)
            pinned = _pinned(inner, record, env, depth + 1)
            table.replace(
                exp.Subquery(
                    this=pinned, alias=exp.TableAlias(this=exp.to_identifier(table.alias or parts[-1], quoted=True))
                )
            )
    return tree
