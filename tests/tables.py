"""Small tables full of NULLs and duplicates, for every test that reads SELECTs without changing their sources."""

from __future__ import annotations

from dbt_ivm.parse.reader import TableFacts

Columns = tuple[tuple[str, str], ...]

TABLES: dict[str, tuple[Columns, str]] = {
    "t": (
        (("k", "int"), ("g", "string"), ("x", "int"), ("y", "int")),
        "(1, 'a', 10, 1), (1, 'a', 10, 1), (2, 'a', 20, 2), (2, 'b', 3, 30), (3, 'B', 7, 7), (3, NULL, 40, NULL), "
        "(NULL, 'c', NULL, 5), (NULL, NULL, NULL, NULL)",
    ),
    "u": (
        (("k", "bigint"), ("w", "bigint"), ("x", "int")),
        "(1, 100, 10), (2, 200, 5), (2, 200, 5), (3, NULL, 7), (NULL, 1, NULL)",
    ),
    "v": (
        (("w", "bigint"), ("k", "int"), ("z", "string")),
        "(100, 1, 'p'), (200, 2, 'q'), (200, 2, 'q'), (1, NULL, NULL)",
    ),
    "n": ((("q", "string"),), "('m'), ('m'), (NULL)"),
    "s": (
        (
            ("s", "struct<a:int,b:struct<c:int>,k:int>"),
            ("a", "int"),
            ("arr", "array<int>"),
            ("m", "map<string,int>"),
            ("b", "struct<c:int>"),
        ),
        "(named_struct('a', 1, 'b', named_struct('c', 2), 'k', 3), 4, array(1, 2, NULL), map('a', 5), named_struct('c', 6)), "
        "(NULL, 7, NULL, NULL, NULL), "
        "(named_struct('a', 7, 'b', NULL, 'k', 8), 4, array(), map('b', 9), named_struct('c', NULL))",
    ),
    "h": (
        (("from", "int"), ("a b", "int"), ("tick`", "string"), ("x.y", "int"), ("grüße", "int"), ("k_1", "int")),
        "(1, 2, 'it''s', 3, 4, 5), (NULL, 2, NULL, 3, 4, 5), (1, 2, 'it''s', 3, 4, 5)",
    ),
    "empty": ((("k", "int"), ("g", "string"), ("x", "int")), ""),
}


def catalog(parts: tuple[str, ...]) -> TableFacts:
    name = parts[-1].lower()
    return TableFacts(name, TABLES[name][0])


def select_rows(name: str) -> str:
    """The table's rows, in Spark's SQL."""
    columns, values = TABLES[name]
    names = ", ".join(f"`{column.replace('`', '``')}`" for column, _ in columns)
    casts = ", ".join(f"CAST(`{c.replace('`', '``')}` AS {type_}) AS `{c.replace('`', '``')}`" for c, type_ in columns)
    nulls = "(" + ", ".join("NULL" for _ in columns) + ")"
    return f"SELECT {casts} FROM VALUES {values or nulls} AS r({names})" + ("" if values else " WHERE false")
