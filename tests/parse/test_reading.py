"""What we read is what Spark reads: the same rows, names and types from the SELECT and from its algebra."""

from __future__ import annotations

from collections import Counter

import pytest

from dbt_ivm.algebra.relations import Project
from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.reader import Reader
from dbt_ivm.parse.sql import write
from dbt_ivm.simplify import simplify
from tests import fixture_files
from tests.named_sources import renderer
from tests.tables import TABLES, catalog, select_rows

CASES = fixture_files.load("parse")

# Tiny queries spend their time in compilation, which decides nothing here.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


@pytest.fixture(scope="module")
def tables(spark):
    for key, value in INTERPRETED.items():
        spark.conf.set(key, value)
    for name in TABLES:
        spark.sql(f"CREATE TEMP VIEW `{name}` AS {select_rows(name)}")
    yield spark
    for name in TABLES:
        spark.catalog.dropTempView(name)
    for key in INTERPRETED:
        spark.conf.unset(key)


def _run(spark, text: str) -> tuple[list[str], list[str], Counter]:
    frame = spark.sql(text)
    types = [field.dataType.simpleString() for field in frame.schema.fields]
    return frame.columns, types, Counter(repr(tuple(row)) for row in frame.collect())


@pytest.mark.parametrize("case", [case for case in CASES if "refused" not in case.keys], ids=lambda case: case.id)
def test_algebra_equals_select(tables, case):
    relation, outputs = Reader(catalog).read(case.view)
    relation = Project(simplify(relation), tuple((f"c{i}", e) for i, (_, e) in enumerate(outputs)))
    names, types, rows = _run(tables, case.view)
    _, our_types, our_rows = _run(tables, write(renderer(relation).bag(relation)))
    assert (our_types, our_rows) == (types, rows)
    assert [ours or theirs for (ours, _), theirs in zip(outputs, names, strict=True)] == names


@pytest.mark.parametrize("case", [case for case in CASES if "refused" in case.keys], ids=lambda case: case.id)
def test_refused(case):
    with pytest.raises(NotIncremental) as refusal:
        Reader(catalog).read(case.view)
    assert refusal.value.reason.code == case.keys["refused"]
