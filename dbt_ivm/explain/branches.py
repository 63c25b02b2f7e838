"""The delta's branches in the notation of papers/000: which state of each source every branch reads."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_ivm.algebra.relations import Empty, Join, Moment, Negate, Relation, Restrict, UnionAll, scans


def branch_lines(delta: Relation) -> list[str]:
    """One text per branch.

    >>> from dbt_ivm.algebra.relations import Scan
    >>> a, b = Scan("s.a", (), Moment.CHANGE), Scan("s.b", ())
    >>> branch_lines(UnionAll((Join((a, b)), b), ()))
    ['D(s.a) x Post(s.b)', 'Post(s.b)']
    """
    return [_text(branch) for branch in _branches(delta)]


def _branches(node: Relation) -> Iterator[Relation]:
    if isinstance(node, UnionAll):
        for child in node.inputs:
            yield from _branches(child)
    elif isinstance(node, Empty):
        return
    elif isinstance(node, Join):
        for i, child in enumerate(node.inputs):
            if _changes(child) and isinstance(_inner(child), UnionAll):
                for part in _branches(child):
                    yield node.with_children(*node.inputs[:i], part, *node.inputs[i + 1 :])
                return
        yield node
    elif len(node.children) == 1 and not isinstance(node, Restrict):
        for child in _branches(node.children[0]):
            yield node.with_children(child)
    else:
        yield node


def _inner(node: Relation) -> Relation:
    while len(node.children) == 1 and not isinstance(node, Restrict):
        node = node.children[0]
    return node


def _changes(node: Relation) -> bool:
    return any(scan.moment is Moment.CHANGE for scan in scans(node))


def _text(branch: Relation) -> str:
    sign = "- " if sum(isinstance(node, Negate) for node in branch.walk()) % 2 else ""
    restricted = next((node for node in branch.walk() if isinstance(node, Restrict)), None)
    if restricted is None:
        return sign + " x ".join(f"{scan.moment.value}({scan.source})" for scan in scans(branch))
    keys = {id(scan) for scan in scans(restricted.keys)}
    read = [scan for scan in scans(branch) if id(scan) not in keys]
    changed = dict.fromkeys(scan.source for scan in scans(restricted.keys) if scan.moment is Moment.CHANGE)
    text = " x ".join(f"{scan.moment.value}({scan.source})" for scan in read)
    return f"{sign}{text}, for keys touched by {', '.join(f'D({name})' for name in changed)}"
