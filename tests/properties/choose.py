"""Choices of a generator: Hypothesis draws them, so that a failing case shrinks towards the first option of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choose:
    def __init__(self, draw: Callable[[st.SearchStrategy], Any]) -> None:
        self._draw = draw

    def number(self, low: int, high: int) -> int:
        return low if low == high else self._draw(st.integers(low, high))

    def of(self, options: Sequence[T]) -> T:
        return options[self.number(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """False is the simpler answer."""
        return self.number(1, 100) > 100 - percent

    def some(self, options: Sequence[T], low: int, high: int) -> list[T]:
        """Between `low` and `high` different options, in their order."""
        count = min(self.number(low, high), len(options))
        rest = list(range(len(options)))
        picked = [rest.pop(self.number(0, len(rest) - 1)) for _ in range(count)]
        return [options[i] for i in sorted(picked)]
