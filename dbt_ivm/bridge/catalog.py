"""What `SHOW TABLE EXTENDED` says of a name: dbt-spark's relation cache holds this text for every relation of a schema."""

from __future__ import annotations

import re

from sqlglot import exp

from dbt_ivm.errors import NotIncremental
from dbt_ivm.parse.ctes import is_cte
from dbt_ivm.parse.sql import parse, write
from dbt_ivm.protocol.environment import CatalogEntry

_TEXT = re.compile(
    r"^View Text: (.*?)\n(?:View Original Text|View Schema Mode|View Catalog and Namespace|View Query Output Columns): ",
    re.S | re.M,
)
_NAMESPACE = re.compile(r"^View Catalog and Namespace: (.*)$", re.M)
_COLUMN = re.compile(r"^ \|-- (.*): \S+ \(nullable = \w+\)$", re.M)


def read_information(information: str) -> CatalogEntry:
    if "Type: VIEW" not in information:
        return CatalogEntry("delta" if "Provider: delta" in information else "other")
    match = _TEXT.search(information)
    if not match:
        return CatalogEntry("other")
    written, namespace = match.group(1), _NAMESPACE.search(information)
    text = written if " ivm {" in written else _qualified(written, namespace.group(1) if namespace else "")
    return CatalogEntry("view", text, tuple(_COLUMN.findall(information)), written)


def _qualified(text: str, namespace: str) -> str:
    """Bare names in a view mean tables of the schema it was made in."""
    try:
        tree = parse(text)
    except NotIncremental:
        return text
    schema = namespace.rpartition(".")[2].strip("`")
    for table in tree.find_all(exp.Table):
        bare = not table.args.get("db") and isinstance(table.this, exp.Identifier)
        if bare and schema and not is_cte(table):
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=True)))
            table.set("db", exp.to_identifier(schema, quoted=True))
    return write(tree)
