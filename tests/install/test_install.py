"""An existing project on a fresh machine: `pip install` of the wheel, one entry in `packages.yml`, and nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
NOT_THE_SOURCE = shutil.ignore_patterns(
    ".git", ".venv", "*.egg-info", "build", "dist", "target", "logs", "dbt_packages", "spark-warehouse", "metastore_db",
    "__pycache__", ".*_cache", ".hypothesis",
)  # fmt: skip


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """The source tree as a repository of its own, outside this one."""
    folder = tmp_path_factory.mktemp("source") / "dbt_ivm_source"
    shutil.copytree(REPOSITORY, folder, ignore=NOT_THE_SOURCE)
    run("git", "init", "--quiet", "--initial-branch", "main", cwd=folder)
    run("git", "add", "--all", cwd=folder)
    author = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.com"]
    run("git", *author, "commit", "--quiet", "--message", "The source tree", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(source) -> Path:
    place = source.parent / "wheels"
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", place, source, cwd=source.parent)
    [built] = place.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory) -> Path:
    """A fresh environment with dbt and Spark, and dbt_ivm from the wheel alone."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    found = folder / "bin" / "python"
    packages = Path(run(found, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    # A path in a .pth file does not read the .pth files there: the editable dbt_ivm of the suite stays out.
    (packages / "inherited.pth").write_text(sysconfig.get_path("purelib") + "\n")
    run(sys.executable, "-m", "pip", "--python", found, "install", "--quiet", "--no-deps", wheel, cwd=folder)
    return found


@pytest.fixture(scope="module")
def found(source, python, tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("projects")
    bare = folder / "dbt_ivm.git"
    run("git", "clone", "--quiet", "--bare", source, bare, cwd=folder)
    packages = {"by_local": {"local": str(source)}, "by_git": {"git": str(bare), "revision": "main"}}
    arguments = [part for name, package in packages.items() for part in (name, json.dumps(package))]
    run(python, Path(__file__).with_name("existing_project.py"), folder, *arguments, cwd=folder)
    return {**json.loads((folder / "found.json").read_text()), "folder": folder, "python": python}


def test_wheel_has_the_planner_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"dbt_ivm"}
    sources = {str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "dbt_ivm").rglob("*.py")}
    assert sources <= set(names)


def test_dbt_ivm_comes_from_the_wheel(found):
    assert Path(found["dbt_ivm"]).is_relative_to(found["python"].parents[1])


@pytest.mark.parametrize("name", ["by_local", "by_git"])
def test_view_is_built_and_refreshed(found, name):
    assert "failed" not in found[name], found[name]
    assert found[name]["strategies"][0] == "build"
    assert found[name]["strategies"][1] in ("append", "replace", "merge", "overwrite")
    assert found[name]["rows"] == [[0, 7], [1, 6]]


def test_package_brings_macros_and_no_models_or_tests(found):
    installed = found["folder"] / "by_git" / "dbt_packages" / "dbt_ivm"
    assert (installed / "macros" / "materializations" / "ivm.sql").exists()
    manifest = json.loads((found["folder"] / "by_git" / "target" / "manifest.json").read_text())
    ours = {node["resource_type"] for node in manifest["nodes"].values() if node["package_name"] == "dbt_ivm"}
    assert ours == {"operation"}
