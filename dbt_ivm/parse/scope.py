"""Names as Spark resolves them: without regard to case, table first, then column, then field of a struct."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt_ivm.algebra.relations import column
from dbt_ivm.errors import NotIncremental

Columns = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FromItem:
    """A named thing in FROM; `qualifier` is what may stand before its columns, longest first (`db`, `t`)."""

    qualifier: tuple[str, ...]
    columns: Columns
    """(name, symbol)"""

    def answers_to(self, parts: tuple[str, ...]) -> bool:
        return bool(parts) and tuple(part.lower() for part in self.qualifier[-len(parts) :]) == parts

    def find(self, name: str) -> list[str]:
        return [symbol for own, symbol in self.columns if own.lower() == name]


@dataclass
class Scope:
    items: list[FromItem]
    merged: dict[str, str]
    """Columns that USING or NATURAL made one: name to the left side's symbol."""
    hidden: list[str]
    """The right side's symbols of those: out of `*`, and out of unqualified names."""

    @classmethod
    def of(cls, item: FromItem) -> Scope:
        return cls([item], {}, [])

    def star(self, parts: tuple[str, ...] = ()) -> list[tuple[str, str]]:
        """Columns of `*` or `t.*`, as Spark does: hidden ones first, which only `t.*` shows, then merged ones."""
        if parts:
            matching = [item for item in self.items if item.answers_to(parts)]
            if len(matching) != 1:
                raise NotIncremental("unresolved_name", f"`{'.'.join(parts)}.*` does not name one relation")
            own = {symbol: name for name, symbol in matching[0].columns}
            shown = [*self.hidden, *(symbol for _, symbol in self.star())]
            return [(own[symbol], symbol) for symbol in shown if symbol in own]
        merged = [(name, symbol) for name, symbol in self._merged_names()]
        taken = {symbol for _, symbol in merged}.union(self.hidden)
        return merged + [pair for item in self.items for pair in item.columns if pair[1] not in taken]

    def _merged_names(self) -> list[tuple[str, str]]:
        spelled = {symbol: name for item in self.items for name, symbol in item.columns}
        return [(spelled[symbol], symbol) for symbol in self.merged.values()]

    def visible(self, name: str) -> list[str]:
        """Symbols an unqualified name may mean."""
        if name.lower() in self.merged:
            return [self.merged[name.lower()]]
        return [symbol for item in self.items for symbol in item.find(name.lower()) if symbol not in self.hidden]

    def resolve(self, parts: list[str]) -> exp.Expr | None:
        """The expression for a dotted name, None if nothing of that name exists here."""
        for length in range(len(parts) - 1, -1, -1):
            qualifier, name, fields = tuple(part.lower() for part in parts[:length]), parts[length], parts[length + 1 :]
            if qualifier:
                found = [
                    symbol for item in self.items if item.answers_to(qualifier) for symbol in item.find(name.lower())
                ]
            else:
                found = self.visible(name)
            if len(found) > 1:
                raise NotIncremental("ambiguous_name", f"`{'.'.join(parts)}` is ambiguous")
            if found:
                return _fields(column(found[0]), fields)
        return None


def _fields(base: exp.Expr, fields: list[str]) -> exp.Expr:
    for name in fields:
        base = exp.Dot(this=base, expression=exp.to_identifier(name, quoted=True))
    return base


def renamed(columns: Columns, alias: exp.Expr | None) -> Columns:
    names = [node.name for node in (alias.args.get("columns") or [])] if alias else []
    if not names:
        return columns
    if len(names) != len(columns):
        raise NotIncremental("unresolved_name", "a column list has another length than its relation")
    return tuple((name, symbol) for name, (_, symbol) in zip(names, columns, strict=True))
