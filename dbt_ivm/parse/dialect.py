"""sqlglot's Spark, mended where it reads another meaning than Spark does.

What is left out of the known functions is kept as written: a name with arguments. Everything not mended here is found by
comparing Spark's plans, and then the SELECT runs as written, in full.
"""

from __future__ import annotations

from sqlglot.dialects.spark import Spark

_AS_WRITTEN = frozenset(
    # A format that happens to be the default is not the same as none; a logarithm by division has other last digits.
    ("TO_DATE", "PARSE_JSON", "LOG", "LOG2", "LOG10", "INSTR")
)


class SparkAsWritten(Spark):
    class Tokenizer(Spark.Tokenizer):
        # Two quotes inside a string are one quote.
        STRING_ESCAPES = [*Spark.Tokenizer.STRING_ESCAPES, "'", '"']

    class Parser(Spark.Parser):  # type: ignore[misc, valid-type]
        FUNCTIONS = {name: build for name, build in Spark.Parser.FUNCTIONS.items() if name not in _AS_WRITTEN}
