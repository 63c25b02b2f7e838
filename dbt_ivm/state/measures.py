"""Aggregate calls as partials that can be folded (papers/004, section 3.1): COUNT(*) always, COUNT(E) beside SUM(E).

| call | partials | maintained by |
|---|---|---|
| count(e) | n = count(e) | adding and subtracting |
| sum(e) | s = sum(e), n | adding and subtracting; a float loses precision by subtracting: its group is recomputed |
| avg(e) | s, n | as sum; the quotient is rounded once, as Spark does, or the group is recomputed |
| min(e), max(e) | v | least or greatest; recomputed when the stored extreme may have been deleted |
| other | v | recomputed for each touched group |
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sqlglot import exp

from dbt_ivm.algebra.relations import column
from dbt_ivm.algebra.types import spark_type
from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.functions import PER_GROUP, names_of


class Kind(Enum):
    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    RECOMPUTED = "recomputed"


@dataclass(frozen=True)
class Partial:
    """A hidden column of the state and the call that builds it."""

    name: str
    kind: Kind
    call: exp.Expr
    argument: exp.Expr


@dataclass(frozen=True)
class Measure:
    """A user's aggregate call over its partials."""

    symbol: str
    value: exp.Expr
    """Over the partials' names."""
    partials: tuple[Partial, ...]


class Partials:
    """Shares partials among calls: sum(x), avg(x) and count(x) keep one sum and one count."""

    def __init__(self) -> None:
        self._by_call: dict[tuple[Kind, exp.Expr], Partial] = {}

    @property
    def all(self) -> tuple[Partial, ...]:
        return tuple(self._by_call.values())

    def of(self, kind: Kind, call: exp.Expr, argument: exp.Expr) -> Partial:
        key = (kind, call)
        if key not in self._by_call:
            letter = {Kind.COUNT: "n", Kind.SUM: "s"}.get(kind, "v")
            name = f"__ivm_{letter}{len(self._by_call)}"
            self._by_call[key] = Partial(name, kind, call, argument)
        return self._by_call[key]


def read_measure(symbol: str, call: exp.Expr, partials: Partials, argument_type: str) -> Measure:
    """`argument_type` is Spark's type of the call's argument, or empty."""
    call, argument = _without_filter(call)
    if isinstance(call, exp.Count) and not isinstance(call.this, exp.Distinct):
        return _count(symbol, call, argument, partials)
    if isinstance(call, exp.Sum) and not isinstance(call.this, exp.Distinct):
        return _sum(symbol, argument, partials, argument_type)
    if isinstance(call, exp.Avg) and not isinstance(call.this, exp.Distinct):
        return _average(symbol, call, argument, partials, argument_type)
    if isinstance(call, exp.Min | exp.Max) and not isinstance(call.this, exp.Distinct) and not call.expressions:
        kind = Kind.MIN if isinstance(call, exp.Min) else Kind.MAX
        part = partials.of(kind, type(call)(this=argument.copy()), argument)
        return Measure(symbol, column(part.name), (part,))
    return _recomputed(symbol, call, partials)


def _without_filter(call: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """agg(e) FILTER (WHERE c) is agg(CASE WHEN c THEN e END)."""
    if not isinstance(call, exp.Filter):
        return call, call.this if isinstance(call.this, exp.Expr) else exp.null()
    inner, condition = call.this.copy(), call.expression.this
    if isinstance(inner.this, exp.Distinct) or not isinstance(inner, exp.Count | exp.Sum | exp.Avg | exp.Min | exp.Max):
        return call, exp.null()
    value = exp.Literal.number(1) if isinstance(inner.this, exp.Star) else inner.this
    if inner.expressions:
        value = exp.Case(ifs=[exp.If(this=_all_known([inner.this, *inner.expressions]), true=exp.Literal.number(1))])
        inner.set("expressions", None)
    case = exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])
    inner.set("this", case)
    return inner, case


def _all_known(values: list[exp.Expr]) -> exp.Expr:
    return exp.and_(*(exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.null())) for value in values))


def _count_partial(argument: exp.Expr, partials: Partials) -> Partial:
    return partials.of(Kind.COUNT, exp.Count(this=argument.copy(), big_int=True), argument)


