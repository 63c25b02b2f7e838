"""Incremental materialized views for open-source Spark, declared in dbt.

dbt imports every installed `dbt_*` module in every command: nothing heavy may be imported here.
"""

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`plugins` is what dbt asks for; everybody else pays nothing for it."""
    if name == "plugins":
        from dbt_ivm.bridge.plugin import plugins

        return plugins
    raise AttributeError(name)
