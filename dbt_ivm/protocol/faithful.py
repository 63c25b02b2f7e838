"""Spark checks our reading: it must see the same plan in the user's text and in ours, upstream views inlined.

The analysis could have changed a meaning (sqlglot reads `to_date(x, fmt)` without its format): then the SELECT runs as
written, in full. Asked once per definition, before its first build.
"""

from __future__ import annotations

import re
from collections.abc import Generator

from sqlglot import exp

from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.functions import AGGREGATES, GENERATORS
from dbt_ivm.parse.sql import parse, write
from dbt_ivm.protocol.environment import Environment, Model
from dbt_ivm.protocol.inline import inline_views
from dbt_ivm.protocol.rows import Rows
from dbt_ivm.strategy.work import Statement

_OPTIMIZED = re.compile(r"== Optimized Logical Plan ==\n(.*?)\n\n?== Physical Plan ==", re.S)
_CUT = re.compile(r"\.\.\. ?\d+ more")
_ID = re.compile(r"#(\d+)(L?)")
_COMMON = re.compile(r"_common_expr_\d+")
_SYNONYMS = {
    "substr": "substring",
    "ucase": "upper",
    "lcase": "lower",
    "ceiling": "ceil",
    "signum": "sign",
    "power": "pow",
    "char_length": "length",
    "character_length": "length",
    "len": "length",
    "dayofmonth": "day",
    "dateadd": "date_add",
    "date_diff": "datediff",
    "mean": "avg",
    "every": "bool_and",
    "some": "bool_or",
    "any": "bool_or",
    "std": "stddev",
    "stddev_samp": "stddev",
    "var_samp": "variance",
    "first_value": "first",
    "last_value": "last",
}
"""One expression of Spark under several names; its plans show the name that was written."""
_NAME = re.compile(r"\b(" + "|".join(_SYNONYMS) + r")(?=\()")


def check_faithful(model: Model, env: Environment) -> Generator[Statement, Rows, None]:
    tree = inline_views(parse(model.sql), env)
    plans = yield from _plans((model.sql.strip().rstrip(";"), write(tree)), env)
    if not plans[0] or plans[0] != plans[1]:
        raise NotIncremental(
            "unfaithful_reading", "the analysis would change the meaning of this SELECT: it runs as written, in full"
        )
    functions = {str(node.this).lower() for node in tree.find_all(exp.Anonymous)}
    if functions:
        rows = yield Statement("functions", "SHOW SYSTEM FUNCTIONS", fetch=True)
        known = {str(row[0]).lower() for row in rows}
        for name in sorted(functions - known - AGGREGATES - GENERATORS):
            raise NotIncremental(
                "unknown_function",
                f"{name}() is not one of Spark's own functions: whether it is deterministic cannot be known",
            )


def _plans(texts: tuple[str, ...], env: Environment) -> Generator[Statement, Rows, list[str]]:
    """Threads share the session's settings; and Spark describes every later plan at the same length, which costs seconds."""
    with env.memory.lock("plans"):
        yield Statement("print whole plans", "SET spark.sql.debug.maxToStringFields=10000")
        plans = []
        try:
            for text in texts:
                rows = yield Statement("explain", f"EXPLAIN EXTENDED {text}", fetch=True)
                plans.append(optimized(str(rows[0][0])))
        finally:
            yield Statement("print short plans", "RESET spark.sql.debug.maxToStringFields")
        return plans


def optimized(plan: str) -> str:
    """The optimized plan with expression ids renumbered in order of appearance; empty if it was cut.

    >>> optimized("== Optimized Logical Plan ==\\nJoin Cross, (a#7 < b#9)\\n\\n== Physical Plan ==\\n")
    'Join Inner, (a#0 < b#1)'
    """
    match = _OPTIMIZED.search(plan)
    if not match or _CUT.search(match.group(1)):
        return ""
    ids: dict[str, str] = {}
    # Spark numbers what nullif() and the like evaluate once across all queries of a session.
    plan = _COMMON.sub("_common_expr", match.group(1))
    text = _ID.sub(lambda m: f"#{ids.setdefault(m.group(1), str(len(ids)))}{m.group(2)}", plan)
    # A comma is written as CROSS JOIN; Spark plans both alike.
    return _NAME.sub(lambda m: _SYNONYMS[m.group(1)], text).replace("Join Cross", "Join Inner")
