"""The relations of the algebra: frozen values, each column a symbol that is unique in the whole view.

Unique symbols make every rewrite safe: an expression can be moved to any place that has its symbols, nothing is ever
captured. A relation is a signed multiset: what Pre and Post yield has positive multiplicities, a delta has any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from sqlglot import exp

Item = tuple[str, exp.Expr]
"""A column: its symbol and the expression that makes it."""


class Moment(Enum):
    """Which state of a source a scan reads (papers/000, section 3)."""

    PRE = "Pre"
    POST = "Post"
    CHANGE = "D"


@dataclass(frozen=True)
class ScanColumn:
    symbol: str
    name: str
    type: str


@dataclass(frozen=True)
class Relation:
    @property
    def children(self) -> tuple[Relation, ...]:
        return ()

    @property
    def symbols(self) -> tuple[str, ...]:
        raise TypeError(type(self).__name__)

    def with_children(self, *children: Relation) -> Relation:
        return self

    def walk(self) -> Iterator[Relation]:
        yield self
        for child in self.children:
            yield from child.walk()

    def rewrite(self, rule: Callable[[Relation], Relation]) -> Relation:
        """Bottom-up."""
        return rule(self.with_children(*(child.rewrite(rule) for child in self.children)))


@dataclass(frozen=True)
class Scan(Relation):
    """A tuple variable over a source; a table used twice is two scans."""

    source: str
    columns: tuple[ScanColumn, ...]
    moment: Moment = Moment.POST

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(column.symbol for column in self.columns)


@dataclass(frozen=True)
class OneRow(Relation):
    """FROM nothing."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True)
class _Unary(Relation):
    child: Relation

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.child,)

    @property
    def symbols(self) -> tuple[str, ...]:
        return self.child.symbols

    def with_children(self, *children: Relation) -> Relation:
        return replace(self, child=children[0])


@dataclass(frozen=True)
class Filter(_Unary):
    predicate: exp.Expr


@dataclass(frozen=True)
class Project(_Unary):
    items: tuple[Item, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(symbol for symbol, _ in self.items)


@dataclass(frozen=True)
class Join(Relation):
    """Inner join of any number of relations; no condition is the product."""

    inputs: tuple[Relation, ...]
    condition: exp.Expr | None = None

    @property
    def children(self) -> tuple[Relation, ...]:
        return self.inputs

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(symbol for child in self.inputs for symbol in child.symbols)

    def with_children(self, *children: Relation) -> Relation:
        return replace(self, inputs=children)


@dataclass(frozen=True)
class UnionAll(Relation):
    """Columns go by position; the names are the union's own."""

    inputs: tuple[Relation, ...]
    names: tuple[str, ...]

    @property
    def children(self) -> tuple[Relation, ...]:
        return self.inputs

    @property
    def symbols(self) -> tuple[str, ...]:
        return self.names

    def with_children(self, *children: Relation) -> Relation:
        return replace(self, inputs=children)


@dataclass(frozen=True)
class Aggregate(_Unary):
    """Grouping columns and aggregate calls; DISTINCT is grouping by every column."""

    groups: tuple[Item, ...]
    measures: tuple[Item, ...]
    grand_total: bool = False
    """Without GROUP BY: always one row."""

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(symbol for symbol, _ in (*self.groups, *self.measures))


@dataclass(frozen=True)
class Negate(_Unary):
    """The same rows with the opposite sign."""


@dataclass(frozen=True)
class Empty(_Unary):
    """No rows of the child's shape. Unions keep unchanged branches this way, so that Spark widens types as before."""


@dataclass(frozen=True)
class Restrict(_Unary):
    """Rows of the child whose key is among those of `keys`; `key_types` align with `key`."""

    key: tuple[exp.Expr, ...]
    key_types: tuple[str, ...]
    keys: Relation
    keys_key: tuple[exp.Expr, ...]

    def walk(self) -> Iterator[Relation]:
        yield from super().walk()
        yield from self.keys.walk()


@dataclass(frozen=True)
class Output:
    """A column the user sees."""

    name: str
    expression: exp.Expr = field(hash=False, compare=False)


def scans(relation: Relation) -> list[Scan]:
    return [node for node in relation.walk() if isinstance(node, Scan)]


def sources(relation: Relation) -> list[str]:
    """In order of appearance."""
    return list(dict.fromkeys(scan.source for scan in scans(relation)))


def at(relation: Relation, moment: Moment) -> Relation:
    """Pre or Post of any relation: the same relation over that state of its sources."""
    return relation.rewrite(lambda node: replace(node, moment=moment) if isinstance(node, Scan) else node)


def column(symbol: str) -> exp.Column:
    return exp.Column(this=exp.to_identifier(symbol, quoted=True))


def used_symbols(expression: exp.Expr) -> set[str]:
    return {node.name for node in expression.find_all(exp.Column)}


def substitute(expression: exp.Expr, mapping: dict[str, exp.Expr]) -> exp.Expr:
    """Replaces symbols by expressions; parentheses keep precedence.

    >>> either = exp.Or(this=column("a"), expression=column("b"))
    >>> substitute(exp.Not(this=column("c")), {"c": either}).sql("spark")
    'NOT (`a` OR `b`)'
    """

    def swap(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in mapping:
            value = mapping[node.name].copy()
            # AND, OR and RLIKE are functions to sqlglot, and operators to Spark.
            is_call = isinstance(value, exp.Func) and not isinstance(value, exp.Binary | exp.Predicate)
            is_closed = is_call or isinstance(value, exp.Column | exp.Literal | exp.Paren)
            return value if is_closed else exp.paren(value, copy=False)
        return node

    return expression.copy().transform(swap)


def conjuncts(predicate: exp.Expr | None) -> list[exp.Expr]:
    if predicate is None:
        return []
    return (
        [part.unnest() for part in predicate.unnest().flatten()]
        if isinstance(predicate.unnest(), exp.And)
        else [predicate]
    )
