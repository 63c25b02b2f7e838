"""Random tables: kinds of columns, hostile names, values full of NULLs and duplicates."""

from __future__ import annotations

from dataclasses import dataclass

from tests.properties.choose import Choose

TYPES = {
    "int": "INT",
    "bigint": "BIGINT",
    "smallint": "SMALLINT",
    "string": "STRING",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "decimal": "DECIMAL(10,2)",
    "double": "DOUBLE",
    "special": "DOUBLE",
    "zeros": "DOUBLE",
    "array": "ARRAY<INT>",
    "struct": "STRUCT<a: INT, b: STRING>",
    "map": "MAP<STRING, INT>",
    "floats": "ARRAY<DOUBLE>",
}
"""Kinds to Spark types. Doubles are exact in binary, so that no order of summing matters; `special` has NaN and Infinity;
`zeros` has both zeros, which MIN and MAX may take for one another."""

VALUES = {
    "int": ("1", "2", "3", "0", "-1", "7"),
    "bigint": ("1", "2", "3", "-4", "3000000000"),
    "smallint": ("1", "2", "0", "-2"),
    "string": ("'a'", "'b'", "'A'", "''", "'a b'", "'é'"),
    "boolean": ("true", "false"),
    "date": ("DATE '2024-01-01'", "DATE '2024-02-29'", "DATE '1969-12-31'"),
    "timestamp": ("TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP '2024-01-01 12:30:00.5'"),
    "decimal": ("1.10", "2.25", "0.00", "-3.05", "99999.99"),
    "double": ("1.5", "0.25", "2.0", "-4.0"),
    "ratio": ("CAST('0.5' AS DOUBLE)",),
    "special": ("1.5", "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "CAST('-Infinity' AS DOUBLE)"),
    "zeros": ("CAST('0.0' AS DOUBLE)", "CAST('-0.0' AS DOUBLE)", "CAST('NaN' AS DOUBLE)", "CAST('1.0' AS DOUBLE)"),
    "array": ("array(1, 2)", "array(2, 1)", "array(CAST(NULL AS INT))", "CAST(array() AS ARRAY<INT>)"),
    "struct": ("named_struct('a', 1, 'b', 'x')", "named_struct('a', CAST(NULL AS INT), 'b', 'x')"),
    "map": ("map('a', 1, 'b', 2)", "map('b', 2, 'a', 1)", "map('a', CAST(NULL AS INT))"),
    "floats": ("array(CAST('-0.0' AS DOUBLE))", "array(CAST('0.0' AS DOUBLE))", "array(CAST('NaN' AS DOUBLE))"),
}

INTEGRAL = ("int", "bigint", "smallint")
FLOATING = ("double", "special", "zeros", "ratio")
NESTED = ("array", "struct", "map", "floats")
PLAIN_KINDS = ("int", "string", "decimal", "double", "bigint", "date", "boolean", "smallint", "timestamp", "special")
SPARK_KINDS = (*PLAIN_KINDS, "zeros", "array", "struct", "map", "floats")

TABLE_NAMES = ("t", "u", "order", "Group")
COLUMN_NAMES = ("x", "y", "z", "select", "Mixed", "dotted.name", "tick`ed", "count", "größe")
SPACED_NAME = "a b"
RESERVED = ("select", "order", "group", "from", "count")
FEED = "'delta.enableChangeDataFeed' = 'true'"
MAPPING = "'delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5'"


@dataclass(frozen=True)
class Column:
    name: str
    kind: str


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    has_feed: bool = True

    @property
    def sql_name(self) -> str:
        return f"{{s}}.{quote(self.name)}"

    @property
    def properties(self) -> str:
        parts = [FEED] if self.has_feed else []
        if any(" " in column.name for column in self.columns):
            parts.append(MAPPING)
        return f" TBLPROPERTIES ({', '.join(parts)})" if parts else ""

    def create(self) -> str:
        columns = ", ".join(f"{quote(column.name)} {TYPES[column.kind]}" for column in self.columns)
        return f"CREATE TABLE {self.sql_name} ({columns}) USING delta{self.properties}"


def quote(name: str) -> str:
    plain = name.isascii() and name.replace("_", "").isalnum() and name.lower() not in RESERVED
    return name if plain else f"`{name.replace('`', '``')}`"


def tables(choose: Choose, kinds: tuple[str, ...], low: int = 1, high: int = len(TABLE_NAMES)) -> list[Table]:
    """One to four; every table has a key `k`, and names recur, so that USING and NATURAL find something."""
    made = []
    for i in range(choose.number(low, high)):
        names = choose.some(COLUMN_NAMES, 1, 3)
        if choose.chance(5):
            names.append(SPACED_NAME)
        columns = [Column("k", choose.of(("int", "int", "bigint", "string")))]
        columns += [Column(name, choose.of(kinds)) for name in names]
        made.append(Table(TABLE_NAMES[i], tuple(columns), has_feed=not choose.chance(12)))
    return made


def value(choose: Choose, kind: str) -> str:
    return "NULL" if choose.chance(20) else choose.of(VALUES[kind])


def row(choose: Choose, table: Table) -> tuple[str, ...]:
    return tuple(value(choose, column.kind) for column in table.columns)


def insert(table: Table, rows: list[tuple[str, ...]]) -> str:
    return f"INSERT INTO {table.sql_name} VALUES " + ", ".join(f"({', '.join(values)})" for values in rows)


def rows(choose: Choose, table: Table, low: int, high: int) -> list[tuple[str, ...]]:
    """Duplicates on purpose."""
    made = [row(choose, table) for _ in range(choose.number(low, high))]
    return made + ([choose.of(made)] if made and choose.chance(30) else [])
