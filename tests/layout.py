"""Generated SQL laid out for reading: whatever fits stays on one line."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.dialects.spark import Spark

WIDTH = 110
CLAUSES = ("SELECT", "SELECT DISTINCT", "WHERE", "GROUP BY", "HAVING")


class _Compact(Spark.Generator):
    def expressions(self, *args: Any, flat: bool = False, **kwargs: Any) -> str:
        line = super().expressions(*args, flat=True, **kwargs)
        return line if len(line) <= WIDTH and "\n" not in line else super().expressions(*args, flat=flat, **kwargs)

    def case_sql(self, expression: exp.Case) -> str:
        line = expression.sql("spark")
        return line if len(line) <= WIDTH else super().case_sql(expression)

    def paren_sql(self, expression: exp.Paren) -> str:
        line = expression.sql("spark")
        return line if len(line) <= WIDTH else super().paren_sql(expression)


def laid_out(tree: exp.Expr) -> str:
    lines: list[str] = []
    for line in _Compact(dialect="spark", pretty=True, comments=False).generate(tree).splitlines():
        above = lines[-1].strip() if lines else ""
        if above in CLAUSES:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return "\n".join(lines)
