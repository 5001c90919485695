"""Operators that look at one row at a time. Their state is `none`."""

from __future__ import annotations

from typing import ClassVar, Self

from msgspec.structs import replace
from sqlglot import exp

from penstock.planner.plan.aggregate import Cumulate, Hop, Tumble
from penstock.planner.plan.expressions import Expression, Named
from penstock.planner.plan.node import Node, Unary


class Filter(Unary, frozen=True, kw_only=True, eq=False):
    """The rows of `input` for which `condition` is true (not false, not NULL)."""

    TAKES_TABLES: ClassVar[bool] = True

    condition: Expression

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.condition,)


class Project(Unary, frozen=True, kw_only=True, eq=False):
    """One output row per row of `input`, with the columns `items`, in order."""

    TAKES_TABLES: ClassVar[bool] = True

    items: tuple[Named, ...]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(item.value for item in self.items)

    @property
    def given_names(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.items)

    def name_below(self, name: str, place: int) -> str:
        value = next(item.value for item in self.items if item.name == name)
        assert isinstance(value, exp.Column), f"{name} is computed"
        return str(value.name)


class AssignWindows(Unary, frozen=True, kw_only=True, eq=False):
    """Each row of `input` once for each window that holds it, with `window_start` and `window_end` behind its columns.

    `time` is the input's event-time column, and stays the event time of the node.
    """

    window: Tumble | Hop | Cumulate
    time: str

    @property
    def event_times(self) -> tuple[str, ...]:
        return (self.time,)


class GroupingSets(Unary, frozen=True, kw_only=True, eq=False):
    """Each row of `input` once for each of `ids`.

    The columns are the columns of the input, then `id_column`, the grouping set's id, then the keys. The id has a
    bit for each key, the first one's highest; where it is 1 the set does not have the key, and its column is NULL.
    """

    TAKES_TABLES: ClassVar[bool] = True

    keys: tuple[Named, ...]
    ids: tuple[int, ...]
    id_column: str

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(key.value for key in self.keys)

    @property
    def given_names(self) -> tuple[str, ...]:
        return (self.id_column, *(key.name for key in self.keys))


class Unnest(Unary, frozen=True, kw_only=True, eq=False):
    """Each row of `input` once for each element of `value`, with the element behind its columns.

    `elements`: the column of an array's elements, or the columns of a map's keys and values. `position`: the column
    before them, with the element's place, counted from 0. `outer`: a row without elements is kept, with NULL in the
    columns.
    """

    NOUN: ClassVar[str] = "UNNEST"

    value: Expression
    position: str | None
    elements: tuple[str, ...]
    outer: bool

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.value,)

    @property
    def given_names(self) -> tuple[str, ...]:
        return self.elements if self.position is None else (self.position, *self.elements)


class UnionAll(Node, frozen=True, kw_only=True, eq=False):
    """The rows of all inputs. Columns match by position. The first input gives the names, and types are equal.

    Tables have no key in common: it says which input a row comes from.
    """

    TAKES_TABLES: ClassVar[bool] = True

    inputs: tuple[Node, ...]

    def _over(self, below: tuple[Node, ...]) -> Self:
        return replace(self, inputs=below)

    def name_below(self, name: str, place: int) -> str:
        position = next(i for i, each in enumerate(self.schema) if each.name == name)
        return self.inputs[place].schema[position].name
