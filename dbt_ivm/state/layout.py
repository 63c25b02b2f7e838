"""The state table: the query's columns, then what a refresh needs to find and fold rows.

`__ivm_key`    narrow row key: hash of the grouping columns, or of the whole row
`__ivm_batch`  the refresh that wrote the row; unique, so that a stranger's rows are never taken for ours
`__ivm_mark`   0 in every published row; while a refresh works: 1 and 2 its inserts and deletes,
               3 to be recomputed, 4 emptied
`__ivm_count`  rows behind a group; of a staged row, its multiplicity
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.relations import Aggregate, Item, column, substitute
from dbt_ivm.errors import IvmError
from dbt_ivm.render.faithful import key_hash, row_hash
from dbt_ivm.render.relations import aliased, select
from dbt_ivm.state.measures import Measure, Partial, Partials, read_measure
from dbt_ivm.state.root import Root

KEY, BATCH, MARK, COUNT, VISIBLE = "__ivm_key", "__ivm_batch", "__ivm_mark", "__ivm_count", "__ivm_visible"
LIVE, INSERTED, DELETED, STALE, EMPTY = 0, 1, 2, 3, 4
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def mark(value: int) -> exp.Expr:
    return exp.cast(exp.Literal.number(value), "tinyint")


@dataclass(frozen=True)
class Layout:
    """`public` pairs the user's column names with the state's; `stored` pairs what a fold reads with the state's columns."""

    root: Root
    public: tuple[tuple[str, str], ...]
    types: tuple[str, ...]
    """Of the public columns."""
    group_types: tuple[str, ...]
    measures: tuple[Measure, ...]
    partials: tuple[Partial, ...]
    stored: tuple[tuple[str, str], ...]
    opaque: bool = False

    @property
    def has_filter(self) -> bool:
        return bool(self.root.visible)

    @property
    def columns(self) -> tuple[str, ...]:
        """The state's columns in order."""
        public = tuple(name for _, name in self.public)
        if self.opaque:
            return public
        hidden = tuple(name for _, name in self.stored if name not in public)
        return (*public, *hidden, *((VISIBLE,) if self.has_filter else ()), COUNT, KEY, BATCH, MARK)

    def state_column(self, symbol: str) -> str:
        return dict(self.stored)[symbol]


def public_names(names: list[str], model: str) -> tuple[tuple[str, str], ...]:
    """Names Delta cannot store get a plain one in the state; the view gives them back."""
    seen: dict[str, str] = {}
    problems = []
    for name in names:
        if name.lower() in seen:
            problems.append(f"two output columns are named `{name}`: give one of them an alias")
        if name.lower().startswith("__ivm_"):
            problems.append(f"`{name}` is reserved: rename the column, `__ivm_` is for the state's own columns")
        seen[name.lower()] = name
    if problems:
        raise IvmError(f"{model}: " + "; ".join(problems))
    return tuple((name, name if _PLAIN_NAME.match(name) else f"__ivm_c{i}") for i, name in enumerate(names))


def layout_of(root: Root, names: tuple[tuple[str, str], ...], types: list[str], probed: dict[str, str]) -> Layout:
    if root.aggregate is None:
        stored = tuple((e.name, state) for (_, e), (_, state) in zip(root.items, names, strict=True))
        return Layout(root, names, tuple(types), (), (), (), stored)
    aggregate, shared = root.aggregate, Partials()
    measures = tuple(
        read_measure(symbol, call, shared, probed.get(f"{symbol}__argument", "")) for symbol, call in aggregate.measures
    )
    shown: dict[str, str] = {}
    for (_, expression), (_, state) in zip(_values(root, measures), names, strict=True):
        if isinstance(expression, exp.Column):
            shown.setdefault(expression.name, state)
    groups = tuple((s, shown.get(s, f"__ivm_g{i}")) for i, (s, _) in enumerate(aggregate.groups))
    partials = tuple((p.name, shown.get(p.name, p.name)) for p in shared.all)
    group_types = tuple(probed[symbol] for symbol, _ in aggregate.groups)
    return Layout(root, names, tuple(types), group_types, measures, shared.all, groups + partials)


def opaque_layout(root: Root, names: tuple[tuple[str, str], ...], types: list[str]) -> Layout:
    return Layout(root, names, tuple(types), (), (), (), (), opaque=True)


def _values(root: Root, measures: tuple[Measure, ...]) -> list[Item]:
    values = {measure.symbol: measure.value for measure in measures}
    return [(name, substitute(expression, values)) for name, expression in root.items]


def partial_aggregate(layout: Layout) -> Aggregate:
    """Groups with their partials: what the state is built from."""
    aggregate = layout.root.aggregate
    assert aggregate is not None
    calls = tuple((partial.name, partial.call) for partial in layout.partials)
    count = (COUNT, exp.Count(this=exp.Star(), big_int=True))
    return Aggregate(aggregate.child, aggregate.groups, (*calls, count), aggregate.grand_total)


def finish(layout: Layout, rows: exp.Select, batch: int, mark_: exp.Expr | None = None) -> exp.Select:
    """State rows from groups and partials, or from the rows of a bag: public columns, key, batch and mark.

    What stands above the aggregate is evaluated on visible, final groups only: nowhere else may it fail.
    """
    values = {measure.symbol: measure.value for measure in layout.measures}
    guards = [substitute(predicate, values) for predicate in layout.root.visible]
    visible: exp.Expr | None = None
    for predicate in reversed(guards):
        visible = _when(predicate, visible if visible is not None else exp.true(), exp.false())
    final = None if mark_ is None else exp.EQ(this=mark_.copy(), expression=mark(LIVE))
    items: list[exp.Expr] = []
    done = set()
    for (_, expression), (_, name) in zip(_values(layout.root, layout.measures), layout.public, strict=True):
        if not isinstance(expression, exp.Column):
            for condition in (*reversed(guards), *([final] if final is not None else [])):
                expression = _when(condition, expression)
        items.append(aliased(expression, name))
        done.add(name)
    items += [aliased(column(symbol), name) for symbol, name in layout.stored if name not in done]
    if visible is not None:
        if final is not None:
            visible = _when(final, visible, exp.false())
        items.append(aliased(exp.func("coalesce", visible, exp.false()), VISIBLE))
    items.append(column(COUNT))
    items.append(aliased(key_of(layout), KEY))
    items.append(aliased(exp.cast(exp.Literal.number(batch), "bigint"), BATCH))
    items.append(aliased(mark(LIVE) if mark_ is None else mark_.copy(), MARK))
    return select(items, rows)


def key_of(layout: Layout) -> exp.Expr:
    aggregate = layout.root.aggregate
    if aggregate is not None:
        symbols = [column(symbol) for symbol, _ in aggregate.groups]
        return key_hash(list(zip(symbols, layout.group_types, strict=True)))
    return row_hash([(column(symbol), type_) for (symbol, _), type_ in zip(layout.stored, layout.types, strict=True)])


def _when(condition: exp.Expr, then: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=then)], default=otherwise)
