"""Sources under plain names instead of versions: the same SQL then runs on any engine, and fixtures stay readable."""

from __future__ import annotations

from sqlglot import exp

from dbt_ivm.algebra.relations import Relation, sources
from dbt_ivm.render.relations import Renderer
from dbt_ivm.render.sources import Change, SourceState, versioned

PRE, POST = 0, 1


class NamedState(SourceState):
    """Pre, Post and change of `t` are the tables `t_pre`, `t` and `t_changes`."""

    def at_version(self, version: int) -> exp.Table:
        return versioned((self.parts[0] + ("_pre" if version == PRE else ""),), None)

    def feed(self) -> exp.Table:
        return versioned((f"{self.parts[0]}_changes",), None)


def renderer(relation: Relation, changed: tuple[str, ...] = ()) -> Renderer:
    return Renderer(
        {
            name: NamedState((name,), POST, PRE, Change.FEED if name in changed else Change.NONE)
            for name in sources(relation)
        }
    )
