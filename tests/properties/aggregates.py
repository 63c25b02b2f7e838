"""Random aggregate calls and expressions over them."""

from __future__ import annotations

from tests.properties.choose import Choose
from tests.properties.expressions import ORDERED, Ref, predicate, scalar
from tests.properties.schema import INTEGRAL


def aggregate(choose: Choose, refs: list[Ref], *, top: bool, spark: bool) -> tuple[str, str]:
    """A call and its kind. Below other operators a float sum is rare: it is recomputed in full there."""
    ref = choose.of(refs)
    floats = top or choose.chance(4)
    shapes = ["count_all", "count", "count_distinct"]
    if ref.kind in INTEGRAL:
        shapes += ["sum", "sum", "avg"] if ref.kind != "bigint" or floats else ["sum"]
    if ref.kind == "decimal":
        shapes += ["sum", "sum", *(["avg"] if spark else [])]
    if ref.kind == "double" and floats:
        shapes += ["sum", "avg"]
    if ref.kind == "special" and floats and spark and top:
        shapes += ["sum", "avg"]
    if ref.kind in ORDERED or (spark and ref.kind in ("array", "struct")):
        shapes += ["min", "max", "max"]
    shape = choose.of(shapes)
    argument = scalar(choose, ref.kind, refs, 1) if choose.chance(25) and ref.kind in INTEGRAL else ref.sql
    where = f" FILTER (WHERE {predicate(choose, refs, 0)})" if choose.chance(15) else ""
    if shape == "count_all":
        return f"count(*){where}", "bigint"
    if shape == "count":
        return f"count({ref.sql}){where}", "bigint"
    if shape == "count_distinct":
        if ref.kind == "map":
            return f"count(*){where}", "bigint"
        return f"count(DISTINCT {ref.sql}){where}", "bigint"
    if shape == "sum":
        kind = "bigint" if ref.kind in INTEGRAL else {"decimal": "decimal"}.get(ref.kind, "ratio")
        return f"sum({argument}){where}", kind
    if shape == "avg":
        return f"avg({argument}){where}", "decimal" if ref.kind == "decimal" else "ratio"
    return f"{shape}({argument}){where}", ref.kind


def over_aggregates(choose: Choose, calls: list[tuple[str, str]]) -> tuple[str, str]:
    numbers = [text for text, kind in calls if kind in INTEGRAL]
    if not numbers:
        return "count(*) + 1", "bigint"
    one, two = choose.of(numbers), choose.of(numbers)
    return choose.of(
        (
            (f"{one} + {two}", "bigint"),
            (f"coalesce({one}, 0) * 2", "bigint"),
            (f"CASE WHEN {one} > 1 THEN {two} END", "bigint"),
            (f"{one} / (count(*) + 1)", "ratio"),
            (f"sum({choose.of((1, 2))}) - {one}", "bigint"),
        )
    )
