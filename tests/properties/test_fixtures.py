"""Cases that once failed, replayed on both engines."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.properties.case import Case
from tests.properties.duck_check import check_case
from tests.properties.spark_check import check_group

FOLDER = Path(__file__).parents[1] / "fixtures" / "properties"
FIXTURES = sorted(path.stem for path in FOLDER.glob("*.sql"))


def read(name: str) -> Case:
    return Case.from_script((FOLDER / f"{name}.sql").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FIXTURES)
def test_on_duckdb(name: str):
    check_case(read(name), duckdb.connect(":memory:", config={"threads": 1}))


@pytest.mark.parametrize("name", FIXTURES)
def test_on_spark(spark, name: str):
    check_group(spark, f"fixture_{name}", [read(name)])
