"""Random batches of changes, as SQL on the sources."""

from __future__ import annotations

from tests.properties.choose import Choose
from tests.properties.schema import FLOATING, INTEGRAL, NESTED, Column, Table, insert, quote, row, rows, value

COMPARABLE_KINDS = ("int", "bigint", "smallint", "string", "date", "decimal", "double", "timestamp")


def batches(choose: Choose, tables: list[Table], low: int = 1, high: int = 3) -> list[list[str]]:
    return [_batch(choose, tables) for _ in range(choose.number(low, high))]


def _batch(choose: Choose, tables: list[Table]) -> list[str]:
    statements: list[str] = []
    for _ in range(choose.number(1, 3)):
        table = choose.of(tables)
        statements += choose.of(CHANGES)(choose, table)
    return statements


def thorough_batch(choose: Choose, tables: list[Table]) -> list[str]:
    """Something happens to every table."""
    statements = []
    for table in tables:
        statements += [insert(table, rows(choose, table, 1, 2)), *choose.of(CHANGES)(choose, table)]
    return statements


def _insert(choose: Choose, table: Table) -> list[str]:
    return [insert(table, rows(choose, table, 1, 3))]


def _delete(choose: Choose, table: Table) -> list[str]:
    return [f"DELETE FROM {table.sql_name} WHERE {predicate(choose, table)}"]


def _update(choose: Choose, table: Table) -> list[str]:
    column = choose.of(table.columns)
    return [
        f"UPDATE {table.sql_name} SET {quote(column.name)} = {_new_value(choose, column)} "
        f"WHERE {predicate(choose, table)}"
    ]


def _update_key(choose: Choose, table: Table) -> list[str]:
    column = table.columns[0]
    return [
        f"UPDATE {table.sql_name} SET {quote(column.name)} = {value(choose, column.kind)} "
        f"WHERE {predicate(choose, table)}"
    ]


def _insert_then_delete(choose: Choose, table: Table) -> list[str]:
    new = row(choose, table)
    return [insert(table, [new, new]), f"DELETE FROM {table.sql_name} WHERE {_exactly(table, new)}"]


def _delete_then_insert(choose: Choose, table: Table) -> list[str]:
    old = row(choose, table)
    return [f"DELETE FROM {table.sql_name} WHERE {_exactly(table, old)}", insert(table, [old])]


def _empty(choose: Choose, table: Table) -> list[str]:
    return [f"DELETE FROM {table.sql_name}"]


def _refill(choose: Choose, table: Table) -> list[str]:
    return [f"DELETE FROM {table.sql_name}", insert(table, rows(choose, table, 1, 4))]


def _overwrite(choose: Choose, table: Table) -> list[str]:
    return [f"INSERT OVERWRITE {table.sql_name} SELECT * FROM {table.sql_name} WHERE {predicate(choose, table)}"]


def _replace_table(choose: Choose, table: Table) -> list[str]:
    where = f" WHERE {predicate(choose, table)}" if choose.chance(50) else ""
    return [
        f"CREATE OR REPLACE TABLE {table.sql_name} USING delta{table.properties} AS "
        f"SELECT * FROM {table.sql_name}{where}"
    ]


def _nothing(choose: Choose, table: Table) -> list[str]:
    column = quote(table.columns[-1].name)
    return choose.of(
        (
            [f"UPDATE {table.sql_name} SET {column} = {column}"],
            [f"DELETE FROM {table.sql_name} WHERE false"],
            [],
        )
    )


def _duplicate(choose: Choose, table: Table) -> list[str]:
    return [f"INSERT INTO {table.sql_name} SELECT * FROM {table.sql_name} WHERE {predicate(choose, table)}"]


CHANGES = (
    _insert,
    _insert,
    _insert,
    _delete,
    _delete,
    _update,
    _update,
    _update_key,
    _insert_then_delete,
    _delete_then_insert,
    _refill,
    _duplicate,
    _empty,
    _overwrite,
    _replace_table,
    _nothing,
)


def _exactly(table: Table, values: tuple[str, ...]) -> str:
    """The row itself, as far as `<=>` can compare."""
    pairs = zip(table.columns, values, strict=True)
    return " AND ".join(f"{quote(c.name)} <=> {v}" for c, v in pairs if c.kind not in NESTED)


def _new_value(choose: Choose, column: Column) -> str:
    if column.kind in INTEGRAL and choose.chance(40):
        return f"CAST({quote(column.name)} + 1 AS {column.kind.upper()})"
    return value(choose, column.kind)


def predicate(choose: Choose, table: Table) -> str:
    column = choose.of(table.columns)
    name = quote(column.name)
    if column.kind in NESTED or choose.chance(15):
        return f"{name} IS {choose.of(('', 'NOT '))}NULL"
    if column.kind in FLOATING and column.kind != "double":
        return f"{name} <=> {value(choose, column.kind)}"
    if column.kind == "boolean":
        return name
    return f"{name} {choose.of(('=', '<>', '<', '>='))} {value(choose, column.kind)}"
