"""Small tables for the traps."""

from __future__ import annotations

import os
import time
from pathlib import Path

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


def age(driver, table: str, days: int = 8) -> None:
    """Makes every commit of a table that old: Delta goes by the age of the log's files."""
    folder = driver.sql(f"DESCRIBE DETAIL {driver.schema}.{table}")[0].location.removeprefix("file:")
    then = time.time() - days * 86400
    for path in Path(folder, "_delta_log").glob("*.json"):
        os.utime(path, (then, then))
