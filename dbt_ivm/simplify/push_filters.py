"""Law: a conjunct over one input of a join filters that input (papers/002: irrelevant changes)."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.relations import Filter, Join, Relation, conjuncts, used_symbols


def push_filters(relation: Relation) -> Relation:
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
