"""Spark SQL to DuckDB: names become versions of the lake's tables, a few functions get DuckDB's form."""

from __future__ import annotations

import re
from functools import lru_cache

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from dbt_ivm.parse.sql import parse
from tests.properties.duck_lake import Lake

SPARK_TYPES = {
    "INTEGER": "int",
    "BIGINT": "bigint",
    "HUGEINT": "bigint",
    "SMALLINT": "smallint",
    "TINYINT": "tinyint",
    "VARCHAR": "string",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "DOUBLE": "double",
    "FLOAT": "float",
}


class PlainDuck(DuckDB):
    """Without the rewrites of whole SELECTs: none of them is needed here, and each walks every nested SELECT again."""

    class Generator(DuckDB.Generator):
        TRANSFORMS = {key: value for key, value in DuckDB.Generator.TRANSFORMS.items() if key is not exp.Select}


def spark_type(text: str) -> str:
    """
    >>> spark_type("DECIMAL(38,2)"), spark_type("VARCHAR")
    ('decimal(38,2)', 'string')
    """
    return SPARK_TYPES.get(text) or text.lower()


@lru_cache(maxsize=256)
def parsed(text: str) -> exp.Expr:
    """For reading only: a case asks for the same few texts again and again."""
    return parse(text)


def to_duck(tree: exp.Expr, lake: Lake) -> str:
    tree = tree.copy()
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in list(tree.find_all(exp.Table)):
        if isinstance(table.this, exp.Func):
            replacement = _feed(table, lake)
        elif len(table.parts) == 1 and table.name.lower() in ctes:
            continue
        else:
            replacement = _relation(table, lake)
        if table is tree:
            tree = replacement
        else:
            table.replace(replacement)
    for node in list(tree.find_all(exp.Func, exp.DataType, exp.Join)):
        _mend(node)
    return PlainDuck().generate(tree, copy=False, comments=False)


def _relation(table: exp.Table, lake: Lake) -> exp.Expr:
    name = table.name.lower()
    alias = exp.TableAlias(this=exp.to_identifier(table.alias or table.name, quoted=True))
    if name in lake.views:
        inner = exp.maybe_parse(to_duck(parsed(lake.views[name]), lake), dialect="duckdb")
        return exp.Subquery(this=inner, alias=alias)
    version = table.args.get("version")
    number = int(version.expression.name) if version else None
    return exp.Table(this=exp.to_identifier(lake.at(name, number)), alias=alias)


def _feed(table: exp.Table, lake: Lake) -> exp.Expr:
    name, low, high = table.this.expressions
    last = re.split(r"\.(?=(?:[^`]*`[^`]*`)*[^`]*$)", name.name)[-1].strip("`").replace("``", "`").lower()
    text = lake.changes(last, int(low.name), int(high.name))
    alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier("feed"))
    return exp.Subquery(this=exp.maybe_parse(text, dialect="duckdb"), alias=alias)


def _mend(node: exp.Expr) -> None:
    if isinstance(node, exp.Join):
        if node.kind == "SEMI" or str(node.args.get("kind")).upper().endswith("SEMI"):
            node.set("side", None)
            node.set("kind", "SEMI")
        return
    if isinstance(node, exp.DataType):
        if node.this == exp.DType.TIMESTAMPTZ:
            node.set("this", exp.DType.TIMESTAMP)
        return
    name = node.name.lower() if isinstance(node, exp.Anonymous) else node.sql_name().lower()
    arguments = list(node.expressions)
    if name == "xxhash64":
        shifted = exp.BitwiseRightShift(
            this=exp.Anonymous(this="hash", expressions=arguments), expression=exp.Literal.number(1)
        )
        node.replace(exp.cast(exp.paren(shifted), "bigint"))
    elif name == "array_repeat":
        value, count = arguments if arguments else (node.this, node.args["times"])
        node.replace(exp.Anonymous(this="repeat", expressions=[exp.Array(expressions=[value]), count]))
    elif name == "explode":
        node.replace(exp.Anonymous(this="unnest", expressions=[node.this if not arguments else arguments[0]]))
    elif name == "raise_error":
        node.replace(exp.Anonymous(this="error", expressions=arguments))
