"""Delta tables simulated in DuckDB: every version is a table of its own, every commit knows its change feed.

As in Delta, a statement that changes no row makes no commit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import duckdb


@dataclass(frozen=True)
class Version:
    number: int
    timestamp: datetime
    operation: str
    parameters: dict
    metrics: dict
    physical: str
    feed: tuple[tuple[str, str], ...] = ()
    """(change type, rows that went or came), as SELECTs."""


@dataclass
class LakeTable:
    id: str
    properties: dict[str, str] = field(default_factory=dict)
    versions: list[Version] = field(default_factory=list)

    @property
    def head(self) -> Version:
        return self.versions[-1]


class Lake:
    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.tables: dict[str, LakeTable] = {}
        self.views: dict[str, str] = {}
        self.clock = datetime(2026, 1, 1)
        self._made: list[str] = []
        self._rows: dict[str, int] = {}

    def run(self, sql: str) -> list[tuple]:
        return self.connection.execute(sql).fetchall()

    def close(self) -> None:
        drops = "; ".join(f"DROP TABLE IF EXISTS {name}" for name in self._made)
        self.connection.execute(f"BEGIN; {drops}; COMMIT" if drops else "SELECT 1")

    def fresh(self, query: str) -> str:
        """A new table of these rows."""
        name = f"p{len(self._made)}"
        self._made.append(name)
        self._rows[name] = self.run(f"CREATE TABLE {name} AS {query}")[0][0]
        return name

    def count(self, physical: str) -> int:
        return self._rows[physical]

    def add(self, physical: str, columns: str, rows: str) -> int:
        count = self.run(f"INSERT INTO {physical}{columns} {rows}")[0][0]
        self._rows[physical] += count
        return count

    def columns(self, query: str) -> list[tuple[str, str]]:
        return [(row[0], row[1]) for row in self.run(f"DESCRIBE {query}")]

    def commit(
        self, table: LakeTable, operation: str, physical: str, feed=(), parameters: dict | None = None, metrics=None
    ) -> None:
        self.clock += timedelta(seconds=1)
        number = table.head.number + 1 if table.versions else 0
        version = Version(number, self.clock, operation, parameters or {}, metrics or {}, physical, tuple(feed))
        table.versions.append(version)

    def create(self, name: str, select: str, properties: dict[str, str]) -> None:
        """CREATE OR REPLACE TABLE ... AS; HUGEINT is what DuckDB sums integers to, where Spark says bigint."""
        columns = self.columns(select)
        if any(type_ == "HUGEINT" for _, type_ in columns):
            items = ", ".join(
                f"CAST({_quoted(c)} AS BIGINT) AS {_quoted(c)}" if type_ == "HUGEINT" else _quoted(c)
                for c, type_ in columns
            )
            select = f"SELECT {items} FROM ({select})"
        physical = self.fresh(select)
        table = self.tables.get(name)
        feed = [("insert", f"SELECT * FROM {physical}")]
        operation = "CREATE TABLE AS SELECT"
        if table is not None:
            operation = "CREATE OR REPLACE TABLE AS SELECT"
            feed.insert(0, ("delete", f"SELECT * FROM {table.head.physical}"))
            table.properties = properties
            table.id += "'"
        else:
            table = self.tables[name] = LakeTable(name, properties)
        parameters = {"properties": properties}
        self.commit(table, operation, physical, feed, parameters, {"numOutputRows": str(self.count(physical))})

    def create_empty(self, name: str, columns: str, properties: dict[str, str]) -> None:
        physical = self.fresh(f"SELECT {columns} WHERE false")
        table = self.tables[name] = LakeTable(name, properties)
        self.commit(table, "CREATE TABLE", physical)

    def insert(self, name: str, columns: str, rows: str) -> int:
        table = self.tables[name]
        physical = self.fresh(f"SELECT * FROM {table.head.physical}")
        before = self.count(physical)
        count = self.add(physical, columns, rows)
        if count:
            feed = [("insert", f"SELECT * FROM {physical} WHERE rowid >= {before}")]
            self.commit(table, "WRITE", physical, feed, {"mode": "Append"}, {"numOutputRows": str(count)})
        return count

    def overwrite(self, name: str, columns: str, rows: str) -> int:
        table = self.tables[name]
        old = table.head.physical
        physical = self.fresh(f"SELECT * FROM {old} WHERE false")
        count = self.add(physical, columns, rows)
        if count or self.count(old):
            feed = [("delete", f"SELECT * FROM {old}"), ("insert", f"SELECT * FROM {physical}")]
            self.commit(table, "WRITE", physical, feed, {"mode": "Overwrite"}, {"numOutputRows": str(count)})
        return count

    def delete(self, name: str, where: str) -> int:
        table = self.tables[name]
        old = table.head.physical
        physical = self.fresh(f"SELECT * FROM {old} WHERE NOT coalesce({where}, false)")
        count = self.count(old) - self.count(physical)
        if count:
            feed = [("delete", f"SELECT * FROM {old} WHERE {where}")]
            self.commit(table, "DELETE", physical, feed, metrics={"numDeletedRows": str(count)})
        return count

    def update(self, name: str, assignments: dict[str, str], where: str) -> int:
        table = self.tables[name]
        old = table.head.physical
        types = dict(self.columns(f"SELECT * FROM {old}"))
        swapped = ", ".join(
            f"CAST({value} AS {types[column[1:-1].replace(chr(34) * 2, chr(34))]}) AS {column}"
            for column, value in assignments.items()
        )
        new = f"SELECT * REPLACE ({swapped}) FROM {old} WHERE {where}"
        physical = self.fresh(f"SELECT * FROM {old} WHERE NOT coalesce({where}, false)")
        kept = self.count(physical)
        count = self.add(physical, "", new)
        if count:
            feed = [
                ("update_preimage", f"SELECT * FROM {old} WHERE {where}"),
                ("update_postimage", f"SELECT * FROM {physical} WHERE rowid >= {kept}"),
            ]
            self.commit(table, "UPDATE", physical, feed, metrics={"numUpdatedRows": str(count)})
        return count

    def rewrite(self, name: str, operation: str, statement: str) -> int:
        """Any other statement that works on a copy of the table, `{}` in the text; its feed is all out and all in."""
        table = self.tables[name]
        old = table.head.physical
        physical = self.fresh(f"SELECT * FROM {old}")
        count = self.run(statement.format(physical))[0][0]
        self._rows[physical] = self.run(f"SELECT count(*) FROM {physical}")[0][0]
        if count:
            feed = [("delete", f"SELECT * FROM {old}"), ("insert", f"SELECT * FROM {physical}")]
            self.commit(table, operation, physical, feed)
        return count

    def restore(self, name: str, number: int) -> None:
        table = self.tables[name]
        wanted = next(version for version in table.versions if version.number == number)
        if wanted.physical == table.head.physical:
            return
        feed = [("delete", f"SELECT * FROM {table.head.physical}"), ("insert", f"SELECT * FROM {wanted.physical}")]
        self.commit(table, "RESTORE", wanted.physical, feed, {"version": str(number)})

    def set_properties(self, name: str, properties: dict[str, str]) -> None:
        table = self.tables[name]
        table.properties = {**table.properties, **properties}
        self.commit(table, "SET TBLPROPERTIES", table.head.physical, parameters={"properties": properties})

    def at(self, name: str, number: int | None) -> str:
        table = self.tables[name]
        if number is None:
            return table.head.physical
        return next(version.physical for version in table.versions if version.number == number)

    def changes(self, name: str, low: int, high: int) -> str:
        table = self.tables[name]
        parts = [
            f"SELECT *, '{kind}' AS _change_type, {version.number} AS _commit_version FROM ({rows})"
            for version in table.versions
            if low <= version.number <= high
            for kind, rows in version.feed
        ]
        empty = f"SELECT *, '' AS _change_type, 0 AS _commit_version FROM {table.head.physical} WHERE false"
        return " UNION ALL ".join([empty, *parts])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
