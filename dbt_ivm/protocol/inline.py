"""A SELECT with the views it reads put in place, so that Spark sees exactly what the analysis saw."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.ctes import is_cte
from dbt_ivm.parse.sql import parse
from dbt_ivm.protocol.environment import Environment, Parts, lowered
from dbt_ivm.state.record import Record

MAX_DEPTH = 60


def inline_views(
    tree: exp.Expr, env: Environment, version_of: Callable[[Parts], exp.Expr | None] | None = None, depth: int = 0
) -> exp.Expr:
    """`version_of` pins tables to versions; without it they are read as they are."""
    if depth > MAX_DEPTH:
        raise NotIncremental("view_depth", "views refer to each other in a circle or too deeply")
    tables = [table for table in tree.find_all(exp.Table) if not is_cte(table)]
    for table in tables:
        parts = tuple(part.name for part in table.parts)
        if not isinstance(table.this, exp.Identifier):
            continue
        version = version_of(parts) if version_of else None
        if version is not None:
            table.set("version", version)
            if not table.alias:
                table.set("alias", _alias(parts[-1]))
            continue
        entry = env.entry(lowered(parts))
        if entry.kind == "view" and entry.text:
            inner = parse(entry.text)
            if version_of:
                for inside in inner.find_all(exp.Table):
                    inside.set("version", None)
            names = entry.columns if Record.from_text(entry.text) is None else ()
            alias = table.args.get("alias") or _alias(parts[-1])
            if names and not alias.args.get("columns"):
                alias.set("columns", [exp.to_identifier(name, quoted=True) for name in names])
            body = inline_views(inner, env, version_of, depth + 1)
            replacement = exp.Subquery(this=body, alias=alias)
            for key in ("joins", "laterals"):
                if table.args.get(key):
                    replacement.set(key, table.args[key])
            table.replace(replacement)
    return tree


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name, quoted=True))
