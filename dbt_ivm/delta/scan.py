"""Law: D(R) of a source is its net signed change between watermark and pin, over the columns the view uses."""

from __future__ import annotations

from dataclasses import replace

from dbt_ivm.algebra.relations import Moment, Relation, Scan


def delta_scan(scan: Scan) -> Relation:
    """
    >>> delta_scan(Scan("t", ())).moment.value
    'D'
    """
    return replace(scan, moment=Moment.CHANGE)
