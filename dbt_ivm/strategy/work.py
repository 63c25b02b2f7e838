"""What every strategy gets and gives: a generator of statements that receives each statement's rows."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.relations import Relation
from dbt_ivm.render.relations import Renderer
from dbt_ivm.render.sources import versioned
from dbt_ivm.state.layout import Layout

Rows = list[list]


@dataclass(frozen=True)
class Statement:
    """SQL to run; `purpose` is for logs and tests."""

    purpose: str
    sql: exp.Expr | str
    fetch: bool = False


@dataclass(frozen=True)
class Applied:
    """What was written: how many commits were ours, how many rows moved (None: the commit's own metrics tell)."""

    strategy: str
    commits: int
    rows: int | None


Steps = Generator[Statement, Rows, Applied]


@dataclass(frozen=True)
class Work:
    """`delta` is the signed change of the core's input (aggregate) or of the core (bag)."""

    layout: Layout
    renderer: Renderer
    state: tuple[str, ...]
    version: int
    batch: int
    delta: Relation
    inserts_only: bool = False

    def state_at(self, version: int | None) -> exp.Table:
        return versioned(self.state, version)

    def insert(self, rows: exp.Select, *, overwrite: bool = False) -> exp.Insert:
        target = exp.Schema(
            this=versioned(self.state, None),
            expressions=[exp.to_identifier(name, quoted=True) for name in self.layout.columns],
        )
        return exp.Insert(
            this=versioned(self.state, None) if overwrite else target, expression=rows, overwrite=overwrite
        )
