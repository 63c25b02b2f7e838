"""Relations to SELECTs. A signed relation has the extra column `__ivm_m`, its multiplicity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dbt_ivm.algebra.relations import (
    Aggregate,
    Empty,
    Filter,
    Join,
    Moment,
    Negate,
    OneRow,
    Project,
    Relation,
    Restrict,
    Scan,
    UnionAll,
    column,
    conjuncts,
    used_symbols,
)
from dbt_ivm.render.faithful import faithful, key_hash
from dbt_ivm.render.sources import Change, SourceState

M = "__ivm_m"
_ONE = exp.cast(exp.Literal.number(1), "bigint")


def aliased(expression: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(expression, exp.to_identifier(name, quoted=True), copy=False)


def select(items: Sequence[exp.Expr], source: exp.Table | exp.Query | None) -> exp.Select:
    """A SELECT must have a column even where nobody wants one."""
    query = exp.Select(expressions=list(items) or [aliased(exp.true(), "__ivm_row")])
    if source is None:
        return query
    return query.from_(source if isinstance(source, exp.Table) else source.subquery("r", copy=False), copy=False)


class Renderer:
    """`linear` says that only linear operators stand above: there a source may be signed without being netted."""

    def __init__(self, states: Mapping[str, SourceState], *, net_changes: bool = True) -> None:
        self._states = states
        self._net_changes = net_changes

    def signed(self, relation: Relation) -> exp.Select:
        """Columns and multiplicity, whatever the relation is."""
        query, is_signed = self._render(relation, linear=True)
        if is_signed:
            return query
        return query.select(aliased(_ONE.copy(), M), copy=False)

    def bag(self, relation: Relation) -> exp.Select:
        query, is_signed = self._render(relation, linear=False)
        assert not is_signed, "only deltas are signed"
        return query

    def _render(self, node: Relation, *, linear: bool) -> tuple[exp.Select, bool]:
        if isinstance(node, Scan):
            return self._scan(node, linear, None)
        if isinstance(node, Filter):
            return self._filter(node, linear)
        if isinstance(node, Project):
            child, is_signed = self._render(node.child, linear=linear)
            items = [aliased(expression.copy(), symbol) for symbol, expression in node.items]
            return select(items + self._m(is_signed), child), is_signed
        if isinstance(node, Join):
            return self._join(node, linear)
        if isinstance(node, UnionAll):
            return self._union(node, linear)
        if isinstance(node, Aggregate):
            return self._aggregate(node), False
        if isinstance(node, Negate):
            child, is_signed = self._render(node.child, linear=linear)
            m = exp.Neg(this=column(M) if is_signed else exp.paren(_ONE.copy()))
            return select([*self._columns(node), aliased(m, M)], child), True
        if isinstance(node, Empty):
            child, is_signed = self._render(node.child, linear=linear)
            return select([*self._columns(node), *self._m(is_signed)], child).where(exp.false(), copy=False), is_signed
        if isinstance(node, Restrict):
            return self._restrict(node, linear)
        assert isinstance(node, OneRow)
        return select([], None), False

    def _columns(self, node: Relation) -> list[exp.Expr]:
        return [column(symbol) for symbol in node.symbols]

    def _m(self, is_signed: bool) -> list[exp.Expr]:
        return [column(M)] if is_signed else []

    def _filter(self, node: Filter, linear: bool) -> tuple[exp.Select, bool]:
        predicates, inner = [node.predicate], node.child
        while isinstance(inner, Filter):
            predicates.append(inner.predicate)
            inner = inner.child
        predicate = exp.and_(*reversed(predicates))
        if isinstance(inner, Scan):
            return self._scan(inner, linear, predicate)
        child, is_signed = self._render(inner, linear=linear)
        return select([*self._columns(node), *self._m(is_signed)], child).where(predicate, copy=False), is_signed

    def _scan(self, scan: Scan, linear: bool, predicate: exp.Expr | None) -> tuple[exp.Select, bool]:
        state = self._states[scan.source]
        if scan.moment is Moment.POST or state.change is Change.NONE:
            return self._version(scan, state, state.post, predicate), False
        if scan.moment is Moment.PRE:
            if not state.pre_lost:
                return self._version(scan, state, state.pre, predicate), False
            return self._reconstructed_pre(scan, state, linear, predicate)
        if state.change is Change.INSERTS:
            return self._raw_feed(scan, state, predicate), True
        raw = (
            self._raw_feed(scan, state, predicate)
            if state.change is Change.FEED
            else self._diff(scan, state, predicate)
        )
        return (self._net(scan, raw) if self._net_changes else raw), True

    def _version(self, scan: Scan, state: SourceState, version: int, predicate: exp.Expr | None) -> exp.Select:
        query = select(self._source_columns(scan), state.at_version(version))
        return self._where(scan, query, predicate)

    def _source_columns(self, scan: Scan) -> list[exp.Expr]:
        return [aliased(column(c.name), c.symbol) for c in scan.columns]

    def _where(self, scan: Scan, query: exp.Select, predicate: exp.Expr | None, signed: bool = False) -> exp.Select:
        if predicate is None:
            return query
        return select([*self._columns(scan), *self._m(signed)], query).where(predicate.copy(), copy=False)

    def _raw_feed(self, scan: Scan, state: SourceState, predicate: exp.Expr | None) -> exp.Select:
        incoming = exp.In(
            this=column("_change_type"),
            expressions=[exp.Literal.string("insert"), exp.Literal.string("update_postimage")],
        )
        sign = exp.Case(ifs=[exp.If(this=incoming, true=_ONE.copy())], default=exp.Neg(this=exp.paren(_ONE.copy())))
        query = select([*self._source_columns(scan), aliased(sign, M)], state.feed())
        return self._where(scan, query, predicate, signed=True)

    def _diff(self, scan: Scan, state: SourceState, predicate: exp.Expr | None) -> exp.Select:
        new = self._version(scan, state, state.post, predicate).select(aliased(_ONE.copy(), M), copy=False)
        minus = exp.Neg(this=exp.paren(_ONE.copy()))
        old = self._version(scan, state, state.pre, predicate).select(aliased(minus, M), copy=False)
        return select([*self._columns(scan), column(M)], exp.union(new, old, distinct=False, copy=False))

    def _reconstructed_pre(
        self, scan: Scan, state: SourceState, linear: bool, predicate: exp.Expr | None
    ) -> tuple[exp.Select, bool]:
        new = self._version(scan, state, state.post, predicate).select(aliased(_ONE.copy(), M), copy=False)
        change = self._raw_feed(scan, state, predicate)
        undone = select([*self._columns(scan), aliased(exp.Neg(this=column(M)), M)], change)
        both = select([*self._columns(scan), column(M)], exp.union(new, undone, distinct=False, copy=False))
        if linear:
            return both, True
        netted = self._net(scan, both)
        copies = exp.Anonymous(
            this="explode",
            expressions=[exp.Anonymous(this="array_repeat", expressions=[exp.true(), exp.cast(column(M), "int")])],
        )
        return select(self._columns(scan), select([*self._columns(scan), aliased(copies, "__ivm_copy")], netted)), False

    def _net(self, scan: Scan, raw: exp.Select) -> exp.Select:
        """Sums multiplicities of the same row; the same to the bit."""
        return net(raw, [(c.symbol, c.type) for c in scan.columns])

    def _join(self, join: Join, linear: bool) -> tuple[exp.Select, bool]:
        parts = [(child, *self._render(child, linear=linear)) for child in join.inputs]
        query, factors, aliases = exp.Select(), [], {}
        for i, (child, sub, is_signed) in enumerate(self._ordered(join, parts)):
            alias = f"r{i}"
            aliases.update(dict.fromkeys(child.symbols, alias))
            table = sub.subquery(alias, copy=False)
            query = query.from_(table, copy=False) if i == 0 else query.join(table, join_type="cross", copy=False)
            if is_signed:
                factors.append(exp.column(M, table=alias, quoted=True))
        query.set("expressions", self._columns(join) or [aliased(exp.true(), "__ivm_row")])
        if factors:
            product: exp.Expr = factors[0]
            for factor in factors[1:]:
                product = exp.Mul(this=product, expression=factor)
            query = query.select(aliased(product, M), copy=False)
        if join.condition is not None:
            query = query.where(join.condition.copy(), copy=False)
        return query, bool(factors)

    def _ordered(self, join: Join, parts: list[tuple[Relation, exp.Select, bool]]) -> list[tuple]:
        """The change first, then what is connected: Spark joins in this order, and the change is small."""
        first = next((i for i, part in enumerate(parts) if part[2]), 0)
        order, rest = [parts[first]], parts[:first] + parts[first + 1 :]
        links = [used_symbols(part) for part in conjuncts(join.condition)]
        while rest:
            here = {symbol for child, _, _ in order for symbol in child.symbols}
            best = next((p for p in rest if any(link & here and link & set(p[0].symbols) for link in links)), rest[0])
            rest.remove(best)
            order.append(best)
        return order

    def _union(self, union: UnionAll, linear: bool) -> tuple[exp.Select, bool]:
        parts = [(child, *self._render(child, linear=linear)) for child in union.inputs]
        is_signed = any(part[2] for part in parts)
        sides = []
        for child, query, own in parts:
            items = [aliased(column(symbol), name) for symbol, name in zip(child.symbols, union.names, strict=True)]
            m = [aliased(column(M) if own else _ONE.copy(), M)] if is_signed else []
            sides.append(select(items + m, query))
        whole: exp.Query = sides[0]
        for side in sides[1:]:
            whole = exp.Union(this=whole, expression=side, distinct=False)
        return select([column(name) for name in union.names] + self._m(is_signed), whole), is_signed

    def _aggregate(self, node: Aggregate) -> exp.Select:
        return self.grouped(node, self.keyed(node))

    def keyed(self, node: Aggregate) -> exp.Select:
        """The aggregate's input with its grouping columns beside."""
        child = self.bag(node.child)
        return select([column(s) for s in node.child.symbols] + [aliased(e.copy(), s) for s, e in node.groups], child)

    def grouped(self, node: Aggregate, keyed: exp.Select) -> exp.Select:
        items: list[exp.Expr] = [column(symbol) for symbol, _ in node.groups]
        items += [aliased(call.copy(), symbol) for symbol, call in node.measures]
        # One row, also where nobody wants a column of it.
        query = select(items or [aliased(exp.Count(this=exp.Star(), big_int=True), "__ivm_row")], keyed)
        return query.group_by(*(column(symbol) for symbol, _ in node.groups), copy=False) if node.groups else query

    def _restrict(self, node: Restrict, linear: bool) -> tuple[exp.Select, bool]:
        child, is_signed = self._render(node.child, linear=linear)
        keys, _ = self._render(node.keys, linear=True)
        wanted = select([aliased(key_hash(list(zip(node.keys_key, node.key_types, strict=True))), "__ivm_k")], keys)
        wanted.set("distinct", exp.Distinct())
        own = key_hash(list(zip(node.key, node.key_types, strict=True)))
        query = select([*self._columns(node), *self._m(is_signed)], child)
        condition = exp.EQ(this=own, expression=exp.column("__ivm_k", table="k", quoted=True))
        return query.join(wanted.subquery("k", copy=False), on=condition, join_type="left semi", copy=False), is_signed


def net(raw: exp.Select, columns: list[tuple[str, str]], *, keep_zero: bool = False) -> exp.Select:
    """One row per distinct row, to the bit, with the sum of the multiplicities; zero vanishes unless it is to be kept."""
    items, keys = [], []
    for symbol, type_ in columns:
        key = faithful(column(symbol), type_)
        keys.append(key)
        same = isinstance(key, exp.Column)
        value = column(symbol) if same else exp.Anonymous(this="first", expressions=[column(symbol)])
        items.append(value if same else aliased(value, symbol))
    total = exp.Sum(this=column(M))
    query = select([*items, aliased(total, M)], raw)
    if not keep_zero:
        query = query.having(exp.NEQ(this=total.copy(), expression=exp.Literal.number(0)), copy=False)
    return query.group_by(*keys, copy=False) if keys else query
