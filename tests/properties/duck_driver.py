"""Runs the conversation of a refresh on the simulated lake: the very statements Spark would get, by their leading words."""

from __future__ import annotations

import itertools
import re

import duckdb
from sqlglot import exp

from dbt_ivm.errors import StatementFailed
from dbt_ivm.parse.functions import AGGREGATES
from dbt_ivm.parse.sql import write
from dbt_ivm.planner import refresh
from dbt_ivm.protocol.environment import CatalogEntry, Environment, Model, Outcome, Parts, RunMemory
from dbt_ivm.protocol.rows import Rows
from tests.properties.duck_lake import Lake
from tests.properties.duck_sql import parsed, spark_type, to_duck

_NAME = r"((?:`(?:[^`]|``)+`|\w+)(?:\.(?:`(?:[^`]|``)+`|\w+))*)"
_PLAN = "== Optimized Logical Plan ==\nthe same\n\n== Physical Plan ==\nany"
_HISTORY = ["version", "timestamp", "userId", "operation", "operationParameters", "operationMetrics"]


class DuckDriver:
    schema = "s"

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.lake = Lake(connection)
        self.statements: list[tuple[str, str | exp.Expr]] = []
        self._batches = itertools.count(1)

    def environment(self) -> Environment:
        return Environment(
            self._catalog, RunMemory(), now=lambda: self.lake.clock, new_batch=lambda: next(self._batches)
        )

    def _catalog(self, parts: Parts) -> CatalogEntry:
        name = parts[-1].lower()
        if name in self.lake.views:
            return CatalogEntry("view", self.lake.views[name])
        return CatalogEntry("delta" if name in self.lake.tables else "missing")

    def model(self, name: str, sql: str, **options) -> Model:
        return Model(name, (self.schema, name), (self.schema, f"{name}__ivm"), sql, **options)

    def refresh(self, model: Model, env: Environment | None = None) -> Outcome:
        self.statements = []
        return self.run(refresh(model, env or self.environment()))

    def run(self, steps):
        try:
            statement = next(steps)
            while True:
                self.statements.append((statement.purpose, statement.sql))
                try:
                    rows = self.execute(statement.sql)
                except duckdb.Error as problem:
                    self.statements.append(("failed", str(problem)))
                    statement = steps.throw(StatementFailed(str(problem)))
                    continue
                statement = steps.send(rows)
        except StopIteration as done:
            return done.value

    def transcript(self) -> list[str]:
        texts = [(purpose, sql if isinstance(sql, str) else write(sql)) for purpose, sql in self.statements]
        return [f"{purpose}: {text}" for purpose, text in texts]

    def sql(self, text: str) -> Rows:
        return self.execute(text.replace("{s}", self.schema))

    def execute(self, sql: str | exp.Expr) -> Rows:
        if isinstance(sql, str):
            text = sql.strip()
            for pattern, action in _BY_WORDS:
                if match := re.match(pattern, text, re.I | re.S):
                    return action(self, match)
            sql = parsed(text)
        for type_, action in _BY_TREE:
            if isinstance(sql, type_):
                return action(self, sql)
        raise AssertionError(f"not simulated: {write(sql)}")

    def _history(self, match: re.Match) -> Rows:
        versions = self.lake.tables[_last(match.group(1))].versions[::-1]
        limit = int(match.group(2)) if match.group(2) else None
        rows = [[v.number, v.timestamp, "", v.operation, v.parameters, v.metrics] for v in versions[:limit]]
        return Rows(rows, _HISTORY)

    def _detail(self, match: re.Match) -> Rows:
        table = self.lake.tables[_last(match.group(1))]
        return Rows([[table.id, table.properties, "delta"]], ["id", "properties", "format"])

    def _properties(self, match: re.Match) -> Rows:
        table = self.lake.tables[_last(match.group(1))]
        return Rows([[key, value] for key, value in table.properties.items()], ["key", "value"])

    def _describe_query(self, match: re.Match) -> Rows:
        columns = self.lake.columns(to_duck(parsed(match.group(1)), self.lake))
        return Rows([[name, spark_type(type_), None] for name, type_ in columns], ["col_name", "data_type", "comment"])

    def _describe_table(self, match: re.Match) -> Rows:
        columns = self.lake.columns(f"SELECT * FROM {self.lake.at(_last(match.group(1)), None)}")
        return Rows([[name, spark_type(type_), None] for name, type_ in columns], ["col_name", "data_type", "comment"])

    def _functions(self, match: re.Match) -> Rows:
        return Rows([[name] for name in sorted(AGGREGATES)], ["function"])

    def _setting(self, match: re.Match) -> Rows:
        return Rows([[match.group(1), "any"]], ["key", "value"])

    def _explain(self, match: re.Match) -> Rows:
        return Rows([[_PLAN]], ["plan"])

    def _view(self, match: re.Match) -> Rows:
        self.lake.views[_last(match.group(1))] = match.group(2)
        return Rows([], [])

    def _restore(self, match: re.Match) -> Rows:
        self.lake.restore(_last(match.group(1)), int(match.group(2)))
        return Rows([], [])

    def _set_properties(self, match: re.Match) -> Rows:
        self.lake.set_properties(_last(match.group(1)), dict(re.findall(r"'([^']*)' = '([^']*)'", match.group(2))))
        return Rows([], [])

    def _create(self, tree: exp.Create) -> Rows:
        schema = tree.this
        table = schema.this if isinstance(schema, exp.Schema) else schema
        properties = {p.name: p.args["value"].name for p in tree.find_all(exp.Property) if type(p) is exp.Property}
        if tree.expression:
            self.lake.create(table.name.lower(), to_duck(tree.expression, self.lake), properties)
        else:
            columns = ", ".join(
                f"CAST(NULL AS {to_duck(node.kind, self.lake)}) AS {node.this.sql('duckdb')}"
                for node in schema.expressions
            )
            self.lake.create_empty(table.name.lower(), columns, properties)
        return Rows([], [])

    def _insert(self, tree: exp.Insert) -> Rows:
        target = tree.this
        columns = ""
        if isinstance(target, exp.Schema):
            columns = f" ({', '.join(node.sql('duckdb') for node in target.expressions)})"
            target = target.this
        write_rows = self.lake.overwrite if tree.args.get("overwrite") else self.lake.insert
        count = write_rows(target.name.lower(), columns, to_duck(tree.expression, self.lake))
        return Rows([[count, count]], ["num_affected_rows", "num_inserted_rows"])

    def _delete(self, tree: exp.Delete) -> Rows:
        where = tree.args.get("where")
        text = to_duck(where.this, self.lake) if where else "true"
        return Rows([[self.lake.delete(tree.this.name.lower(), text)]], ["num_affected_rows"])

    def _update(self, tree: exp.Update) -> Rows:
        where = tree.args.get("where")
        assignments = {
            exp.to_identifier(node.this.name, quoted=True).sql("duckdb"): to_duck(node.expression, self.lake)
            for node in tree.expressions
        }
        text = to_duck(where.this, self.lake) if where else "true"
        return Rows([[self.lake.update(tree.this.name.lower(), assignments, text)]], ["num_affected_rows"])

    def _merge(self, tree: exp.Merge) -> Rows:
        target = tree.this
        alias = target.alias_or_name
        rest = exp.Merge(**{**tree.copy().args, "this": exp.to_table("__target__", alias=alias)})
        self.lake.tables["__target__"] = self.lake.tables[target.name.lower()]
        text = to_duck(rest, self.lake).replace("{", "{{").replace("}", "}}")
        physical = self.lake.tables.pop("__target__").head.physical
        count = self.lake.rewrite(target.name.lower(), "MERGE", text.replace(f"INTO {physical} ", "INTO {} ", 1))
        return Rows([[count, 0, 0, 0]], ["num_affected_rows", "updated", "deleted", "inserted"])

    def _select(self, tree: exp.Expr) -> Rows:
        cursor = self.lake.connection.execute(to_duck(tree, self.lake))
        return Rows([list(row) for row in cursor.fetchall()], [column[0] for column in cursor.description])


