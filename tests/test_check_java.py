"""`.ci/check-java`: a missing or wrong Java is told at once, with what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
TOOLS = ("bash", "cat", "cut", "env", "head", "sed")


def fake_java(folder: Path, version: str, *, code: int = 0) -> Path:
    """A JAVA_HOME whose java prints what Java prints, to standard error."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    says = f'openjdk version "{version}" 2025-01-01' if version else "The operation couldn't be completed."
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{says}\nEND\nexit {code}\n")
    java.chmod(0o755)
    return folder


def check(folder: Path, **environment: str) -> subprocess.CompletedProcess:
    """With nothing on the PATH but what the script needs."""
    tools = folder / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name) or name)
    path = environment.pop("PATH", "")
    return subprocess.run(
        [str(REPOSITORY / ".ci" / "check-java")],
        env={"PATH": f"{path}:{tools}" if path else str(tools), **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("version", ["17.0.9", "17", "21.0.2", "21-ea", "17.0.9-internal"])
def test_right_java_is_silent(tmp_path, version):
    done = check(tmp_path, JAVA_HOME=str(fake_java(tmp_path / "jdk", version)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.22", "16.0.2", "18", "22.0.1", "25"])
def test_wrong_java_is_named(tmp_path, version):
    done = check(tmp_path, JAVA_HOME=str(fake_java(tmp_path / "jdk", version)))
    assert done.returncode == 1
    assert f"is Java {version}." in done.stderr
    assert "Spark needs Java 17 or 21. To get it:" in done.stderr
    assert "apt install openjdk-17-jre-headless" in done.stderr


def test_missing_java(tmp_path):
    done = check(tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("Java was not found.\nSpark needs Java 17 or 21.")


def test_java_home_without_java(tmp_path):
    done = check(tmp_path, JAVA_HOME=str(tmp_path / "nowhere"))
    assert done.returncode == 1
    assert f"JAVA_HOME is {tmp_path / 'nowhere'}, but there is no bin/java in it." in done.stderr


def test_java_that_does_not_run(tmp_path):
    done = check(tmp_path, JAVA_HOME=str(fake_java(tmp_path / "jdk", "", code=1)))
    assert done.returncode == 1
    assert "bin/java does not run." in done.stderr


def test_java_on_the_path(tmp_path):
    done = check(tmp_path, PATH=str(fake_java(tmp_path / "jdk", "11.0.1") / "bin"))
    assert done.returncode == 1 and "is Java 11.0.1." in done.stderr


@pytest.mark.parametrize("target", ["demo", "test"])
def test_make_says_so_before_it_installs_anything(tmp_path, target):
    for name in ("Makefile", "setup.py"):
        shutil.copy(REPOSITORY / name, tmp_path / name)
    shutil.copytree(REPOSITORY / ".ci", tmp_path / ".ci")
    java = fake_java(tmp_path / "jdk", "11.0.22")
    done = subprocess.run(
        ["make", target], cwd=tmp_path, env={**os.environ, "JAVA_HOME": str(java)}, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "is Java 11.0.22." in done.stderr and "Spark needs Java 17 or 21" in done.stderr
    assert not (tmp_path / ".venv").exists()
