"""Which names in FROM are CTEs and which are tables: by the place they stand at."""

from __future__ import annotations

from sqlglot import exp


def is_cte(table: exp.Table) -> bool:
    """A CTE is seen by the query behind its WITH and by the CTEs after it, not by itself.

    >>> from dbt_ivm.parse.sql import parse
    >>> query = parse("WITH t AS (SELECT * FROM t), u AS (SELECT * FROM t) SELECT * FROM u")
    >>> sorted((table.name, is_cte(table)) for table in query.find_all(exp.Table))
    [('t', False), ('t', True), ('u', True)]
    """
    if len(table.parts) != 1:
        return False
    above: list[exp.Expr] = [table]
    while (parent := above[-1].parent) is not None:
        above.append(parent)
    return any(
        cte.alias.lower() == table.name.lower()
        for query in above
        if (with_ := query.args.get("with_") or query.args.get("with"))
        for cte in _seen(with_, above)
    )


def _seen(with_: exp.With, above: list[exp.Expr]) -> list[exp.Expr]:
    own = next((i for i, cte in enumerate(with_.expressions) if any(cte is node for node in above)), None)
    if own is None:
        return with_.expressions
    return with_.expressions[: own + 1] if with_.args.get("recursive") else with_.expressions[:own]
