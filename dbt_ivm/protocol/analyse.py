"""A definition analysed: the algebra, the state's layout, and Spark's word on names and types."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_ivm.algebra.relations import Aggregate, OneRow, Project, Relation, scans
from dbt_ivm.algebra.types import spark_type
from dbt_ivm.errors import IvmError, NotIncremental, Reason, StatementFailed
from dbt_ivm.parse.reader import Reader, TableFacts
from dbt_ivm.parse.sql import parse, write
from dbt_ivm.protocol.definition import Definition
from dbt_ivm.protocol.environment import Environment, Model, Parts, lowered, source_name
from dbt_ivm.protocol.observe import columns_of
from dbt_ivm.render.relations import Renderer
from dbt_ivm.render.sources import SourceState
from dbt_ivm.simplify import simplify
from dbt_ivm.state.fingerprint import fingerprint
from dbt_ivm.state.layout import Layout, layout_of, opaque_layout, public_names
from dbt_ivm.state.root import Root, root_of
from dbt_ivm.strategy.work import Statement

UNSUPPORTED_TYPES = ("variant", "collated", "interval", "void", "geometry", "geography", "object", "time")


@dataclass(frozen=True)
class Analysis:
    layout: Layout
    types: Mapping[str, str]
    """Of grouping columns and of the state's partials, by symbol."""
    schema: str
    reason: Reason | None = None

    @property
    def root(self) -> Root:
        return self.layout.root

    def opaque(self, reason: Reason) -> Analysis:
        """The SELECT as written, in full, for this reason."""
        return replace(self, layout=replace(self.layout, opaque=True), reason=reason)


def analyse(model: Model, definition: Definition, env: Environment) -> Generator[Statement, list, Analysis]:
    names, types = yield from describe(model)
    public = public_names(names, model.name)
    if definition.reason is None:
        try:
            return (yield from _incremental(model, definition, env, public, types))
        except NotIncremental as refusal:
            reason = refusal.reason
    else:
        reason = definition.reason
    return Analysis(opaque_layout(Root(OneRow(), ()), public, types), {}, fingerprint(names, types), reason)


def describe(model: Model) -> Generator[Statement, list, tuple[list[str], list[str]]]:
    """Names and types of the SELECT: Spark's errors are the user's errors, before anything is written."""
    try:
        rows = yield Statement("describe", f"DESCRIBE QUERY {model.sql.strip().rstrip(';')}", fetch=True)
    except StatementFailed as problem:
        raise IvmError(f"{model.name}: {_why_not(model.sql)}; nothing was changed.\n{problem}") from problem
    return [str(row[0]) for row in rows], [str(row[1]) for row in rows]


def _why_not(sql: str) -> str:
    try:
        tree = parse(sql)
    except NotIncremental:
        return "Spark cannot run this SELECT"
    if isinstance(tree, exp.Query):
        return "Spark cannot run this SELECT"
    found = "found " + tree.key.upper() if not isinstance(tree, exp.Command) else "found something else"
    return f"a model must be a SELECT, {found}: write the query whose rows the view shall have"


