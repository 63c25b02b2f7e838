"""Imports go downward only, nobody but the bridge knows dbt, and importing the package costs next to nothing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "dbt_ivm"

# Lowest first; rooms of one floor do not know each other.
FLOORS = (
    ("algebra", "errors"),
    ("parse", "delta", "simplify", "render"),
    ("state",),
    ("capture", "strategy"),
    ("protocol",),
    ("planner", "explain"),
    ("bridge",),
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def _room(module: Path) -> str:
    return module.parts[0].removesuffix(".py")


def _imported(module: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse((PACKAGE / module).read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the room"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def test_every_room_has_a_floor():
    assert {_room(module) for module in MODULES} == set(FLOOR_OF)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_go_downward(module):
    own = _room(module)
    rooms = {name.split(".")[1] for name in _imported(module) if name.startswith("dbt_ivm.")}
    assert {room for room in rooms - {own} if FLOOR_OF.get(room, -1) >= FLOOR_OF[own]} == set()


@pytest.mark.parametrize("module", [module for module in MODULES if _room(module) != "bridge"], ids=str)
def test_only_the_bridge_knows_dbt(module):
    assert {name for name in _imported(module) if re.match(r"(dbt|dbt_common|agate|pyspark)\b(?!_)", name)} == set()


def test_importing_the_package_is_light():
    code = "import sys, dbt_ivm; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not {"sqlglot", "dbt", "pyspark", "agate", "jinja2"} & set(done.stdout.split())


def test_no_machine_is_named():
    """Neither paths of the machine it was written on nor hosts that packages were fetched from."""
    words = [
        "/wo" + "rk/",
        "pypi.o" + "rg",
        "pythonhos" + "ted",
        "repo1.mav" + "en",
        "maven.o" + "rg",
        "artifact" + "ory",
    ]
    ours = ("*", ".ci/*", "dbt_ivm/**/*", "macros/**/*", "tests/**/*", "docs/**/*", "integration_tests/*")
    ours += ("integration_tests/models/**/*", "integration_tests/sources/*", "integration_tests/seeds/*")
    files = {path for pattern in ours for path in ROOT.glob(pattern) if path.is_file() and path.suffix != ".pyc"}
    assert PACKAGE / "planner.py" in files
    found = [(path, word) for path in files for word in words if word in path.read_text(errors="replace")]
    assert found == []
