"""A SELECT to a relation: FROM, WHERE, GROUP BY, HAVING, SELECT, DISTINCT in SQL's own order of evaluation.

Every reference to a table, view or CTE is read anew with fresh symbols, so that a relation used twice is two tuple
variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.relations import (
    Aggregate,
    Filter,
    Item,
    Join,
    OneRow,
    Project,
    Relation,
    Scan,
    ScanColumn,
    UnionAll,
    column,
)
from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.functions import WITHOUT_PARENTHESES, has_aggregate
from dbt_ivm.parse.grouping import Grouping
from dbt_ivm.parse.joins import join_scopes
from dbt_ivm.parse.restrictions import (
    refuse_clauses,
    refuse_clock,
    refuse_expression,
    refuse_join,
    refuse_statement,
    refuse_table,
)
from dbt_ivm.parse.scope import Columns, FromItem, Scope, renamed
from dbt_ivm.parse.sql import parse
from dbt_ivm.parse.stars import expand, star_of


@dataclass(frozen=True)
class TableFacts:
    """What the catalog says of a name in FROM: a table with its columns, or a view with its text."""

    source: str
    """The name the source is known by everywhere: `catalog.schema.table` in lower case, dots as in SQL."""
    columns: Columns = ()
    """(name, type)"""
    view_text: str = ""


Catalog = Callable[[tuple[str, ...]], TableFacts]
Environment = dict[str, tuple[exp.Expr, "Environment"]]


class Reader:
    """Reads one model. `read` returns the relation and its output names (empty where only Spark knows the name)."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._count = 0
        self._depth = 0

    def read(self, text: str) -> tuple[Relation, tuple[Item, ...]]:
        relation, columns = self._query(_readable(text), {})
        return relation, tuple((name, column(symbol)) for name, symbol in columns)

    def _fresh(self, name: str) -> str:
        self._count += 1
        stem = (
            "".join(char if char.isascii() and (char.isalnum() or char == "_") else "_" for char in name.lower()) or "c"
        )
        return f"{stem[:40]}_{self._count}"

    def _query(self, tree: exp.Expr, env: Environment) -> tuple[Relation, Columns]:
        if isinstance(tree, exp.Subquery):
            if any(tree.args.get(key) for key in ("limit", "offset", "pivots", "sample")):
                raise NotIncremental("limit", "LIMIT, PIVOT or TABLESAMPLE has no incremental law yet")
            env = self._with_ctes(tree, env)
            return self._query(tree.this, env)
        env = self._with_ctes(tree, env)
        if isinstance(tree, exp.SetOperation):
            return self._union(tree, env)
        if not isinstance(tree, exp.Select):
            raise NotIncremental("unsupported_clause", f"{tree.key.upper()} has no incremental law yet")
        return self._select(tree, env)

    def _with_ctes(self, tree: exp.Expr, env: Environment) -> Environment:
        with_ = tree.args.get("with_") or tree.args.get("with")
        if not with_:
            return env
        if with_.args.get("recursive"):
            raise NotIncremental("recursive_cte", "a recursive CTE has no incremental law")
        env = dict(env)
        for cte in with_.expressions:
            if cte.args["alias"].args.get("columns"):
                raise NotIncremental("unsupported_clause", "a CTE with a column list has no incremental law yet")
            env[cte.alias.lower()] = (cte.this, dict(env))
        return env

    def _union(self, tree: exp.SetOperation, env: Environment) -> tuple[Relation, Columns]:
        if not isinstance(tree, exp.Union) or tree.args.get("by_name"):
            raise NotIncremental("set_operation", f"{tree.key.upper()} has no incremental law yet")
        if any(tree.args.get(key) for key in ("limit", "offset")):
            raise NotIncremental("limit", "LIMIT has no incremental law yet")
        (left, names), (right, right_columns) = self._query(tree.left, env), self._query(tree.right, env)
        if len(names) != len(right_columns):
            raise NotIncremental("unresolved_name", "the sides of UNION have different numbers of columns")
        union = tuple((name, self._fresh(name)) for name, _ in names)
        inputs = (self._positional(left, names), self._positional(right, right_columns))
        relation: Relation = UnionAll(inputs, tuple(symbol for _, symbol in union))
        return self._distinct(relation, union) if tree.args.get("distinct") else (relation, union)

    def _positional(self, relation: Relation, columns: Columns) -> Relation:
        return Project(relation, tuple((self._fresh(name), column(symbol)) for name, symbol in columns))

    def _distinct(self, relation: Relation, columns: Columns) -> tuple[Relation, Columns]:
        groups = tuple((name, self._fresh(name)) for name, _ in columns)
        items = tuple((new, column(old)) for (_, new), (_, old) in zip(groups, columns, strict=True))
        return Aggregate(relation, items, ()), groups

    def _select(self, tree: exp.Select, env: Environment) -> tuple[Relation, Columns]:
        refuse_clauses(tree)
        relation, scope = self._from(tree, env)
        if where := tree.args.get("where"):
            predicate = self._resolve(where.this, scope)
            if has_aggregate(predicate):
                raise NotIncremental("unresolved_name", "an aggregate stands in WHERE")
            relation = Filter(relation, predicate)
        items = self._select_list(tree, scope)
        group, having = tree.args.get("group"), tree.args.get("having")
        if group or having or any(has_aggregate(expression) for _, expression in items):
            relation, items = Grouping(self._fresh, lambda node, aliases: self._resolve(node, scope, aliases)).read(
                relation, items, group, having
            )
        columns = tuple((name, self._fresh(name)) for name, _ in items)
        relation = Project(
            relation, tuple((symbol, expression) for (_, symbol), (_, expression) in zip(columns, items, strict=True))
        )
        return self._distinct(relation, columns) if tree.args.get("distinct") else (relation, columns)

    def _select_list(self, tree: exp.Select, scope: Scope) -> list[tuple[str, exp.Expr]]:
        items: list[tuple[str, exp.Expr]] = []
        aliases: dict[str, exp.Expr] = {}
        for node in tree.expressions:
            star, qualifier = star_of(node)
            if star is not None:
                items += expand(star, qualifier, scope)
                continue
            expression = self._resolve(node.unalias(), scope, aliases)
            name = _name(node)
            if isinstance(node, exp.Aliases):
                raise NotIncremental("generator", "an expression with several aliases has no incremental law yet")
            items.append((name, expression))
            if isinstance(node, exp.Alias):
                aliases[name.lower()] = expression
        return items

    def _resolve(self, node: exp.Expr, scope: Scope, aliases: dict[str, exp.Expr] | None = None) -> exp.Expr:
        refuse_expression(node)
        aliases = aliases or {}

        def swap(part: exp.Expr) -> exp.Expr:
            star = part.this if isinstance(part, exp.Column) else part
            if isinstance(star, exp.Star) and not isinstance(part.parent, exp.Count):
                raise NotIncremental("unsupported_clause", "a star inside an expression has no incremental law yet")
            if not isinstance(part, exp.Column):
                return part
            parts = [identifier.name for identifier in part.parts]
            found = scope.resolve(parts)
            if found is None and len(parts) == 1 and parts[0].lower() in WITHOUT_PARENTHESES:
                raise NotIncremental(
                    "non_deterministic", f"{parts[0]} does not return the same value twice: recomputed at every run"
                )
            if found is None and len(parts) == 1 and parts[0].lower() in aliases:
                return exp.paren(aliases[parts[0].lower()].copy(), copy=False)
            if found is None:
                raise NotIncremental("unresolved_name", f"`{'.'.join(parts)}` could not be resolved")
            return found

        return node.copy().transform(swap)

    def _from(self, tree: exp.Select, env: Environment) -> tuple[Relation, Scope]:
        from_ = tree.args.get("from_") or tree.args.get("from")
        if not from_:
            return OneRow(), Scope([], {}, [])
        relation, scope = self._table(from_.this, env)
        for join in tree.args.get("joins") or []:
            refuse_join(join)
            right, right_scope = self._table(join.this, env)
            scope, condition = join_scopes(scope, right_scope, join)
            if join.args.get("on"):
                condition = self._resolve(join.args["on"], scope)
            relation = Join((relation, right), condition)
        return relation, scope

    def _table(self, table: exp.Expr, env: Environment) -> tuple[Relation, Scope]:
        refuse_table(table)
        alias = table.args.get("alias")
        if isinstance(table, exp.Subquery):
            if isinstance(table.this, exp.Table) or table.args.get("joins"):
                raise NotIncremental("unsupported_clause", "a parenthesised join has no incremental law yet")
            relation, columns = self._query(table.this, self._with_ctes(table, env))
            return relation, Scope.of(FromItem((table.alias,) if table.alias else (), renamed(columns, alias)))
        if not isinstance(table, exp.Table) or table.args.get("joins"):
            raise NotIncremental("unsupported_clause", f"{table.key.upper()} in FROM has no incremental law yet")
        parts = tuple(part.name for part in table.parts)
        name = (table.alias,) if table.alias else parts
        if len(parts) == 1 and parts[0].lower() in env:
            query, inner = env[parts[0].lower()]
            relation, columns = self._query(query, inner)
        else:
            relation, columns = self._named(parts)
        return relation, Scope.of(FromItem(name, renamed(columns, alias)))

    def _named(self, parts: tuple[str, ...]) -> tuple[Relation, Columns]:
        facts = self._catalog(parts)
        if facts.view_text:
            self._depth += 1
            if self._depth > 60:
                raise NotIncremental("view_depth", "views refer to each other in a circle or too deeply")
            relation, columns = self._query(_readable(facts.view_text), {})
            self._depth -= 1
            if facts.columns:
                if len(facts.columns) != len(columns):
                    raise NotIncremental("stale_view", f"the columns of view {facts.source} changed since it was made")
                columns = tuple((name, symbol) for (name, _), (_, symbol) in zip(facts.columns, columns, strict=True))
            return relation, columns
        scan = Scan(facts.source, tuple(ScanColumn(self._fresh(name), name, type_) for name, type_ in facts.columns))
        columns = tuple((c.name, c.symbol) for c in scan.columns)
        return scan, columns


def _name(node: exp.Expr) -> str:
    """What Spark calls an output column, as far as that is not a rendering of the expression."""
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    return node.alias_or_name if isinstance(node, exp.Alias | exp.Column) else ""


def _readable(text: str) -> exp.Expr:
    tree = parse(text)
    refuse_statement(tree)
    refuse_clock(tree)
    return tree