def _incremental(
    model: Model, definition: Definition, env: Environment, public: tuple[tuple[str, str], ...], types: list[str]
) -> Generator[Statement, list, Analysis]:
    facts: dict[Parts, TableFacts] = {}
    for key, parts in definition.tables.items():
        facts[key] = TableFacts(source_name(parts), (yield from columns_of(parts, env)))
    for key, text in definition.views.items():
        columns = tuple((name, "") for name in definition.view_columns.get(key, ()))
        facts[key] = TableFacts(source_name(key), columns, view_text=text)

    def catalog(parts: Parts) -> TableFacts:
        if lowered(parts) not in facts:
            raise NotIncremental(
                "unknown_source", f"{source_name(parts)} is not a Delta table or view that could be read"
            )
        return facts[lowered(parts)]

    relation, outputs = Reader(catalog).read(model.sql)
    if not scans(relation):
        raise NotIncremental("no_source", "the SELECT reads no table")
    if len(outputs) != len(public) or any(
        ours and ours.lower() != theirs.lower() for (ours, _), (theirs, _) in zip(outputs, public, strict=True)
    ):
        raise NotIncremental("unfaithful_reading", "Spark and the analysis disagree about the output columns")
    relation = simplify(relation, model.switched_off)
    root = root_of(relation, tuple((name, e) for (name, _), (_, e) in zip(public, outputs, strict=True)))
    probed = yield from probe(relation, definition, env)
    _refuse_types(relation, types, probed)
    _refuse_nested_floats(root, probed)
    layout = layout_of(root, public, types, probed)
    used = sorted({(scan.source, c.name, c.type) for scan in scans(relation) for c in scan.columns})
    return Analysis(layout, probed, fingerprint(used, public, types))


def pinned_states(definition: Definition, env: Environment) -> dict[str, SourceState]:
    states = {}
    for parts in definition.tables.values():
        seen = env.memory.observations.get(source_name(parts))
        version = seen.version if seen else 0
        states[source_name(parts)] = SourceState(parts, version, version)
    return states


def probe(relation: Relation, definition: Definition, env: Environment) -> Generator[Statement, list, dict[str, str]]:
    """Spark's types of grouping columns and of aggregates' arguments: one DESCRIBE of all of them side by side."""
    aggregates = [node for node in relation.walk() if isinstance(node, Aggregate)]
    if not aggregates:
        return {}
    renderer = Renderer(pinned_states(definition, env))
    query = exp.Select(expressions=[exp.Star()])
    for i, node in enumerate(aggregates):
        arguments = tuple((f"{symbol}__argument", argument(call)) for symbol, call in node.measures)
        side = renderer.bag(Project(node.child, (*node.groups, *arguments))).subquery(f"p{i}", copy=False)
        query = query.from_(side, copy=False) if i == 0 else query.join(side, join_type="cross", copy=False)
    rows = yield Statement("types", f"DESCRIBE QUERY {write(query)}", fetch=True)
    return {str(row[0]): str(row[1]) for row in rows}


def argument(call: exp.Expr) -> exp.Expr:
    inner = call.this if isinstance(call, exp.Filter) else call
    value = inner.this
    if isinstance(value, exp.Distinct):
        value = value.expressions[0]
    if not isinstance(value, exp.Expr) or isinstance(value, exp.Star):
        return exp.Literal.number(1)
    return value.copy()


def _refuse_types(relation: Relation, types: list[str], probed: Mapping[str, str]) -> None:
    everything = [*types, *probed.values(), *(c.type for scan in scans(relation) for c in scan.columns)]
    for text in everything:
        if spark_type(text).contains(*UNSUPPORTED_TYPES) or spark_type(text).name.startswith("interval"):
            raise NotIncremental(
                "type", f"values of type {text} cannot be compared or stored, so changes of them cannot be netted"
            )


def _refuse_nested_floats(root: Root, probed: Mapping[str, str]) -> None:
    """The same float sum computed twice may differ in its last bits: below another operator nothing would cancel."""
    for node in root.core.walk():
        if not isinstance(node, Aggregate) or node is root.core:
            continue
        for symbol, call in node.measures:
            inner = call.this if isinstance(call, exp.Filter) else call
            type_ = spark_type(probed[f"{symbol}__argument"])
            drifts = type_.is_floating or (type_.name == "bigint" and isinstance(inner, exp.Avg))
            if drifts and not isinstance(inner, exp.Min | exp.Max | exp.Count):
                raise NotIncremental(
                    "nested_float",
                    f"{inner.key}() of {type_.name} below another operator is not the same to the last bit when computed again",
                    "cast the column to DECIMAL, or make the inner aggregate a model of its own",
                )