def _count(symbol: str, call: exp.Count, argument: exp.Expr, partials: Partials) -> Measure:
    if isinstance(call.this, exp.Star):
        return Measure(symbol, column("__ivm_count"), ())
    if call.expressions:
        known = _all_known([call.this, *call.expressions])
        argument = exp.Case(ifs=[exp.If(this=known, true=exp.Literal.number(1))])
    part = _count_partial(argument, partials)
    return Measure(symbol, column(part.name), (part,))


def _sum(symbol: str, argument: exp.Expr, partials: Partials, type_: str) -> Measure:
    known = spark_type(type_)
    if not (known.is_integral or known.is_floating or known.is_decimal):
        return _recomputed(symbol, exp.Sum(this=argument.copy()), partials)
    total = partials.of(Kind.SUM, exp.Sum(this=argument.copy()), argument)
    return Measure(symbol, column(total.name), (total, _count_partial(argument, partials)))


def _average(symbol: str, call: exp.Expr, argument: exp.Expr, partials: Partials, type_: str) -> Measure:
    known = spark_type(type_)
    if known.name in ("tinyint", "smallint", "int"):
        addend = argument
    elif known.name == "bigint" or known.is_floating:
        # Spark sums these as double: so do we, with the float rule for retractions.
        addend = exp.cast(argument.copy(), "double")
    elif known.is_decimal:
        return _decimal_average(symbol, call, argument, partials, known.decimal)
    else:
        return _recomputed(symbol, call, partials)
    total = partials.of(Kind.SUM, exp.Sum(this=addend.copy()), addend)
    count = _count_partial(argument, partials)
    quotient = exp.Div(this=exp.cast(column(total.name), "double"), expression=exp.cast(column(count.name), "double"))
    return Measure(symbol, _when_counted(count, quotient), (total, count))


def _decimal_average(
    symbol: str, call: exp.Expr, argument: exp.Expr, partials: Partials, decimal: tuple[int, int]
) -> Measure:
    """Spark rounds sum/count once, to scale + 4. A quotient with k - 4 more digits, rounded again, gives the same while the
    count is below 10^(k - 4): two different quotients with such a divisor are further apart than the first rounding."""
    precision, scale = decimal
    digits = min(20, 27 - precision)
    if digits < 12:
        return _recomputed(symbol, call, partials)
    total = partials.of(Kind.SUM, exp.Sum(this=argument.copy()), argument)
    count = _count_partial(argument, partials)
    quotient = exp.Div(
        this=exp.cast(column(total.name), f"decimal({precision + 10},{scale})"),
        expression=exp.cast(column(count.name), f"decimal({digits},0)"),
    )
    value = exp.cast(exp.paren(quotient), f"decimal({min(38, precision + 4)},{min(38, scale + 4)})")
    limit = exp.GTE(this=column(count.name), expression=exp.Literal.number(10 ** (digits - 4)))
    error = exp.Anonymous(
        this="raise_error", expressions=[exp.Literal.string("dbt_ivm: too many rows for one average")]
    )
    exact = exp.Case(ifs=[exp.If(this=limit, true=error)], default=value)
    return Measure(symbol, _when_counted(count, exact), (total, count))


def _when_counted(count: Partial, value: exp.Expr) -> exp.Expr:
    some = exp.GT(this=column(count.name), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=some, true=value)])


def _recomputed(symbol: str, call: exp.Expr, partials: Partials) -> Measure:
    inner = call.this if isinstance(call, exp.Filter) else call
    countable = isinstance(inner, exp.Count) and isinstance(inner.this, exp.Distinct)
    basic = isinstance(inner, exp.Sum | exp.Avg | exp.Min | exp.Max | exp.Count)
    if not (countable or basic or any(name in PER_GROUP for name in names_of(inner))):
        raise NotIncremental(
            "aggregate",
            f"{(names_of(inner) or [inner.key])[0]}() has no incremental law yet",
            "count, sum, avg, min and max have one",
        )
    part = partials.of(Kind.RECOMPUTED, call, exp.null())
    return Measure(symbol, column(part.name), (part,))
