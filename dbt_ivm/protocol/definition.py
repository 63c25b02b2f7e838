"""What a model is made of before anything is resolved: its tables, the views it is analysed through, its fingerprint."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from dbt_ivm.errors import NotIncremental, Reason
from dbt_ivm.parse.ctes import is_cte
from dbt_ivm.parse.functions import reads_no_table
from dbt_ivm.parse.sql import normalised, parse, write
from dbt_ivm.protocol.environment import CatalogEntry, Environment, Model, Parts, bare, lowered, source_name
from dbt_ivm.state.fingerprint import definition_of
from dbt_ivm.state.record import Record


@dataclass
class Definition:
    fingerprint: str = ""
    tables: dict[Parts, Parts] = field(default_factory=dict)
    """Delta tables by lowered name."""
    views: dict[Parts, str] = field(default_factory=dict)
    """Texts of the views analysed through; an ivm model's without its version."""
    written: dict[Parts, str] = field(default_factory=dict)
    """What the authors of these views wrote, without formatting."""
    view_columns: dict[Parts, tuple[str, ...]] = field(default_factory=dict)
    pins: dict[str, int] = field(default_factory=dict)
    """Published versions of upstream ivm models' states."""
    reason: Reason | None = None
    """Why it cannot be incremental, as far as the text tells."""
    unknown_sources: bool = False
    """Some source has no versions: whether it changed cannot be known."""


def define(model: Model, env: Environment) -> Definition:
    found = Definition()
    try:
        _gather(parse(model.sql), env, found)
    except NotIncremental as refusal:
        found.reason = refusal.reason
        for parts in model.depends_on:
            _gather_named(parts, env, found)
        found.unknown_sources |= not model.depends_on
    views = [(source_name(parts), text + found.written.get(parts, "")) for parts, text in found.views.items()]
    shape = [model.cluster_by, model.state, env.memory.session]
    found.fingerprint = definition_of(normalised(model.sql), views, shape)
    return found


def _gather(tree: exp.Expr, env: Environment, found: Definition) -> None:
    for table in tree.find_all(exp.Table):
        parts = tuple(part.name for part in table.parts)
        if isinstance(table.this, exp.Func):
            found.unknown_sources |= not reads_no_table(table.this)
            continue
        if not all(parts) or is_cte(table):
            continue
        _gather_named(parts, env, found)


def _gather_named(parts: Parts, env: Environment, found: Definition) -> None:
    parts = bare(parts)
    key = lowered(parts)
    if key in found.tables or key in found.views:
        return
    # A name of three parts is another catalog's, which keeps no Delta history for us to read.
    entry = env.entry(parts) if len(parts) < 3 else CatalogEntry("other")
    if entry.kind == "delta":
        found.tables[key] = parts
    elif entry.kind == "view" and entry.text:
        record = Record.from_text(entry.text)
        tree = parse(entry.text)
        if record is not None:
            for table in tree.find_all(exp.Table):
                table.set("version", None)
                found.pins[source_name(tuple(part.name for part in table.parts))] = record.version
        else:
            found.view_columns[key] = entry.columns
            found.written[key] = normalised(entry.written)
        found.views[key] = write(tree)
        _gather(tree, env, found)
    else:
        found.unknown_sources = True
        if entry.kind == "other" and found.reason is None:
            found.reason = Reason(
                "not_delta",
                f"{source_name(parts)} is not a Delta table: what changed in it cannot be known",
                "store it as Delta to have the view maintained incrementally",
            )
