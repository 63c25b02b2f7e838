"""Where a rewrite would help: by the code of the refusal, and for what is incremental but could be cheaper."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_ivm.capture.delta_lake import Observation
from dbt_ivm.errors import Reason
from dbt_ivm.protocol.observe import set_properties
from dbt_ivm.state.layout import Layout
from dbt_ivm.state.measures import Kind

UPSTREAM = "compute it in a `table` or `incremental` model upstream, and build the view on that"

BY_CODE = {
    "limit": "leave LIMIT to the query that reads the view",
    "window": "group in a model of its own and join the result back",
    "lateral_view": UPSTREAM,
    "generator": UPSTREAM,
    "table_function": UPSTREAM,
    "pivot": "write one aggregate with FILTER (WHERE ...) per column",
    "grouping_sets": "write one GROUP BY per level and combine them with UNION ALL",
    "sample": UPSTREAM,
    "non_deterministic": "leave the function to the query that reads the view, or compute its value where the row is made",
    "unknown_function": "use Spark's own functions, or " + UPSTREAM,
    "time_travel": "read the table without a version: the refresh pins one for you",
    "type": "leave the column out, or cast it to a type that can be compared",
    "unreadable_sql": "write it without the part that could not be read",
    "unfaithful_reading": "write the expression in another way; explain tells when it is understood",
}


def suggestion_for(reason: Reason) -> str:
    return reason.suggestion or BY_CODE.get(reason.code, "")


def cheaper(layout: Layout, types: Mapping[str, str], seen: Mapping[str, Observation]) -> list[str]:
    found = []
    for name, observation in seen.items():
        if not observation.has_feed:
            found.append(
                f"{name} has no change feed, so two of its versions are compared whole; enable it: "
                + set_properties(observation.parts, {"delta.enableChangeDataFeed": "true"})
            )
    columns = {symbol: state for symbol, state in layout.stored}
    for partial in layout.partials:
        if partial.kind is Kind.SUM and types.get(columns[partial.name].lower()) in ("double", "float"):
            found.append(
                "a sum of floats is recomputed for each group that loses a value; a DECIMAL would be subtracted"
            )
            break
    if any(partial.kind is Kind.RECOMPUTED for partial in layout.partials):
        found.append(
            "an aggregate without a law of its own reads its touched groups from the sources again; "
            "COUNT, SUM, AVG, MIN and MAX do not"
        )
    return found
