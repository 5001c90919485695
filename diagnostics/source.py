"""A named text, and half-open character ranges of it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec

from penstock.diagnostics.secrets import hide_secrets


@dataclass(frozen=True, slots=True)
class Source:
    """A text to compile and the name under which errors cite it (a file path, or `<sql>`)."""

    name: str
    text: str
    _line_starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0, *(i + 1 for i, char in enumerate(self.text) if char == "\n")]
        object.__setattr__(self, "_line_starts", tuple(starts))

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based (line, column) of a character offset; the column counts characters."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    @property
    def shown(self) -> str:
        """The text with asterisks in the place of secrets."""
        return hide_secrets(self.text)

    def line(self, number: int) -> str:
        """The text of a 1-based line as it may be shown, without its line break."""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] if number < len(self._line_starts) else len(self.text)
        return self.shown[start:end].rstrip("\r\n")


class Span(msgspec.Struct, frozen=True):
    """Characters `start` (included) to `end` (excluded) of a source."""

    source: Source
    start: int
    end: int

    def __repr__(self) -> str:
        return f"Span(start={self.start}, end={self.end})"

    def __deepcopy__(self, memo: object) -> Span:
        """Itself, as it never changes: a copied tree of sqlglot copies the places in it, and they the whole text."""
        return self

    def to(self, other: Span) -> Span:
        """The smallest span that covers this one and `other`, both of one source."""
        return Span(self.source, min(self.start, other.start), max(self.end, other.end))

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]


class Placed(msgspec.Struct, frozen=True, eq=False):
    """What has a place in a text: the field `span`. Two of one class are equal if the fields that count are."""

    UNCOUNTED: ClassVar[frozenset[str]] = frozenset({"span"})
    """The fields that do not count when two are compared, and are not printed."""

    def _content(self) -> tuple[tuple[str, Any], ...]:
        """The names and values of the fields that count."""
        return tuple((name, getattr(self, name)) for name in self.__struct_fields__ if name not in self.UNCOUNTED)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Placed) and type(self) is type(other) and self._content() == other._content()

    def __ne__(self, other: object) -> bool:
        return not self == other  # the method of Struct asks whether they are one object

    def __hash__(self) -> int:
        return hash((type(self), self._content()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._content())})"
