"""Reading and writing Spark SQL text."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

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
    # What cannot be written back is found by comparing plans; a warning would only puzzle the user.
    return tree.sql(dialect=DIALECT, comments=False, pretty=pretty, unsupported_level=ErrorLevel.IGNORE)


def normalised(text: str) -> str:
    """The text without what does not change its meaning: comments, whitespace, formatting, case of keywords.

    The tree alone would not do: sqlglot drops what it does not know of Spark. The tokens alone neither: names keep their
    case in the output, keywords do not matter.

    >>> normalised("select  a -- all of them\\n from t;") == normalised("SELECT a FROM t")
    True
    >>> normalised("select 'a  b'") == normalised("select 'a b'")
    False
    >>> normalised("select to_date(a, 'yyyy')") == normalised("select to_date(a, 'dd')")
    False
    >>> normalised("select A from t") == normalised("select a from t")
    False
    """
    try:
        return "\x1f".join((write(parse(text)), _tokens(text)))
    except NotIncremental:
        return _tokens(text)


def _tokens(text: str) -> str:
    try:
        tokens = sqlglot.tokenize(text, read=DIALECT)
    except SqlglotError:
        return text
    words = [text[token.start : token.end + 1] for token in tokens]
    while words and words[-1] == ";":
        words.pop()
    return "\x1f".join(word if any(quote in word for quote in "'\"`") else word.lower() for word in words)
