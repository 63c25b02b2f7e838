"""Sets of optimisations that a case runs without: naive and simplified plans, and every strategy, must give the same view."""

from __future__ import annotations

from dbt_ivm.bridge.config import SWITCHES

NONE: frozenset[str] = frozenset()
NAIVE = frozenset(SWITCHES)
ONE_EACH = tuple(frozenset((name,)) for name in SWITCHES)
STRATEGIES = (
    frozenset(("overwrite",)),
    frozenset(("overwrite", "append")),
    frozenset(("overwrite", "append", "replace")),
)
ALL_SETS = (NONE, NAIVE, NONE, *STRATEGIES, *ONE_EACH)
