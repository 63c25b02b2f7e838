"""Spark SQL on DuckDB, by transpiling: fast enough to execute every fixture."""

from __future__ import annotations

from collections import Counter

import duckdb
import sqlglot
from sqlglot import exp

from tests.tables import TABLES

CHANGES = {
    "t": [
        ("delete", (1, "a", 10, 1)),
        ("update_preimage", (2, "a", 20, 2)),
        ("update_postimage", (2, "a", 21, 2)),
        ("delete", (3, "B", 7, 7)),
        ("insert", (3, "B", 7, 7)),
        ("delete", (None, None, None, None)),
        ("insert", (4, "d", 1, 1)),
        ("insert", (4, "d", 1, 1)),
        ("insert", (1, "b", 10, None)),
        ("insert", (9, "z", 9, 9)),
        ("delete", (9, "z", 9, 9)),
    ],
    "u": [
        ("delete", (2, 200, 5)),
        ("insert", (4, 400, 1)),
        ("update_preimage", (1, 100, 10)),
        ("update_postimage", (1, 100, 21)),
        ("insert", (None, 1, None)),
    ],
    "v": [("insert", (400, 4, "r")), ("delete", (200, 2, "q"))],
    "n": [("insert", ("o",)), ("delete", ("m",))],
}
"""What happened to a table between Pre and Post, as its feed tells it."""


def connect() -> duckdb.DuckDBPyConnection:
    """Tables `t_pre`, `t_post` and `t_changes`; `set_changed` says which of the first two is `t`."""
    connection = duckdb.connect()
    for name, changes in CHANGES.items():
        columns, values = TABLES[name]
        names = ", ".join(f'"{column}" {type_}' for column, type_ in columns)
        connection.execute(f"CREATE TABLE {name}_pre ({names})")
        connection.execute(f"INSERT INTO {name}_pre VALUES {values}")
        connection.execute(f"CREATE TABLE {name}_changes ({names}, _change_type STRING)")
        marks = ", ".join("?" for _ in range(len(columns) + 1))
        connection.executemany(f"INSERT INTO {name}_changes VALUES ({marks})", [[*row, kind] for kind, row in changes])
        gone, new = (
            f"SELECT * EXCLUDE (_change_type) FROM {name}_changes WHERE _change_type IN {kinds}"
            for kinds in (("delete", "update_preimage"), ("insert", "update_postimage"))
        )
        connection.execute(
            f"CREATE TABLE {name}_post AS (SELECT * FROM {name}_pre UNION ALL {new}) EXCEPT ALL ({gone})"
        )
    set_changed(connection, ())
    return connection


def set_changed(connection: duckdb.DuckDBPyConnection, changed: tuple[str, ...]) -> None:
    for name in CHANGES:
        moment = "post" if name in changed else "pre"
        connection.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM {name}_{moment}")


def run(connection: duckdb.DuckDBPyConnection, text: str) -> list[tuple]:
    tree = sqlglot.parse_one(text, read="spark").transform(_for_duckdb)
    return connection.execute(tree.sql("duckdb")).fetchall()


def bag(rows: list[tuple]) -> Counter:
    return Counter(map(repr, rows))


def _for_duckdb(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Func) and node.sql_name().lower() == "xxhash64" or _is_named(node, "xxhash64"):
        return exp.Anonymous(this="hash", expressions=list(node.iter_expressions()))
    if isinstance(node, exp.Join) and node.kind == "SEMI":
        node.set("side", None)
    return node


def _is_named(node: exp.Expr, name: str) -> bool:
    return isinstance(node, exp.Anonymous) and str(node.this).lower() == name
