"""Every law of delta/: the SQL of the change, and Post = Pre + delta."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import dbt_ivm.delta
from dbt_ivm.algebra.relations import Moment, at
from dbt_ivm.parse.sql import write
from tests import duck, fixture_files
from tests.named_sources import renderer
from tests.sections import Change, changed

CASES = fixture_files.load("delta")


@pytest.fixture(scope="module")
def connection():
    with duck.connect() as connection:
        yield connection


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_text(case):
    assert changed(case) == case.sections


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_post_is_pre_plus_delta(connection, case):
    view = Change.of(case)
    duck.set_changed(connection, view.changed)
    pre, post = (
        duck.bag(duck.run(connection, write(renderer(view.relation, view.changed).bag(at(view.relation, moment)))))
        for moment in (Moment.PRE, Moment.POST)
    )
    moved: Counter = Counter()
    for *row, multiplicity in duck.run(connection, case.sections["delta"]):
        moved[repr(tuple(row))] += multiplicity
    assert {row: m for row, m in moved.items() if m} == {
        row: post[row] - pre[row] for row in pre | post if post[row] != pre[row]
    }
    assert (pre != post) != (case.keys.get("net") == "nothing")


def test_every_law_has_a_file():
    laws = {path.stem for path in Path(dbt_ivm.delta.__file__).parent.glob("*.py")} - {"__init__"}
    assert {case.path.stem for case in CASES} == laws
