"""Every rule of simplify/: the SQL it makes, and that it returns the same bag."""

from __future__ import annotations

import pytest

from dbt_ivm.simplify import PASSES
from tests import duck, fixture_files
from tests.sections import simplified

CASES = fixture_files.load("simplify")


@pytest.fixture(scope="module")
def connection():
    with duck.connect() as connection:
        yield connection


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_text(case):
    assert simplified(case) == case.sections


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_same_bag(connection, case):
    rows = duck.bag(duck.run(connection, case.view))
    assert rows, "a case must have rows"
    assert duck.bag(duck.run(connection, case.sections["before"])) == rows
    assert duck.bag(duck.run(connection, case.sections["after"])) == rows


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case_shows_what_its_title_says(case):
    """A title with `not` is a negative case: the rule leaves the SQL alone."""
    is_negative = " not " in case.title
    assert (case.sections["before"] == case.sections["after"]) == is_negative


def test_every_rule_has_a_file():
    assert {case.path.stem for case in CASES} == {name for name, _ in PASSES}
