"""The delta's branches in the notation of papers/000: which state of each source every branch reads."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_ivm.algebra.relations import Empty, Join, Negate, Relation, Scan, UnionAll, sources


def branch_lines(delta: Relation) -> list[str]:
    """One text per branch.

    >>> from dbt_ivm.algebra.relations import Moment
    >>> a, b = Scan("s.a", (), Moment.CHANGE), Scan("s.b", ())
    >>> branch_lines(UnionAll((Join((a, b)), b), ()))
    ['D(s.a) x Post(s.b)', 'Post(s.b)']
    """
    return [" x ".join(_factors(branch)) for branch in _branches(delta)]


def _branches(node: Relation) -> Iterator[Relation]:
    if isinstance(node, Empty):
        return
    if isinstance(node, UnionAll) and not _is_by_key(node):
        for child in node.inputs:
            yield from _branches(child)
    elif isinstance(node, Join):
        for i, child in enumerate(node.inputs):
            parts = list(_branches(child))
            if len(parts) != 1:
                for part in parts:
                    yield node.with_children(*node.inputs[:i], part, *node.inputs[i + 1 :])
                return
        yield node
    elif len(node.children) == 1:
        for child in _branches(node.children[0]):
            yield node.with_children(child)
    else:
        yield node


def _is_by_key(node: Relation) -> bool:
    """The pair of `delta_by_key`: the operator over the touched keys as they are now, minus as they were."""
    return isinstance(node, UnionAll) and any(
        isinstance(child, Negate) for part in node.inputs for child in part.children
    )


def _factors(node: Relation) -> list[str]:
    if isinstance(node, Scan):
        return [f"{node.moment.value}({node.source})"]
    if _is_by_key(node):
        return [f"(touched groups of {' x '.join(sources(node.children[0]))}, after minus before)"]
    return [factor for child in node.children for factor in _factors(child)]
