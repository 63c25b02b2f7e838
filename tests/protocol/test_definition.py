"""Which tables a model reads: one that is missed would never be seen to change."""

from __future__ import annotations

from datetime import datetime

import pytest

from dbt_ivm.protocol.definition import define
from dbt_ivm.protocol.environment import CatalogEntry, Environment, Model, RunMemory

ENTRIES = {
    ("t",): CatalogEntry("delta"),
    ("u",): CatalogEntry("delta"),
    ("csv",): CatalogEntry("other"),
    ("over_t",): CatalogEntry("view", "WITH t AS (SELECT * FROM t) SELECT * FROM t"),
}


def _define(sql: str):
    env = Environment(
        lambda parts: ENTRIES.get(tuple(part.lower() for part in parts), CatalogEntry("missing")),
        RunMemory(),
        now=lambda: datetime(2026, 1, 1),
        new_batch=lambda: 1,
    )
    return define(Model("m", ("m",), ("m__ivm",), sql), env)


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT * FROM t", {"t"}),
        ("WITH t AS (SELECT * FROM u) SELECT * FROM t", {"u"}),
        ("WITH t AS (SELECT * FROM t) SELECT * FROM t", {"t"}),
        ("WITH c AS (SELECT * FROM u), u AS (SELECT 1) SELECT * FROM c, u", {"u"}),
        ("SELECT * FROM (WITH t AS (SELECT * FROM u) SELECT * FROM t) JOIN t USING (k)", {"t", "u"}),
        ("SELECT * FROM t WHERE k IN (SELECT k FROM u)", {"t", "u"}),
        ("SELECT * FROM over_t", {"t"}),
    ],
)
def test_tables_are_found(sql, tables):
    assert {name for (name,) in _define(sql).tables} == tables


@pytest.mark.parametrize("sql", ["SELECT * FROM csv", "SELECT * FROM nowhere", "SELECT * FROM table_changes('t', 1)"])
def test_source_without_versions_is_unknown(sql):
    assert _define(sql).unknown_sources


@pytest.mark.parametrize("sql", ["SELECT * FROM t, range(3)", "SELECT * FROM t LATERAL VIEW explode(a) AS e"])
def test_generator_is_no_source(sql):
    assert not _define(sql).unknown_sources
