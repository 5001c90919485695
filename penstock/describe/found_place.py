"""What was found at a place, before it is declared: its columns, its options, and what is to be told of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from penstock.describe.infer import Described
from penstock.describe.observed import Observed
from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.running import R096


@dataclass(frozen=True, slots=True)
class WrittenOption:
    """A value that stands in a script as it is, such as ENV('NAME')."""

    sql: str


Option: TypeAlias = str | bool | WrittenOption


@dataclass(slots=True)
class FoundPlace:
    """A place as a declaration names it.

    `options`: what WITH has, in this order. Values that are no texts are written as SQL has them. `read`: how much was
    read. `differences`: fields that are not the same in all files. `root`: what is seen of the records of JSON files.
    """

    name: str
    kind: Literal["STREAM", "TABLE"]
    options: dict[str, Option]
    columns: list[Described]
    records: int = 0
    read: str = ""
    is_all: bool = True
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    other_headers: int = 0
    """How many records come before the first file of CSV that has another header; 0 if all have the same."""
    key: tuple[str, ...] = ()
    """The primary key of a table."""
    root: Observed | None = None

    def find(self, name: str) -> Described | None:
        """The column of this name."""
        return next((each for each in self.columns if each.name == name), None)


def count_text(count: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def refuse(place: str, reason: str, hint: str | None = None) -> CompileError:
    """The error that nothing can be described there."""
    found = R096.at(None, place=place, reason=reason)
    return CompileError([found if hint is None else found.with_hint(hint)])
