"""Law (papers/000, section 4.2): the i-th of N branches is Pre(R1) x ... x Pre(Ri-1) x D(Ri) x Post(Ri+1) x ... x Post(Rn).

Pre and Post go by tuple variable, so a table joined with itself needs nothing special. An unchanged input has no branch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dbt_ivm.algebra.relations import Join, Moment, Project, Relation, UnionAll, at, column


def delta_join(join: Join, touches: Callable[[Relation], bool], delta: Callable[[Relation], Relation]) -> Relation:
    """
    >>> from dbt_ivm.algebra.relations import Scan, scans
    >>> view = Join((Scan("a", ()), Scan("b", ()), Scan("c", ())))
    >>> for branch in delta_join(view, lambda r: r.source != "b", lambda r: at(r, Moment.CHANGE)).inputs:
    ...     print(*(f"{scan.moment.value}({scan.source})" for scan in scans(branch)))
    D(a) Post(b) Post(c)
    Pre(a) Pre(b) D(c)
    """
    branches = []
    for i, changed in enumerate(join.inputs):
        if touches(changed):
            before = tuple(at(child, Moment.PRE) for child in join.inputs[:i])
            after = tuple(at(child, Moment.POST) for child in join.inputs[i + 1 :])
            branches.append(replace(join, inputs=(*before, delta(changed), *after)))
    if len(branches) == 1:
        return branches[0]
    items = tuple((symbol, column(symbol)) for symbol in join.symbols)
    return UnionAll(tuple(Project(branch, items) for branch in branches), join.symbols)
