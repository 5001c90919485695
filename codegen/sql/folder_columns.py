"""Folders such as `day=2026-01-01` -> the values of columns, as other systems read them.

`codegen/ejected/folder_names.py` finds the texts in the path of each record's file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from penstock.codegen.sql.trees import call, column, is_null
from penstock.codegen.sql.values import convert, misfits
from penstock.planner.plan import Expression
from penstock.planner.types import BINARY, Array, Map, Struct, Type

_FOLDER = "_folder"


@dataclass(frozen=True, slots=True)
class FolderValue:
    """The value of a column by the folders of a file. `made` has its `value`; `misfit`: whether the text is none."""

    name: str
    value: Expression
    made: Expression
    misfit: Expression | None


def read_folders(columns: Sequence[tuple[str, Type]]) -> Iterator[FolderValue]:
    """The values of columns whose types a text can have. As in CSV, the text has to be one of the type."""
    for place, (name, type_) in enumerate(columns):
        if type_ != BINARY and not isinstance(type_, Array | Map | Struct):
            text = exp.Dot(this=column(_FOLDER), expression=exp.Identifier(this=name, quoted=True))
            made = column(f"_given{place}")
            yield FolderValue(name, convert(text, type_, "csv"), made, misfits(text, type_, "csv", converted=made))


def is_against_folders(values: Sequence[tuple[Expression, FolderValue]]) -> Expression | None:
    """Whether the text of a folder is no value of its column, or the record has another one; None without columns."""
    if not values:
        return None
    problems: list[Expression] = [exp.NEQ(this=own.copy(), expression=given.made.copy()) for own, given in values]
    problems += [given.misfit for _, given in values if given.misfit is not None]
    false = exp.Boolean(this=False)
    known = [call("COALESCE", each, false.copy()) for each in problems]
    any_ = reduce(lambda left, right: exp.Or(this=left, expression=right), known)
    return exp.And(this=exp.Not(this=is_null(column(_FOLDER))), expression=exp.Paren(this=any_))
