"""Choices of a generator: drawn by Hypothesis, a failing case shrinks towards the first option of each.

Where a try is too dear to shrink, a plain random source makes them: Hypothesis begins with the simplest of everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choose:
    def __init__(self, number: Callable[[int, int], int]) -> None:
        self._number = number

    @classmethod
    def by_hypothesis(cls, draw: Callable[[st.SearchStrategy[int]], int]) -> Choose:
        return cls(lambda low, high: draw(st.integers(low, high)))

    @classmethod
    def by_seed(cls, seed: int | str) -> Choose:
        return cls(Random(seed).randint)

    def number(self, low: int, high: int) -> int:
        return low if low == high else self._number(low, high)

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
