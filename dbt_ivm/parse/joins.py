"""Inner joins of scopes: ON, USING, NATURAL, comma."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.relations import column
from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.scope import Scope


def join_scopes(left: Scope, right: Scope, join: exp.Join) -> tuple[Scope, exp.Expr | None]:
    """The scope after the join and the equalities of USING or NATURAL."""
    scope = Scope(left.items + right.items, {**left.merged, **right.merged}, left.hidden + right.hidden)
    names = [node.name.lower() for node in join.args.get("using") or []]
    if (join.method or "").upper() == "NATURAL":
        names = [name.lower() for name, _ in left.star() if right.visible(name)]
    equalities: list[exp.Expr] = []
    for name in names:
        sides = left.visible(name), right.visible(name)
        if len(sides[0]) != 1 or len(sides[1]) != 1:
            raise NotIncremental("ambiguous_name", f"USING column `{name}` is missing or ambiguous")
        scope.merged[name] = sides[0][0]
        scope.hidden.append(sides[1][0])
        equalities.append(exp.EQ(this=column(sides[0][0]), expression=column(sides[1][0])))
    # Spark puts the columns of the last USING first in `*`, then those of earlier ones.
    scope.merged = {**{name: scope.merged[name] for name in names}, **scope.merged}
    return scope, exp.and_(*equalities, copy=False) if equalities else None
