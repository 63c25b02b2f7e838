"""What Spark's functions are to a maintained view: not the same twice, many rows to one, one row to many.

Names are Spark's. A function that is in none of these lists must be one of Spark's own (`SHOW SYSTEM FUNCTIONS`), else
nobody can tell whether it is deterministic.
"""

from __future__ import annotations

from sqlglot import exp

NON_DETERMINISTIC = frozenset(
    """current_catalog current_database current_date current_path current_recipient current_schema current_time
    current_timestamp current_timezone current_user curdate now localtimestamp session_user user
    input_file_block_length input_file_block_start input_file_name monotonically_increasing_id rand randn random
    randstr reflect java_method try_reflect shuffle spark_partition_id uniform uuid version sleep assert_true
    raise_error getdate today""".split()
)

WITHOUT_PARENTHESES = frozenset("current_date current_time current_timestamp current_user session_user user".split())
"""What a name means when no column has it."""

CLOCK_WITHOUT_ARGUMENT = frozenset(("unix_timestamp", "to_unix_timestamp"))

AGGREGATES = frozenset(
    """any any_value approx_count_distinct approx_percentile approx_top_k array_agg avg bit_and bit_or bit_xor
    bitmap_and_agg bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list collect_set corr count
    count_if count_min_sketch covar_pop covar_samp every first first_value grouping grouping_id
    histogram_numeric hll_sketch_agg hll_union_agg kurtosis last last_value listagg max max_by mean median min
    min_by mode percentile percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_avro skewness some std stddev
    stddev_pop stddev_samp string_agg sum theta_sketch_agg theta_union_agg try_avg try_sum var_pop var_samp
    variance kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float vector_avg vector_sum measure
    approx_top_k_accumulate approx_top_k_combine schema_of_variant_agg theta_intersection_agg tuple_sketch_agg""".split()
)

GENERATORS = frozenset(
    """explode explode_outer inline inline_outer posexplode posexplode_outer stack json_tuple variant_explode
    variant_explode_outer""".split()
)

PER_GROUP = frozenset(("bool_and", "bool_or", "every", "some", "any", "count_if", "bit_and", "bit_or", "bit_xor"))
"""Deterministic whatever the order of rows: recomputed for the touched groups."""


def names_of(node: exp.Expr) -> list[str]:
    """The names a function node may have in Spark."""
    if isinstance(node, exp.Anonymous):
        return [str(node.this).lower()]
    if isinstance(node, exp.Func):
        return [name.lower() for name in node.sql_names()]
    return []


def reads_no_table(function: exp.Expr) -> bool:
    """A table function whose rows come from its arguments alone."""
    return any(name in GENERATORS or name == "range" for name in names_of(function))


def is_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, exp.AggFunc) or any(name in AGGREGATES for name in names_of(node))


def has_aggregate(expression: exp.Expr) -> bool:
    return any(is_aggregate(node) for node in expression.walk())
