"""A case: tables, views over them, batches of changes; as a script it is plain SQL, to read, to keep and to replay.

-- setup
CREATE TABLE {s}.t (k INT) USING delta;
-- view v
SELECT k FROM {s}.t
-- batch
DELETE FROM {s}.t;
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from tests.properties.changes import batches
from tests.properties.choose import Choose
from tests.properties.queries import Queries
from tests.properties.schema import PLAIN_KINDS, Table, insert, rows, tables


@dataclass(frozen=True)
class Case:
    setup: tuple[str, ...]
    views: tuple[tuple[str, str], ...]
    """(name, SELECT); a later one may read an earlier one."""
    batches: tuple[tuple[str, ...], ...]
    switched_off: frozenset[str] = frozenset()
    check_state: bool = field(default=True, compare=False)
    """Compare hidden columns with a fresh build at the end: as costly as a refresh."""

    def script(self) -> str:
        lines = ["-- setup", *(f"{text};" for text in self.setup)]
        if self.switched_off:
            lines.append(f"-- off {', '.join(sorted(self.switched_off))}")
        for name, text in self.views:
            lines += [f"-- view {name}", f"{text};"]
        for batch in self.batches:
            lines += ["-- batch", *(f"{text};" for text in batch)]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_script(cls, text: str) -> Case:
        """
        >>> case = Case(("CREATE TABLE {s}.t (k INT)",), (("v", "SELECT k FROM {s}.t"),), (("DELETE FROM {s}.t",), ()))
        >>> Case.from_script(case.script()) == case
        True
        """
        case = cls((), (), ())
        head = ""
        for line in text.splitlines():
            if line.startswith("-- "):
                head = line[3:].strip()
                if head == "batch":
                    case = replace(case, batches=(*case.batches, ()))
                elif head.startswith("off "):
                    case = replace(case, switched_off=frozenset(head[4:].split(", ")))
            elif line.strip():
                statement = line.strip().removesuffix(";")
                if head == "setup":
                    case = replace(case, setup=(*case.setup, statement))
                elif head.startswith("view "):
                    case = replace(case, views=(*case.views, (head[5:], statement)))
                elif head == "batch":
                    case = replace(case, batches=(*case.batches[:-1], (*case.batches[-1], statement)))
        return case


def filled(choose: Choose, made: list[Table], high: int = 6) -> list[str]:
    statements = []
    for table in made:
        statements.append(table.create())
        content = rows(choose, table, 0, high)
        if content:
            statements.append(insert(table, content))
    return statements


@st.composite
def cases(draw, switches: tuple[frozenset[str], ...], *, stacked: bool = False) -> Case:
    """`stacked`: a second view reads the first beside the tables."""
    choose = Choose.by_hypothesis(draw)
    off = choose.of(switches)
    made = tables(choose, PLAIN_KINDS)
    setup = filled(choose, made)
    first = Queries(choose, made, spark=False).view()
    views = [("v", first.sql)]
    if stacked:
        upstream = Table("v", first.columns)
        views.append(("w", Queries(choose, [upstream, upstream, *made], spark=False).view().sql))
    changed = batches(choose, made, high=2)
    return Case(tuple(setup), tuple(views), tuple(map(tuple, changed)), off, choose.chance(25))
