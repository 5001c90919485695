"""What the rows of buckets and panes hold for DuckDB, what it is given of that, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from penstock.codegen.sql.trees import alias, call, cast, column, column_of, null
from penstock.planner.plan import Expression
from penstock.planner.types import Array, Map, Struct, Type


@dataclass(slots=True, kw_only=True)
class RowFields:
    """The fields of the rows and DuckDB's answers, while these are found out."""

    held: dict[str, Expression] = field(default_factory=dict)
    """The fields: columns of the input, if any, and other values as v0, v1 …."""
    columns: int = 0
    """How many of the fields are columns of the input."""
    given: list[str] = field(default_factory=list)
    """The fields that DuckDB is given. It finds the others again by the places of their rows."""
    answers: dict[str, tuple[Expression, Type]] = field(default_factory=dict)
    """What DuckDB answers, as r0, r1 …."""
    picked: dict[str, str] = field(default_factory=dict)
    """If an answer is a place, or a list of places: the field of the rows there."""
    lists: set[str] = field(default_factory=set)
    """The answers that are lists of places."""
    relation: str | None = None
    """The relation in which DuckDB has the rows, None if there is only one."""

    def hold(self, value: Expression) -> str:
        """The field of the rows that has the value."""
        value = column(value.name) if isinstance(value, exp.Column) else value
        for name, known in self.held.items():
            if known == value:
                return name
        name = f"v{len(self.held) - self.columns}"
        self.held[name] = value
        return name

    def give(self, value: Expression) -> Expression:
        """The value as DuckDB's column."""
        name = self.hold(value)
        if name not in self.given:
            self.given.append(name)
        return column(name) if self.relation is None else column_of(self.relation, name)

    def answer(self, tree: Expression, type_: Type) -> Expression:
        """What DuckDB answers."""
        return self._answer(tree, type_, None)

    def pick(self, place: Expression, value: Expression, type_: Type) -> Expression:
        """The value in the row whose place DuckDB answers."""
        return self._answer(place, type_, self.hold(value))

    def pick_all(self, places: Expression, value: Expression, type_: Array) -> Expression:
        """The values in the rows whose places DuckDB answers as a list."""
        answer = self._answer(places, type_, self.hold(value))
        self.lists.add(answer.name)
        return answer

    def show_answers(self, show: Callable[[str], Expression]) -> list[Expression]:
        """The answers by name and type alone. `show` writes a field of some row."""
        return [alias(self._show(name, type_, show), name) for name, (_, type_) in self.answers.items()]

    def _show(self, name: str, type_: Type, show: Callable[[str], Expression]) -> Expression:
        if name not in self.picked:
            return null(type_)
        value = show(self.picked[name])
        return make_nullable(call("ARRAY", value) if name in self.lists else value, type_)

    def _answer(self, tree: Expression, type_: Type, picked: str | None) -> Expression:
        for name, known in self.answers.items():
            if known == (tree, type_) and self.picked.get(name) == picked:
                return column(name)
        name = f"r{len(self.answers)}"
        self.answers[name] = (tree, type_)
        if picked is not None:
            self.picked[name] = picked
        return column(name)


def make_nullable(value: Expression, type_: Type) -> Expression:
    """The value as one that may be NULL, and all inside of it: the row that it is taken of may not be there."""
    is_nested = isinstance(type_, Array | Map | Struct)
    return call("IF", exp.true(), cast(value, type_) if is_nested else value, exp.Null())
