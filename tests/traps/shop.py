"""Small tables for the traps."""

from __future__ import annotations

FEED = "'delta.enableChangeDataFeed' = 'true'"


def feed_table(driver, columns: str, values: str = "", properties: str = "") -> None:
    """`columns` is `name (column type, ...)`; the table has a change feed."""
    pairs = FEED + (f", {properties}" if properties else "")
    driver.sql(f"CREATE TABLE {driver.schema}.{columns} USING delta TBLPROPERTIES ({pairs})")
    if values:
        name = columns.split(" ")[0]
        driver.sql(f"INSERT INTO {driver.schema}.{name} VALUES {values}")


def version(driver, table: str) -> int:
    return driver.sql(f"DESCRIBE HISTORY {driver.schema}.{table} LIMIT 1")[0].version
