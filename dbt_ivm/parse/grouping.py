"""GROUP BY and HAVING: columns, expressions, ordinals, aliases, ALL.

The aggregate's output is its groups and its calls; what stands above (`sum(a) / count(*)`, HAVING) becomes a projection
and a filter over their symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from sqlglot import exp

from dbt_ivm.algebra.relations import Aggregate, Filter, Relation, column
from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.functions import has_aggregate, is_aggregate

Resolve = Callable[[exp.Expr, dict[str, exp.Expr]], exp.Expr]
Items = list[tuple[str, exp.Expr]]


class Grouping:
    def __init__(self, fresh: Callable[[str], str], resolve: Resolve) -> None:
        self._fresh = fresh
        self._resolve = resolve
        self._groups: dict[exp.Expr, str] = {}
        self._measures: dict[exp.Expr, str] = {}
        self._aliases: dict[exp.Expr, exp.Expr] = {}

    def read(
        self, relation: Relation, items: Items, group: exp.Expr | None, having: exp.Expr | None
    ) -> tuple[Relation, Items]:
        aliases = {name.lower(): expression for name, expression in items if name}
        for node in self._keys(items, group):
            expression = self._key(node, items, aliases)
            self._groups.setdefault(_bare(expression), self._fresh(_bare(expression).name or "key"))
        outputs = [(name, self._above(expression)) for name, expression in items]
        predicate = self._having(having.this, aliases) if having else None
        aggregate: Relation = Aggregate(
            relation,
            tuple((symbol, expression) for expression, symbol in self._groups.items()),
            tuple((symbol, expression) for expression, symbol in self._measures.items()),
            grand_total=not self._groups,
        )
        return (Filter(aggregate, predicate) if predicate is not None else aggregate), outputs

    def _having(self, condition: exp.Expr, aliases: dict[str, exp.Expr]) -> exp.Expr:
        """A name is a column where that is grouped or inside an aggregate, else the alias."""
        for node in condition.find_all(exp.Column):
            if len(node.parts) == 1 and node.name.lower() in aliases:
                with suppress(NotIncremental):
                    self._aliases[self._resolve(node, {})] = aliases[node.name.lower()]
        return self._above(self._resolve(condition, aliases))

    def _keys(self, items: Items, group: exp.Expr | None) -> list[exp.Expr]:
        if group is None:
            return []
        if group.find(exp.GroupingSets, exp.Cube, exp.Rollup) or group.args.get("totals"):
            raise NotIncremental("grouping_sets", "GROUPING SETS, CUBE and ROLLUP have no incremental law yet")
        if group.args.get("all"):
            return [expression for _, expression in items if not has_aggregate(expression)]
        return group.expressions

    def _key(self, node: exp.Expr, items: Items, aliases: dict[str, exp.Expr]) -> exp.Expr:
        if isinstance(node, exp.Literal) and node.is_int:
            position = int(node.name)
            if not 1 <= position <= len(items):
                raise NotIncremental("unresolved_name", f"GROUP BY position {position} is not in the select list")
            expression = items[position - 1][1]
        elif any(node is expression for _, expression in items):
            expression = node
        else:
            expression = self._resolve(node, aliases)
        if has_aggregate(expression):
            raise NotIncremental("unresolved_name", "an aggregate stands in GROUP BY")
        return expression

    def _above(self, expression: exp.Expr) -> exp.Expr:
        """The expression over the aggregate's output."""
        group = self._groups.get(_bare(expression))
        if group:
            return column(group)
        if isinstance(expression, exp.Filter) or is_aggregate(expression):
            return column(self._measure(expression))
        if isinstance(expression, exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls | exp.Order):
            raise NotIncremental("aggregate", f"{expression.key} has no incremental law yet")
        if isinstance(expression, exp.Column) and expression in self._aliases:
            return exp.paren(self._above(self._aliases[expression]), copy=False)
        if isinstance(expression, exp.Column):
            raise NotIncremental("unresolved_name", f"`{expression.name}` is neither grouped nor aggregated")
        copy = expression.copy()
        for key, value in expression.args.items():
            if isinstance(value, exp.Expr):
                copy.set(key, self._above(value))
            elif isinstance(value, list):
                copy.set(key, [self._above(part) if isinstance(part, exp.Expr) else part for part in value])
        return copy

    def _measure(self, call: exp.Expr) -> str:
        inner = call.this if isinstance(call, exp.Filter) else call
        if any(is_aggregate(node) for node in inner.walk() if node is not inner):
            raise NotIncremental("aggregate", "an aggregate of an aggregate is not a SELECT")
        if call not in self._measures:
            self._measures[call] = self._fresh(inner.key)
        return self._measures[call]


def _bare(expression: exp.Expr) -> exp.Expr:
    while isinstance(expression, exp.Paren):
        expression = expression.this
    return expression
