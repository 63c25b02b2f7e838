"""Runs a conversation: every statement through dbt's adapter, every failure back into the generator."""

from __future__ import annotations

import decimal
import textwrap
from collections.abc import Callable, Generator
from typing import Any

from dbt_common.exceptions import DbtBaseException

from dbt_ivm.errors import StatementFailed
from dbt_ivm.parse.sql import write
from dbt_ivm.protocol.rows import Rows
from dbt_ivm.strategy.work import Statement

Execute = Callable[[str, bool], Any]


def drive(steps: Generator[Statement, list, Any], execute: Execute, count: Callable[[Statement], None]) -> Any:
    """`execute(sql, fetch)` returns an agate table."""
    try:
        statement = next(steps)
        while True:
            count(statement)
            try:
                rows = (
                    _rows(execute(sql_of(statement), statement.fetch)) if statement.fetch else _run(execute, statement)
                )
            except DbtBaseException as problem:
                statement = steps.throw(StatementFailed(spark_message(str(problem))))
                continue
            statement = steps.send(rows)
    except StopIteration as done:
        return done.value


def spark_message(text: str) -> str:
    """Spark's own words, without the headings that dbt puts above them.

    >>> spark_message("Runtime Error\\n  Runtime Error\\n    [DIVIDE_BY_ZERO] Division by zero.\\n    Use try_divide.")
    '[DIVIDE_BY_ZERO] Division by zero.\\nUse try_divide.'
    """
    lines = text.splitlines()
    while lines and lines[0].strip() in ("", "Runtime Error", "Database Error"):
        lines.pop(0)
    return textwrap.dedent("\n".join(lines)).strip()


def sql_of(statement: Statement) -> str:
    return statement.sql if isinstance(statement.sql, str) else write(statement.sql)


def _run(execute: Execute, statement: Statement) -> Rows:
    execute(sql_of(statement), False)
    return Rows([], [])


def _rows(table: Any) -> Rows:
    def plain(value: Any) -> Any:
        return int(value) if isinstance(value, decimal.Decimal) and value == value.to_integral_value() else value

    return Rows([[plain(value) for value in row] for row in table.rows], list(table.column_names))
