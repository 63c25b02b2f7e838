"""What cannot be maintained yet: one function per refusal, each with its reason and code."""

from __future__ import annotations

import re

from sqlglot import exp

from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.functions import CLOCK_WITHOUT_ARGUMENT, GENERATORS, NON_DETERMINISTIC, names_of

_CLOCK_WORD = re.compile(r"\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)
_LIKE_A_SYMBOL = re.compile(r".*_\d+\Z", re.DOTALL)


def refuse_statement(tree: exp.Expr) -> None:
    if not isinstance(tree, exp.Query):
        raise NotIncremental("not_a_select", f"a model must be a SELECT, found {tree.key.upper()}")


def refuse_clock(tree: exp.Expr) -> None:
    """The whole query before anything else: whatever the reason, what follows the clock is recomputed at every run."""
    for node in tree.walk():
        refuse_clock_word(node)
        for name in names_of(node):
            if name in NON_DETERMINISTIC or (name in CLOCK_WITHOUT_ARGUMENT and not list(node.iter_expressions())):
                raise NotIncremental(
                    "non_deterministic", f"{name}() does not return the same value twice: recomputed at every run"
                )


def refuse_clauses(select: exp.Select) -> None:
    """Clauses that are no filter, projection, join or grouping."""
    refused = {
        "limit": ("limit", "LIMIT has no incremental law yet"),
        "offset": ("limit", "OFFSET has no incremental law yet"),
        "laterals": ("lateral_view", "LATERAL VIEW has no incremental law yet"),
        "qualify": ("window", "QUALIFY has no incremental law yet"),
        "windows": ("window", "WINDOW has no incremental law yet"),
        "pivots": ("pivot", "PIVOT has no incremental law yet"),
        "match": ("unsupported_clause", "MATCH_RECOGNIZE has no incremental law"),
        "connect": ("unsupported_clause", "CONNECT BY has no incremental law"),
        "kind": ("unsupported_clause", "SELECT AS STRUCT or VALUE has no incremental law"),
        "into": ("not_a_select", "SELECT INTO is not a SELECT"),
        "sample": ("sample", "TABLESAMPLE is not deterministic"),
    }
    for key, (code, text) in refused.items():
        if select.args.get(key):
            raise NotIncremental(code, text)
    distinct = select.args.get("distinct")
    if distinct and distinct.args.get("on"):
        raise NotIncremental("unsupported_clause", "DISTINCT ON has no incremental law")
    for node in select.args.get("operation_modifiers") or []:
        raise NotIncremental("unsupported_clause", f"{node} has no incremental law")
    for key in ("sort", "cluster", "distribute"):
        if select.args.get(key):
            raise NotIncremental("unsupported_clause", f"{key.upper()} BY has no meaning in a view")


def refuse_table(table: exp.Expr) -> None:
    if isinstance(table, exp.Table) and isinstance(table.this, exp.Func):
        raise NotIncremental("table_function", "a table function in FROM has no incremental law yet")
    if isinstance(table, exp.Lateral | exp.Unnest | exp.Values | exp.TableFromRows):
        raise NotIncremental("table_function", f"{table.key.upper()} in FROM has no incremental law yet")
    if table.args.get("sample") or isinstance(table, exp.TableSample):
        raise NotIncremental("sample", "TABLESAMPLE is not deterministic")
    if table.args.get("pivots"):
        raise NotIncremental("pivot", "PIVOT and UNPIVOT have no incremental law yet")
    if isinstance(table, exp.Table) and (
        table.args.get("version") or table.args.get("when") or table.args.get("changes")
    ):
        raise NotIncremental("time_travel", "a source with its own VERSION or TIMESTAMP does not move with its table")


def refuse_join(join: exp.Join) -> None:
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if side or kind in ("OUTER", "SEMI", "ANTI") or (join.method or "").upper() not in ("", "NATURAL"):
        words = " ".join(word for word in (join.method, side, kind) if word)
        raise NotIncremental("join_kind", f"a {words} JOIN has no incremental law yet", "an inner join is incremental")


def refuse_expression(expression: exp.Expr) -> None:
    """Deterministic, one row in and one value out."""
    for node in expression.walk():
        if isinstance(node, exp.Subquery | exp.Query | exp.Exists) or node.args.get("query"):
            raise NotIncremental(
                "subquery", "a subquery in an expression has no incremental law yet", "write it as a join"
            )
        if isinstance(node, exp.Window):
            raise NotIncremental("window", "a window function has no incremental law yet")
        if isinstance(node, exp.Parameter | exp.Placeholder | exp.SessionParameter):
            raise NotIncremental("parameter", "a parameter or variable is not part of the definition")
        for name in names_of(node):
            if name in GENERATORS:
                raise NotIncremental("generator", f"{name}() makes several rows of one and has no incremental law yet")
        if isinstance(node, exp.Explode | exp.Posexplode | exp.Inline):
            raise NotIncremental("generator", f"{node.key}() makes several rows of one and has no incremental law yet")
        refuse_lambda(node)
        refuse_implicit_names(node)


def refuse_clock_word(node: exp.Expr) -> None:
    """Spark casts 'now' and 'today' to a moment, also implicitly beside a date; only a plain text column cannot be cast."""
    if not (isinstance(node, exp.Literal) and node.is_string and _CLOCK_WORD.match(node.name)):
        return
    if isinstance(node.parent, exp.Alias | exp.Select) or _is_text_branch(node):
        return
    raise NotIncremental("non_deterministic", f"'{node.name}' may be read as a moment in time: recomputed at every run")


def _is_text_branch(node: exp.Expr) -> bool:
    """One of several results of CASE, all of them texts."""
    case = node.find_ancestor(exp.Case)
    if case is None or not isinstance(case.parent, exp.Alias | exp.Select | None):
        return False
    results = [*(branch.args["true"] for branch in case.args["ifs"]), *filter(None, [case.args.get("default")])]
    is_text = all(isinstance(result, exp.Literal) and result.is_string for result in results)
    return is_text and any(node is result for result in results)


def refuse_lambda(node: exp.Expr) -> None:
    """A variable must not be taken for a column, nor a column's symbol for the variable."""
    if not isinstance(node, exp.Lambda):
        return
    variables = {variable.name.lower() for variable in node.expressions}
    for variable in variables:
        if _LIKE_A_SYMBOL.match(variable):
            raise NotIncremental(
                "lambda_variable", f"the lambda variable `{variable}` could hide a column", "rename it"
            )
    for name in node.find_all(exp.Column):
        if name.parts[0].name.lower() in variables:
            raise NotIncremental(
                "lambda_variable", f"`{name.sql()}` is spelled unlike the lambda variable it means", "spell both alike"
            )


def refuse_implicit_names(node: exp.Expr) -> None:
    """Spark names the fields of some structs after the columns they are made of, and ours have other names."""
    is_row = isinstance(node, exp.Tuple) and not isinstance(node.parent, exp.In | exp.Predicate | exp.Tuple)
    if is_row or isinstance(node, exp.ArraysZip):
        raise NotIncremental(
            "implicit_field_names",
            "a struct whose fields are not named has no incremental law yet",
            "use named_struct()",
        )
