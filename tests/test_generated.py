"""The sample of generated SQL that `make lint` reads is today's: else `python -m tests.regenerate`."""

from __future__ import annotations

import pytest

from tests import fixture_files, generated

FOLDER = fixture_files.FOLDER / "generated"


@pytest.mark.parametrize("name", generated.VIEWS)
def test_sample_is_up_to_date(name):
    assert (FOLDER / f"{name}.sql").read_text() == generated.text(name)


def test_no_sample_is_left_over():
    assert {path.stem for path in FOLDER.glob("*.sql")} == set(generated.VIEWS)


def test_every_strategy_is_sampled():
    purposes = {statement.purpose for name in generated.VIEWS for statement in generated.statements(name)}
    assert purposes >= {
        "build",
        "append",
        "overwrite",
        "stage the change",
        "touched keys",
        "fold",
        "stale keys",
        "recompute stale groups",
        "recompute touched groups",
        "delete old rows",
        "publish",
    }
