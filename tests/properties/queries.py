"""Random views of every class that must be incremental, several levels deep."""

from __future__ import annotations

from dataclasses import dataclass

from tests.properties.aggregates import aggregate, over_aggregates
from tests.properties.choose import Choose
from tests.properties.expressions import Ref, predicate, scalar
from tests.properties.joins import Item, join_items
from tests.properties.schema import NESTED, Column, Table, quote

ALIASES = ("c", "total", "Out", "a b", "sum(x)", "from", "d.e")


@dataclass(frozen=True)
class Query:
    sql: str
    columns: tuple[Column, ...]


class Queries:
    """`spark` admits what DuckDB does not have in Spark's form."""

    def __init__(self, choose: Choose, tables: list[Table], *, spark: bool) -> None:
        self._choose = choose
        self._tables = tables
        self._spark = spark
        self._ctes: list[tuple[str, tuple[Column, ...]]] = []
        self._aliases = 0
        self._scans = 3 if spark else 4
        """Base tables a view may still read: products of many are slow and no more telling; Spark plans take seconds."""

    def view(self) -> Query:
        depth = self._choose.of((0, 1, 1, 0, 2) if self._spark else (0, 1, 1, 2, 0, 2, 3))
        query = self._with(depth) if self._choose.chance(15) else self.query(depth, top=True)
        order = " ORDER BY 1" if query.columns[0].kind not in NESTED and self._choose.chance(3) else ""
        return Query(query.sql + order, query.columns)

    def _with(self, depth: int) -> Query:
        inner = self.query(max(0, depth - 1))
        self._ctes.append(("shared", inner.columns))
        outer = self.query(depth, top=True)
        return Query(f"WITH shared AS ({inner.sql}) {outer.sql}", outer.columns)

    def query(self, depth: int, top: bool = False) -> Query:
        shapes = [self._select, self._grouped, self._select, self._grouped, self._distinct, self._total]
        if depth > 0:
            shapes += [self._union_all, self._union_all, self._union]
        return self._choose.of(shapes)(depth, top)

    def _select(self, depth: int, top: bool) -> Query:
        source, refs, conditions = self._from(depth)
        where = self._where(refs, conditions)
        if self._choose.chance(10) and len({ref.name.lower() for ref in refs}) == len(refs):
            return Query(f"SELECT * FROM {source}{where}", tuple(Column(ref.name, ref.kind) for ref in refs))
        names, items, columns = set(), [], []
        for _ in range(self._choose.number(1, 4)):
            ref = self._choose.of(self._inside(refs))
            text = scalar(self._choose, ref.kind, refs) if self._choose.chance(40) else ref.sql
            name = self._name(ref.name if text == ref.sql else "", names)
            items.append(f"{text} AS {quote(name)}")
            columns.append(Column(name, ref.kind))
        return Query(f"SELECT {', '.join(items)} FROM {source}{where}", tuple(columns))

    def _distinct(self, depth: int, top: bool) -> Query:
        query = self._select(depth, top)
        if any(column.kind == "map" for column in query.columns):
            return query
        return Query(query.sql.replace("SELECT", "SELECT DISTINCT", 1), query.columns)

    def _grouped(self, depth: int, top: bool) -> Query:
        source, refs, conditions = self._from(depth)
        where = self._where(refs, conditions)
        style = self._choose.of(("column", "ordinal", "alias", "all", "hidden"))
        taken = {ref.name.lower() for ref in refs}
        names, items, columns, keys = set(taken), [], [], []
        for ref in self._choose.some(self._inside(refs), 1, 3):
            text = scalar(self._choose, ref.kind, refs, 1) if self._choose.chance(35) else ref.sql
            if not any(other.sql in text for other in refs):
                text = ref.sql
            if text in keys:
                continue
            keys.append(text)
            if style != "hidden" or self._choose.chance(50):
                columns.append(Column(self._name("", names), ref.kind))
                items.append(f"{text} AS {quote(columns[-1].name)}")
        calls = []
        for _ in range(self._choose.number(0 if items else 1, 3)):
            text, kind = aggregate(self._choose, self._inside(refs), top=top, spark=self._spark)
            calls.append((text, kind))
            columns.append(Column(self._name("", names), kind))
            items.append(f"{text} AS {quote(columns[-1].name)}")
        if calls and self._choose.chance(25):
            text, kind = over_aggregates(self._choose, calls)
            columns.append(Column(self._name("", names), kind))
            items.append(f"{text} AS {quote(columns[-1].name)}")
        by = {
            "ordinal": ", ".join(str(i + 1) for i in range(len(keys))),
            "alias": ", ".join(quote(column.name) for column in columns[: len(keys)]),
            "all": "ALL",
        }.get(style, ", ".join(keys))
        having = self._having(refs, top) if self._choose.chance(20) else ""
        distinct = "DISTINCT " if self._choose.chance(4) and all(c.kind != "map" for c in columns) else ""
        return Query(f"SELECT {distinct}{', '.join(items)} FROM {source}{where} GROUP BY {by}{having}", tuple(columns))

    def _having(self, refs: list[Ref], top: bool) -> str:
        text, kind = aggregate(self._choose, self._inside(refs), top=top, spark=self._spark)
        if kind in NESTED or kind in ("zeros", "boolean"):
            return f" HAVING {text} IS NOT NULL"
        return f" HAVING {text} IS NULL" if kind not in ("bigint", "ratio", "double") else f" HAVING {text} > 1"

    def _total(self, depth: int, top: bool) -> Query:
        source, refs, conditions = self._from(depth)
        where = self._where(refs, conditions)
        names: set[str] = {ref.name.lower() for ref in refs}
        items, columns = [], []
        for _ in range(self._choose.number(1, 3)):
            text, kind = aggregate(self._choose, self._inside(refs), top=top, spark=self._spark)
            columns.append(Column(self._name("", names), kind))
            items.append(f"{text} AS {quote(columns[-1].name)}")
        having = self._having(refs, top) if self._choose.chance(8) else ""
        return Query(f"SELECT {', '.join(items)} FROM {source}{where}{having}", tuple(columns))

    def _union_all(self, depth: int, top: bool) -> Query:
        return self._set("UNION ALL", depth)

    def _union(self, depth: int, top: bool) -> Query:
        return self._set("UNION", depth)

    def _set(self, operator: str, depth: int) -> Query:
        left = self.query(depth - 1)
        if operator == "UNION" and any(column.kind == "map" for column in left.columns):
            operator = "UNION ALL"
        source, refs, conditions = self._from(depth - 1)
        where = self._where(refs, conditions)
        items = [
            f"{scalar(self._choose, column.kind, refs, 1)} AS {quote(f'r{i}')}" for i, column in enumerate(left.columns)
        ]
        right = f"SELECT {', '.join(items)} FROM {source}{where}"
        return Query(f"{left.sql} {operator} {right}", left.columns)

    def _from(self, depth: int) -> tuple[str, list[Ref], list[str]]:
        count = self._choose.of((1, 1, 2, 1, 2, 3))
        items = [self._item(depth)]
        while len(items) < count and self._scans > 0:
            items.append(self._item(depth))
        return join_items(self._choose, items)

    def _item(self, depth: int) -> Item:
        self._aliases += 1
        alias = f"a{self._aliases}"
        if self._ctes and self._choose.chance(60):
            name, columns = self._choose.of(self._ctes)
            return Item(f"{name} AS {alias}", alias, columns)
        if depth > 0 and self._choose.chance(60):
            query = self.query(depth - 1)
            return Item(f"({query.sql}) AS {alias}", alias, query.columns)
        self._scans -= 1
        table = self._choose.of(self._tables)
        return Item(f"{table.sql_name} AS {alias}", alias, table.columns)

    def _where(self, refs: list[Ref], conditions: list[str]) -> str:
        parts = list(conditions)
        if self._choose.chance(40):
            parts.append(predicate(self._choose, self._inside(refs)))
        return f" WHERE {' AND '.join(f'({part})' for part in parts)}" if parts else ""

    def _inside(self, refs: list[Ref]) -> list[Ref]:
        """The columns and what is inside nested ones."""
        found = list(refs)
        for ref in refs:
            if ref.kind == "struct":
                found.append(Ref(f"{ref.sql}.a", "field", "int"))
            elif ref.kind == "map":
                found.append(Ref(f"{ref.sql}['a']", "entry", "int"))
            elif ref.kind in ("array", "floats"):
                found.append(Ref(f"size({ref.sql})", "size", "int"))
        return found

    def _name(self, wanted: str, taken: set[str]) -> str:
        """An output name that is free without regard to case."""
        if wanted and wanted.lower() not in taken:
            name = wanted
        else:
            stem = self._choose.of(ALIASES) if self._choose.chance(12) else "c"
            name = next(n for n in (stem, *(f"{stem}{i}" for i in range(1, 99))) if n.lower() not in taken)
        taken.add(name.lower())
        return name
