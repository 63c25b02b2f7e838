"""Forms of a value that GROUP BY and hashing treat as the value itself.

GROUP BY turns -0.0 into 0.0 and sorts the entries of maps; hashing refuses maps. Netting groups by the *faithful* form (text
of floats, entries of maps) and carries the original. A *key* goes the other way: values that GROUP BY calls equal must hash
alike, so what cannot be normalised is left out of the hash, which only ever finds candidates.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.types import SparkType, spark_type


def faithful(value: exp.Expr, type_: str) -> exp.Expr:
    """
    >>> faithful(exp.column("d"), "double").sql("spark")
    'CAST(d AS STRING)'
    >>> faithful(exp.column("i"), "int").sql("spark")
    'i'
    """
    return _faithful(value, spark_type(type_), 0)


def _faithful(value: exp.Expr, type_: SparkType, depth: int) -> exp.Expr:
    if not type_.has_unfaithful_equality:
        return value.copy()
    if type_.is_floating:
        return exp.cast(value.copy(), "string")
    variable = exp.to_identifier(f"__ivm_e{depth}")
    if type_.name == "array":
        return _transform(value.copy(), variable, _faithful(variable.copy(), type_.fields[0][1], depth + 1))
    if type_.name == "map":
        pair = [
            _faithful(_dot(variable, part), field, depth + 1)
            for part, field in (("key", type_.fields[0][1]), ("value", type_.fields[1][1]))
        ]
        return _transform(exp.Anonymous(this="map_entries", expressions=[value.copy()]), variable, _struct(pair))
    inner = [_faithful(_dot(value, name), field, depth) for name, field in type_.fields]
    return exp.Case(
        ifs=[exp.If(this=exp.Is(this=value.copy(), expression=exp.null()), true=exp.null())], default=_struct(inner)
    )


def _dot(value: exp.Expr, name: str) -> exp.Expr:
    return exp.Dot(this=value.copy(), expression=exp.to_identifier(name, quoted=True))


def _struct(values: list[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="struct", expressions=values)


def _transform(value: exp.Expr, variable: exp.Identifier, body: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="transform", expressions=[value, exp.Lambda(this=body, expressions=[variable.copy()])])


def row_hash(values: list[tuple[exp.Expr, str]]) -> exp.Expr:
    """Hash of a row in which every bit counts."""
    return _hash([faithful(value, type_) for value, type_ in values])


def key_hash(values: list[tuple[exp.Expr, str]]) -> exp.Expr:
    """Hash of a grouping key: equal for whatever GROUP BY calls equal.

    >>> key_hash([(exp.column("d"), "double")]).sql("spark")
    'XXHASH64(CAST(CASE WHEN d = 0 THEN 0 ELSE d END AS STRING))'
    """
    parts: list[exp.Expr] = []
    for value, text in values:
        type_ = spark_type(text)
        if type_.is_floating:
            zero = exp.If(this=exp.EQ(this=value.copy(), expression=exp.Literal.number(0)), true=exp.Literal.number(0))
            parts.append(exp.cast(exp.Case(ifs=[zero], default=value.copy()), "string"))
        elif not type_.has_unfaithful_equality:
            parts.append(value.copy())
    return _hash(parts)


def _hash(parts: list[exp.Expr]) -> exp.Expr:
    if not parts:
        return exp.cast(exp.Literal.number(0), "bigint")
    return exp.Anonymous(this="xxhash64", expressions=parts)
