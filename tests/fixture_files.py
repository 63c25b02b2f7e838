"""The one format of fixtures: titled cases in a file of SQL.

    -- title: what the case shows
    -- key: value
    SELECT ...;

    -- section
    SELECT ...;

The first SELECT is the view, written by hand; the sections behind it are written by `python -m tests.regenerate`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "fixtures"

_KEY = re.compile(r"-- (\w+): (.*)\Z")
_SECTION = re.compile(r"-- (\w+)\Z")


@dataclass
class Case:
    path: Path
    title: str
    keys: dict[str, str] = field(default_factory=dict)
    sections: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.path.stem}: {self.title}"

    @property
    def view(self) -> str:
        return self.sections["view"]

    def names(self, key: str) -> list[str]:
        return [name.strip() for name in self.keys.get(key, "").split(",") if name.strip()]

    def text(self) -> str:
        lines = [f"-- title: {self.title}", *(f"-- {key}: {value}" for key, value in self.keys.items())]
        for name, sql in self.sections.items():
            lines += [*([] if name == "view" else ["", f"-- {name}"]), f"{sql};"]
        return "\n".join(lines) + "\n"


def load(room: str, name: str = "*") -> list[Case]:
    return [case for path in sorted((FOLDER / room).glob(f"{name}.sql")) for case in read(path)]


def read(path: Path) -> list[Case]:
    cases: list[Case] = []
    section, lines = "view", list[str]()

    def close() -> None:
        sql = "\n".join(lines).strip()
        if cases and sql:
            cases[-1].sections[section] = sql.removesuffix(";")
        lines.clear()

    for line in path.read_text().splitlines():
        key, header = _KEY.match(line), _SECTION.match(line)
        if key and key[1] == "title":
            close()
            section = "view"
            cases.append(Case(path, key[2]))
        elif key:
            cases[-1].keys[key[1]] = key[2]
        elif header:
            close()
            section = header[1]
        else:
            lines.append(line)
    close()
    return cases


def write(path: Path, cases: list[Case]) -> None:
    path.write_text("\n".join(case.text() for case in cases))
