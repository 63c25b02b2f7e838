"""A source in this refresh: where its Pre, Post and change are read from.

One range of `table_changes` per table and query, and never an unversioned name beside it: Delta's relation cache
would resolve one to the other and return wrong rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sqlglot import exp


class Change(Enum):
    NONE = "unchanged"
    INSERTS = "inserts only"
    FEED = "change feed"
    DIFF = "difference of two versions"


@dataclass(frozen=True)
class SourceState:
    parts: tuple[str, ...]
    post: int
    pre: int
    change: Change = Change.NONE
    pre_lost: bool = False
    """Pre is beyond Delta's retention: it is read as Post minus the change."""
    rows: int | None = None
    """How many rows changed, where the history tells."""

    def at_version(self, version: int) -> exp.Table:
        return versioned(self.parts, version)

    def feed(self) -> exp.Table:
        name = ".".join(f"`{part.replace('`', '``')}`" for part in self.parts)
        call = exp.Anonymous(
            this="table_changes",
            expressions=[exp.Literal.string(name), exp.Literal.number(self.pre + 1), exp.Literal.number(self.post)],
        )
        return exp.Table(this=call)


def versioned(parts: tuple[str, ...], version: int | None) -> exp.Table:
    """
    >>> versioned(("a", "b"), 3).sql("spark")
    '`a`.`b` VERSION AS OF 3'
    """
    names = dict(zip(("this", "db", "catalog"), reversed(parts), strict=False))
    table = exp.Table(**{key: exp.to_identifier(part, quoted=True) for key, part in names.items()})
    if version is not None:
        table.set("version", exp.Version(this="VERSION", kind="AS OF", expression=exp.Literal.number(version)))
    return table
