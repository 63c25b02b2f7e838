"""Reading and writing Spark SQL text."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType

from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.dialect import SparkAsWritten

DIALECT = SparkAsWritten


def parse(text: str) -> exp.Expr:
    """One statement, or the coded reason why it cannot be read."""
    try:
        statements = [tree for tree in sqlglot.parse(text, read=DIALECT) if tree is not None]
    except (SqlglotError, RecursionError) as problem:
        line = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise NotIncremental("unreadable_sql", f"the SELECT could not be analysed: {line}") from problem
    if len(statements) != 1:
        raise NotIncremental("unreadable_sql", f"expected one statement, found {len(statements)}")
    return statements[0]


def write(tree: exp.Expr, *, pretty: bool = False) -> str:
    return tree.sql(dialect=DIALECT, comments=False, pretty=pretty)


def normalised(text: str) -> str:
    """The text without what does not change its meaning: comments, whitespace, formatting, case of keywords.

    >>> normalised("select  a -- all of them\\n from t") == normalised("SELECT a FROM t")
    True
    >>> normalised("select 'a  b'") == normalised("select 'a b'")
    False
    """
    try:
        return write(parse(text))
    except NotIncremental:
        return _tokens(text)


def _tokens(text: str) -> str:
    try:
        tokens = sqlglot.tokenize(text, read=DIALECT)
    except SqlglotError:
        return text
    words = (
        token.text if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER) else token.text.lower()
        for token in tokens
    )
    return "\x1f".join(words)
