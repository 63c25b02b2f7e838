"""Law: a conjunct over one input of a join filters that input (papers/002: irrelevant changes)."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.relations import Filter, Join, Relation, conjuncts, used_symbols


def push_filters(relation: Relation) -> Relation:
    """
    >>> from dbt_ivm.algebra.relations import Scan, ScanColumn, column
    >>> t, u = (Scan(name, (ScanColumn(f"{name}_1", "x", "int"),)) for name in "tu")
    >>> join = push_filters(Join((t, u), exp.GT(this=column("t_1"), expression=exp.Literal.number(5))))
    >>> [type(child).__name__ for child in join.inputs], join.condition
    (['Filter', 'Scan'], None)
    """
    return relation.rewrite(_push)


def _push(node: Relation) -> Relation:
    if not isinstance(node, Join):
        return node
    inputs, kept = list(node.inputs), []
    for part in conjuncts(node.condition):
        symbols = used_symbols(part)
        home = [i for i, child in enumerate(inputs) if symbols and symbols <= set(child.symbols)]
        if home:
            inputs[home[0]] = Filter(inputs[home[0]], part)
        else:
            kept.append(part)
    return Join(tuple(inputs), exp.and_(*kept) if kept else None)
