"""Rows with the names of their columns."""

from __future__ import annotations


class Rows(list):
    def __init__(self, rows: list[list], names: list[str]) -> None:
        super().__init__(rows)
        self.names = names

    def dicts(self) -> list[dict]:
        return [dict(zip(self.names, row, strict=True)) for row in self]
