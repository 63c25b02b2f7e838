"""Writes the generated sections of all fixtures anew: `python -m tests.regenerate`, then read the difference in git."""

from __future__ import annotations

from tests import fixture_files, generated
from tests.sections import ROOMS


def main() -> None:
    for room, sections in ROOMS.items():
        for path in sorted((fixture_files.FOLDER / room).glob("*.sql")):
            cases = fixture_files.read(path)
            for case in cases:
                case.sections = sections(case)
            fixture_files.write(path, cases)
    for name in generated.VIEWS:
        (fixture_files.FOLDER / "generated" / f"{name}.sql").write_text(generated.text(name))


if __name__ == "__main__":
    main()
