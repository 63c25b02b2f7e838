"""The state's layout: each column with its type and its role."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_ivm.explain.operators import readable, source_columns
from dbt_ivm.explain.table import table
from dbt_ivm.state.layout import BATCH, COUNT, KEY, MARK, VISIBLE, Layout
from dbt_ivm.state.measures import Kind

_HIDDEN = {
    VISIBLE: "whether HAVING holds: other groups are kept, but not shown",
    BATCH: "the refresh that wrote the row",
    MARK: "0 in every published row; a refresh marks its own work",
}
_MAINTAINED = {
    Kind.COUNT: "by adding and subtracting",
    Kind.SUM: "by adding and subtracting",
    Kind.MIN: "the group is recomputed when its least value may be gone",
    Kind.MAX: "the group is recomputed when its greatest value may be gone",
    Kind.RECOMPUTED: "recomputed for each touched group",
}


def state_columns(layout: Layout, types: Mapping[str, str]) -> list[str]:
    return table([(name, types.get(name.lower(), "?"), _role(layout, name, types)) for name in layout.columns])


def _role(layout: Layout, name: str, types: Mapping[str, str]) -> str:
    aggregate = layout.root.aggregate
    if name in _HIDDEN:
        return _HIDDEN[name]
    if name == KEY:
        return f"row key: hash of {'the grouping columns' if aggregate is not None else 'the whole row'}"
    if name == COUNT:
        return "rows behind the group" if aggregate is not None else "1: a row is stored as often as it occurs"
    public = {state: shown for shown, state in layout.public}
    prefix = "" if public.get(name, name) == name else f"shown as `{public[name]}`: "
    return prefix + (_grouped(layout, name, types) if aggregate is not None else "column of the view")


def _grouped(layout: Layout, name: str, types: Mapping[str, str]) -> str:
    aggregate = layout.root.aggregate
    assert aggregate is not None
    names = source_columns(layout.root.core)
    symbols = {state: symbol for symbol, state in layout.stored}
    symbol = symbols.get(name, "")
    for group, expression in aggregate.groups:
        if group == symbol:
            return f"grouping column {readable(expression, names)}"
    for partial in layout.partials:
        if partial.name == symbol:
            how = _MAINTAINED[partial.kind]
            if partial.kind is Kind.SUM and types.get(name.lower()) in ("double", "float"):
                how = "by adding; the group is recomputed when a value goes, because subtracting floats drifts"
            return f"partial {readable(partial.call, names)}, {how}"
    for (_, expression), (_, state) in zip(layout.root.items, layout.public, strict=True):
        if state == name:
            return f"computed: {readable(expression, names)}"
    return "computed from the others"
