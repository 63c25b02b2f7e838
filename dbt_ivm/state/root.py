"""The top of a view: an aggregate with what stands above it, or a bag of rows."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.relations import Aggregate, Filter, Item, Project, Relation, column, substitute


@dataclass(frozen=True)
class Root:
    """`core` is maintained; the user's columns are `items` over its symbols, where `visible` holds."""

    core: Relation
    items: tuple[Item, ...]
    """(name, expression)"""
    visible: tuple[exp.Expr, ...] = ()

    @property
    def aggregate(self) -> Aggregate | None:
        return self.core if isinstance(self.core, Aggregate) else None


def root_of(relation: Relation, outputs: tuple[Item, ...]) -> Root:
    """Filters and projections above an aggregate are evaluated on its rows; anything else is a bag.

    >>> from dbt_ivm.algebra.relations import Scan
    >>> root_of(Scan("t", ()), ()).aggregate is None
    True
    """
    node, items = relation, list(outputs)
    visible: list[exp.Expr] = []
    while isinstance(node, Project | Filter):
        if isinstance(node, Project):
            mapping = dict(node.items)
            items = [(name, substitute(expression, mapping)) for name, expression in items]
            visible = [substitute(predicate, mapping) for predicate in visible]
        else:
            visible.insert(0, node.predicate)
        node = node.child
    if isinstance(node, Aggregate):
        return Root(node, tuple(items), tuple(visible))
    names = tuple((name, column(symbol)) for (name, _), symbol in zip(outputs, relation.symbols, strict=True))
    return Root(relation, names)
