"""Columns of text, aligned."""

from __future__ import annotations

from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]], indent: int = 2) -> list[str]:
    """
    >>> print(*table([("a", "bb", "c"), ("ddd", "e", "")]), sep="\\n")
      a    bb  c
      ddd  e
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [(" " * indent + line).rstrip() for line in lines]


def indented(text: str, indent: int = 5) -> list[str]:
    return [(" " * indent + line).rstrip() for line in text.splitlines()]
