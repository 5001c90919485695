"""Lookups in tables that others own: nothing of them is kept, each row asks the database."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from penstock.planner.plan.expressions import Expression
from penstock.planner.plan.join import JoinType
from penstock.planner.plan.node import Unary
from penstock.planner.plan.scan import Origin


class LookupKey(msgspec.Struct, frozen=True):
    """A column of the table's primary key, and its value over the columns of the input."""

    column: str
    value: Expression


class LookupColumn(msgspec.Struct, frozen=True):
    """A column of the result, and the column of the table that it shows."""

    name: str
    column: str


class RemoteLookup(Unary, frozen=True, kw_only=True, eq=False):
    """Each row of a stream beside the row of a declared table that has its key; changes of the table send nothing.

    The row of the table is the one that the database has when a worker asks for it. The schema is the schema of the
    input, then `columns`, then `any_row`. INNER leaves out rows whose key the table does not have, LEFT gives them
    NULL.
    """

    NOUN: ClassVar[str] = "a lookup in a database"

    origin: Origin
    type: JoinType
    keys: tuple[LookupKey, ...]
    """All columns of the table's primary key. A value of NULL finds nothing."""
    columns: tuple[LookupColumn, ...]
    any_row: str | None = None
    """A last column of the result: whether the table has any row. It is known only where a value of the key is NULL."""

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(each.value for each in self.keys)

    @property
    def given_names(self) -> tuple[str, ...]:
        return (*(each.name for each in self.columns), *([] if self.any_row is None else [self.any_row]))
