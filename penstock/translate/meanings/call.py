"""A call in a statement of another system, and how a rule answers what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from penstock.translate.foreign_statement import Foreign, Pieces
from penstock.translate.model import System

Change: TypeAlias = tuple[int, Pieces, str]
"""The place behind what is replaced, what to write, and what to tell. The call's own place if nothing is replaced."""


@dataclass(frozen=True, slots=True)
class Call:
    """The call whose name stands at a place."""

    statement: Foreign
    place: int
    system: System

    @property
    def name(self) -> str:
        return self.statement.word(self.place)

    @property
    def end(self) -> int:
        """The place behind the closing bracket."""
        return min(self.statement.close(self.place + 1) + 1, len(self.statement))

    @property
    def arguments(self) -> list[tuple[int, int]]:
        """Where the arguments are."""
        return [*self.statement.split(self.place + 2, self.end - 1)]

    def find_text(self, number: int) -> str | None:
        """The value of an argument that is a text, None of others."""
        arguments = self.arguments
        if number >= len(arguments):
            return None
        first, end = arguments[number]
        token = self.statement.tokens[first]
        return token.value if end == first + 1 and token.type == "STRING" else None

    def find_number(self, number: int) -> int | None:
        """The value of an argument that is a whole number, None of others."""
        arguments = self.arguments
        if number >= len(arguments):
            return None
        first, end = arguments[number]
        sign = -1 if self.statement.sign(first) == "-" else 1
        first += sign < 0
        value = self.statement.value(first)
        is_number = end == first + 1 and self.statement.tokens[first].type == "NUMBER" and value.isdecimal()
        return sign * int(value) if is_number else None

    def replace(self, told: str, *pieces: str | tuple[int, int]) -> Iterator[Change]:
        """Other words in the place of the whole call."""
        yield self.end, pieces, told

    def rename(self, name: str, told: str = "") -> Iterator[Change]:
        """The same arguments for another function."""
        yield self.place + 1, (name,), told

    def tell(self, told: str) -> Iterator[Change]:
        """The same words, which mean something else."""
        yield self.place, (), told


Rule: TypeAlias = Callable[[Call], Iterator[Change]]


def join(arguments: list[tuple[int, int]]) -> Pieces:
    """Arguments with commas between them."""
    pieces: list[str | tuple[int, int]] = []
    for each in arguments:
        pieces += [", ", each] if pieces else [each]
    return tuple(pieces)


def tell(told: str) -> Rule:
    """A rule that leaves the call as it is."""
    return lambda call: call.tell(told)


def rename(name: str, told: str = "") -> Rule:
    """A rule that calls another function with the same arguments."""
    return lambda call: call.rename(name, told)


def wrap(before: str, behind: str, told: str) -> Rule:
    """A rule that writes something around the call."""

    def edit(call: Call) -> Iterator[Change]:
        return call.replace(told, f"{before}{call.name}(", (call.place + 2, call.end - 1), f"){behind}")

    return edit


def choose_variable(statement: Foreign) -> str:
    """A name for the parameter of a lambda that nothing in the statement has."""
    taken = {token.value.lower() for token in statement.tokens}
    name = "element"
    while name in taken:
        name += "_"
    return name
