"""The adapter response of a refresh: fixed keys that scripts can read in run_results.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from dbt.adapters.contracts.connection import AdapterResponse

from dbt_ivm.protocol.environment import Outcome


@dataclass
class IvmResponse(AdapterResponse):
    strategy: str = ""
    incremental: bool = False
    reason: str = ""
    reason_text: str = ""
    branches: int = 0
    branches_removed: int = 0
    rows_changed: dict[str, int] = field(default_factory=dict)
    statements: int = 0
    seconds: float = 0.0
    state_version: int = -1
    watermark: dict[str, Any] = field(default_factory=dict)


def respond(outcome: Outcome, statements: int, seconds: float) -> IvmResponse:
    return IvmResponse(
        _message=summary(outcome, seconds),
        code=outcome.strategy,
        rows_affected=outcome.rows_affected,
        strategy=outcome.strategy,
        incremental=outcome.incremental,
        reason=outcome.reason.code,
        reason_text=outcome.reason.text,
        branches=outcome.branches,
        rows_changed=outcome.rows_changed,
        statements=statements,
        seconds=round(seconds, 2),
        state_version=outcome.record.version,
        watermark={name: asdict(mark) for name, mark in outcome.record.sources.items()},
    )


def summary(outcome: Outcome, seconds: float) -> str:
    """One line: what it did and why."""
    if outcome.strategy == "no_op":
        return f"no_op: {outcome.reason.text}, {seconds:.1f} s"
    if not outcome.incremental:
        return f"{outcome.strategy}: {outcome.rows_affected:,} rows, {outcome.reason}, {seconds:.1f} s"
    known = [count for count in outcome.rows_changed.values() if count >= 0]
    many = len(known) == len(outcome.rows_changed)
    rows = f"{sum(known):,} changed rows" if many else "changes"
    total = len(outcome.record.sources)
    word = "branch" if outcome.branches == 1 else "branches"
    sources = f"{len(outcome.rows_changed)} of {total} sources"
    return f"{outcome.strategy}: {rows} from {sources}, {outcome.branches} {word}, {seconds:.1f} s"
