"""Makes a failing script smaller by leaving out statements and rows, where a try is too dear for Hypothesis to shrink."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.properties.case import Case

_ROWS = re.compile(r"(INSERT INTO \S+ VALUES )(\(.*\))$")


def reduced(case: Case, fails: Callable[[Case], bool], tries: int = 60) -> Case:
    """
    >>> case = Case(("CREATE t",), (("v", "SELECT 1"),), (("a", "b"), ("INSERT INTO t VALUES (1), (2)",)))
    >>> reduced(case, lambda c: "(2)" in c.script()).batches
    (('INSERT INTO t VALUES (2)',),)
    """
    progress = True
    while progress and tries > 0:
        progress = False
        for smaller in _smaller(case):
            tries -= 1
            if fails(smaller):
                case, progress = smaller, True
                break
            if tries <= 0:
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for i in range(len(case.batches)):
        yield replace(case, batches=case.batches[:i] + case.batches[i + 1 :])
    for i, batch in enumerate(case.batches):
        for less in _less(batch):
            yield replace(case, batches=(*case.batches[:i], less, *case.batches[i + 1 :]))
    for less in _less(case.setup):
        if all(text in less for text in case.setup if text.startswith("CREATE")):
            yield replace(case, setup=less)
    if case.switched_off:
        yield replace(case, switched_off=frozenset())


def _less(statements: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for i, text in enumerate(statements):
        yield statements[:i] + statements[i + 1 :]
        if match := _ROWS.match(text):
            rows = re.split(r"(?<=\)), (?=\()", match.group(2))
            for j in range(len(rows) if len(rows) > 1 else 0):
                kept = match.group(1) + ", ".join(rows[:j] + rows[j + 1 :])
                yield (*statements[:i], kept, *statements[i + 1 :])
