"""What we read is what Spark reads: the same rows, names and types from the SELECT and from its algebra."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import dbt_ivm.parse
from dbt_ivm.algebra.relations import Filter, Project, Relation
from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.reader import Reader, TableFacts
from dbt_ivm.parse.sql import write
from dbt_ivm.simplify import simplify
from dbt_ivm.state.root import Root, root_of
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


def _rows(theirs, ours) -> list[Counter]:
    """Both sides in one job."""
    names = [f"c{i}" for i in range(len(theirs.columns))]
    sides = [frame.toDF(*names).selectExpr(f"{i} AS side", "*") for i, frame in enumerate((theirs, ours))]
    rows = sides[0].union(sides[1]).collect()
    return [Counter(repr(tuple(row)[1:]) for row in rows if row.side == side) for side in (0, 1)]


def _shown(root: Root) -> Relation:
    """The user's columns over what is maintained."""
    core = root.core
    for predicate in root.visible:
        core = Filter(core, predicate)
    return Project(core, tuple((f"c{i}", expression) for i, (_, expression) in enumerate(root.items)))


@pytest.mark.parametrize("case", [case for case in CASES if "refused" not in case.keys], ids=lambda case: case.id)
def test_algebra_equals_select(tables, case):
    relation, outputs = Reader(catalog).read(case.view)
    relation = _shown(root_of(simplify(relation), outputs))
    theirs, ours = tables.sql(case.view), tables.sql(write(renderer(relation).bag(relation)))
    assert [f.dataType.simpleString() for f in ours.schema] == [f.dataType.simpleString() for f in theirs.schema]
    assert [name or spark for (name, _), spark in zip(outputs, theirs.columns, strict=True)] == theirs.columns
    expected, found = _rows(theirs, ours)
    assert found == expected


@pytest.mark.parametrize("case", [case for case in CASES if "refused" in case.keys], ids=lambda case: case.id)
def test_refused(case):
    with pytest.raises(NotIncremental) as refusal:
        Reader(catalog).read(case.view)
    assert refusal.value.reason.code == case.keys["refused"]


def test_every_refusal_has_a_case():
    """`view_depth` and `stale_view` need a catalog of their own: see below."""
    raised = set()
    for path in Path(dbt_ivm.parse.__file__).parent.glob("*.py"):
        raised |= set(re.findall(r'NotIncremental\(\s*"(\w+)"', path.read_text()))
        raised |= set(re.findall(r': \("(\w+)", "', path.read_text()))
    assert raised - {"view_depth", "stale_view"} == {case.keys["refused"] for case in CASES if "refused" in case.keys}


def test_views_in_a_circle_are_refused():
    with pytest.raises(NotIncremental) as refusal:
        Reader(lambda parts: TableFacts("v", view_text="SELECT * FROM v")).read("SELECT * FROM v")
    assert refusal.value.reason.code == "view_depth"


def test_view_with_other_columns_than_it_was_made_with_is_refused():
    facts = {"v": TableFacts("v", (("a", ""),), view_text="SELECT * FROM t"), "t": catalog(("t",))}
    with pytest.raises(NotIncremental) as refusal:
        Reader(lambda parts: facts[parts[0]]).read("SELECT * FROM v")
    assert refusal.value.reason.code == "stale_view"
