"""Spark types, read from Spark's own spelling (`struct<a:int,b:array<double>>`).

Spark is the authority on types: they are asked for, never inferred. What we must know about one is only whether values
that Spark's GROUP BY calls equal may still differ (floats: -0.0 and 0.0; maps: order of entries), and whether it can be
hashed, compared and stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class SparkType:
    """`name` is the outermost word in lower case, `text` Spark's whole spelling, `fields` what is inside."""

    name: str
    text: str
    fields: tuple[tuple[str, SparkType], ...] = ()

    @property
    def is_floating(self) -> bool:
        return self.name in ("float", "double")

    @property
    def is_decimal(self) -> bool:
        return self.name == "decimal"

    @property
    def is_integral(self) -> bool:
        return self.name in ("tinyint", "smallint", "int", "bigint")

    @property
    def decimal(self) -> tuple[int, int]:
        precision, scale = self.text[self.text.index("(") + 1 : -1].split(",")
        return int(precision), int(scale)

    def contains(self, *names: str) -> bool:
        """
        >>> spark_type("array<struct<a:map<string,int>>>").contains("map")
        True
        """
        return self.name in names or any(field.contains(*names) for _, field in self.fields)

    @property
    def has_unfaithful_equality(self) -> bool:
        """True where GROUP BY merges values that are not the same value."""
        return self.contains("float", "double", "map")


@lru_cache(maxsize=4096)
def spark_type(text: str) -> SparkType:
    """
    >>> spark_type("struct<a:int,b:decimal(10,2)>").fields[1][1].text
    'decimal(10,2)'
    """
    text = text.strip()
    head, bracket, rest = text.partition("<")
    name = head.split("(")[0].strip().lower()
    if not bracket:
        if " collate " in f" {head.lower()} " or name.startswith("string collate"):
            return SparkType("collated", text)
        return SparkType(name, text.lower())
    inner = _split(rest[: rest.rindex(">")])
    if name == "struct":
        fields = tuple((field, spark_type(type_)) for field, type_ in map(_field, inner))
    elif name == "map":
        fields = (("key", spark_type(inner[0])), ("value", spark_type(inner[1])))
    else:
        fields = (("element", spark_type(inner[0])),)
    return SparkType(name, text, fields)


def _split(text: str) -> list[str]:
    """Splits at the commas of the outermost level, outside of backticks."""
    parts, depth, quoted, start = [], 0, False, 0
    for position, char in enumerate(text):
        if char == "`":
            quoted = not quoted
        elif quoted:
            continue
        elif char in "<(":
            depth += 1
        elif char in ">)":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]] if text.strip() else []


def _field(text: str) -> tuple[str, str]:
    text = text.strip()
    if text.startswith("`"):
        end = text.index("`:", 1)
        return text[1:end].replace("``", "`"), text[end + 2 :]
    name, _, type_ = text.partition(":")
    return name, type_