def _last(name: str) -> str:
    return re.findall(r"`(?:[^`]|``)+`|\w+", name)[-1].strip("`").replace("``", "`").lower()


_BY_WORDS = (
    (rf"DESCRIBE HISTORY {_NAME}(?: LIMIT (\d+))?$", DuckDriver._history),
    (rf"DESCRIBE DETAIL {_NAME}$", DuckDriver._detail),
    (r"DESCRIBE (?:QUERY )?((?:SELECT|WITH|\().*)$", DuckDriver._describe_query),
    (rf"DESCRIBE (?:TABLE )?(?:EXTENDED )?{_NAME}$", DuckDriver._describe_table),
    (rf"SHOW TBLPROPERTIES {_NAME}", DuckDriver._properties),
    (r"SHOW (?:\w+ )?FUNCTIONS", DuckDriver._functions),
    (r"(?:RE)?SET (\S+)", DuckDriver._setting),
    (r"EXPLAIN EXTENDED ", DuckDriver._explain),
    (rf"(?:ALTER VIEW|CREATE(?: OR REPLACE)? VIEW) {_NAME} AS (.*)$", DuckDriver._view),
    (rf"RESTORE TABLE {_NAME} TO VERSION AS OF (\d+)$", DuckDriver._restore),
    (rf"ALTER TABLE {_NAME} SET TBLPROPERTIES (.*)$", DuckDriver._set_properties),
)

_BY_TREE = (
    (exp.Create, DuckDriver._create),
    (exp.Insert, DuckDriver._insert),
    (exp.Delete, DuckDriver._delete),
    (exp.Update, DuckDriver._update),
    (exp.Merge, DuckDriver._merge),
    (exp.Query, DuckDriver._select),
)
