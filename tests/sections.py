"""What the generated sections of a fixture must say today: the SQL before and after a rule, the delta of a view."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_ivm.algebra.relations import Aggregate, Relation
from dbt_ivm.delta import ChangeFacts, delta
from dbt_ivm.parse.reader import Reader
from dbt_ivm.simplify import PASSES, simplify
from tests.fixture_files import Case
from tests.layout import laid_out
from tests.named_sources import renderer
from tests.tables import catalog


def simplified(case: Case) -> dict[str, str]:
    """The file is named after the rule; `before` is what the rules that run earlier leave to it."""
    relation, _ = Reader(catalog).read(case.view)
    names = [name for name, _ in PASSES]
    before = simplify(relation, frozenset(names[names.index(case.path.stem) :]))
    after = dict(PASSES)[case.path.stem](before)
    return {"view": case.view, "before": _bag(before), "after": _bag(after)}


def changed(case: Case) -> dict[str, str]:
    view = Change.of(case)
    query = renderer(view.relation, view.changed).signed(delta(view.relation, view.facts))
    return {"view": case.view, "delta": laid_out(query)}


@dataclass(frozen=True)
class Change:
    relation: Relation
    changed: tuple[str, ...]
    facts: ChangeFacts

    @classmethod
    def of(cls, case: Case) -> Change:
        """`types` are those of the grouping columns, in the order in which they are met."""
        relation = simplify(Reader(catalog).read(case.view)[0])
        symbols = [s for node in relation.walk() if isinstance(node, Aggregate) for s, _ in node.groups]
        types = dict(zip(symbols, case.names("types"), strict=True))
        changed = tuple(case.names("changed"))
        return cls(relation, changed, ChangeFacts(frozenset(changed), types))


def _bag(relation: Relation) -> str:
    return laid_out(renderer(relation).bag(relation))


ROOMS = {"simplify": simplified, "delta": changed}
