"""A statement of another dialect, by its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from penstock.diagnostics import Source
from penstock.parser import Token
from penstock.translate.model import NotTranslatedError

_COMMENT = re.compile(r"--[^\n]*+|/\*.*?\*/", re.DOTALL)
_OPENING, _CLOSING = ("(", "[", "<"), (")", "]", ">")
_VALUES = frozenset({"NAME", "STRING", "NUMBER"})

MAX_DEPTH = 100
_TOO_DEEP = "expressions are too deep inside each other: compute a part of them in a view"

Pieces: TypeAlias = tuple[str | tuple[int, int], ...]
"""What is written in the place of some tokens: texts, and places of tokens, which are edited themselves."""
Edits: TypeAlias = dict[tuple[int, int], Pieces]


def find_comments(text: str) -> Iterator[str]:
    """The comments of a text that has no quotes, or what looks like one inside of them."""
    return (comment.rstrip() for comment in _COMMENT.findall(text))


@dataclass(frozen=True)
class Foreign:
    """The tokens of one statement and the text that they are from. Places are numbers of tokens."""

    text: str
    tokens: Sequence[Token]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def whole(self) -> str:
        return self.slice(0, len(self))

    def show(self, end: int) -> str:
        """The text up to a token, with asterisks in the place of secrets."""
        return Source("statement", self.slice(0, end)).shown

    def word(self, place: int) -> str:
        """The unquoted word there, in capitals; empty if there is none."""
        if not 0 <= place < len(self) or self.tokens[place].type != "NAME":
            return ""
        token = self.tokens[place]
        return "" if self.text[token.start] in '`"' else token.value.upper()

    def sign(self, place: int) -> str:
        """The bracket, comma or operator there; empty if there is none."""
        if not 0 <= place < len(self) or self.tokens[place].type in _VALUES:
            return ""
        return self.tokens[place].value

    def value(self, place: int) -> str:
        """What stands there, without its quotes; empty if nothing does."""
        return self.tokens[place].value if 0 <= place < len(self) else ""

    def says(self, place: int, words: str) -> bool:
        """Whether these words stand there."""
        return all(self.word(place + number) == word for number, word in enumerate(words.split()))

    def slice(self, first: int, end: int) -> str:
        """The text from a token to the one before `end`."""
        end = min(end, len(self))
        return self.text[self.tokens[first].start : self.tokens[end - 1].end] if first < end else ""

    def comments(self) -> Iterator[str]:
        """The comments between the tokens."""
        for before, behind in pairwise(self.tokens):
            yield from find_comments(self.text[before.end : behind.start])

    def find(self, words: str, first: int = 0) -> int:
        """Where these words stand outside of brackets, the length if nowhere."""
        if (words, first) not in self._found:
            self._found[(words, first)] = self._find(words, first)
        return self._found[(words, first)]

    def find_inside(self, word: str, first: int, end: int) -> int:
        """Where a word stands between two places, outside of brackets that open there; `end` if nowhere."""
        place = first
        while place < end and self.word(place) != word:
            place = self.close(place) + 1 if self.sign(place) in ("(", "[") else place + 1
        return min(place, end)

    @cached_property
    def _found(self) -> dict[tuple[str, int], int]:
        return {}

    def _find(self, words: str, first: int) -> int:
        depth = 0
        for place in range(first, len(self)):
            depth += (self.sign(place) in ("(", "[")) - (self.sign(place) in (")", "]"))
            if depth == 0 and self.says(place, words):
                return place
        return len(self)

    @cached_property
    def partners(self) -> Mapping[int, int]:
        """The bracket that closes or opens each bracket. Brackets of one form are paired without regard to others."""
        open_brackets: dict[str, list[int]] = {sign: [] for sign in _OPENING}
        found: dict[int, int] = {}
        for place in range(len(self)):
            sign = self.sign(place)
            if sign in _OPENING:
                open_brackets[sign].append(place)
            elif sign in _CLOSING and (waiting := open_brackets[_OPENING[_CLOSING.index(sign)]]):
                opening = waiting.pop()
                found[opening], found[place] = place, opening
        return found

    def close(self, place: int) -> int:
        """Where the bracket that opens there is closed, the length if nowhere."""
        return self.partners.get(place, len(self)) if self.sign(place) in _OPENING else len(self)

    def open(self, place: int) -> int:
        """Where the bracket that closes there is opened, 0 if nowhere."""
        return self.partners.get(place, 0)

    @cached_property
    def depths(self) -> Sequence[int]:
        """In how many brackets each token stands, an opening one in itself."""
        depth, found = 0, []
        for place in range(len(self)):
            depth += (self.sign(place) in ("(", "[")) - (self.sign(place) in (")", "]"))
            found.append(depth)
        return found

    def check_depth(self) -> None:
        """Raises NotTranslatedError for brackets that are too deep inside each other."""
        if max(self.depths) > MAX_DEPTH:
            raise NotTranslatedError(_TOO_DEEP)

    def split(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """The places between commas that stand outside of brackets."""
        depth, begin = 0, first
        for place in range(first, end):
            depth += (self.sign(place) in _OPENING) - (self.sign(place) in _CLOSING)
            if depth == 0 and self.sign(place) == ",":
                yield begin, place
                begin = place + 1
        if begin < end:
            yield begin, end

    def edit(self, edits: Edits, first: int = 0) -> str:
        """The text from a token on, edited. Raises NotTranslatedError for edits that are too deep inside each other."""
        ends: dict[int, list[int]] = {}
        for begin, stop in sorted(edits, reverse=True):
            ends.setdefault(begin, []).append(stop)
        return self._edit(edits, ends, first, len(self), 0)

    def _edit(self, edits: Edits, ends: Mapping[int, Sequence[int]], first: int, end: int, depth: int) -> str:
        """`ends`: where the edits end that begin at a place, the longest first."""
        if depth > MAX_DEPTH:
            raise NotTranslatedError(_TOO_DEEP)
        if first >= end:
            return ""
        pieces, position, place = list[str](), self.tokens[first].start, first
        while place < end:
            stop = next((stop for stop in ends.get(place, ()) if stop <= end), place)
            if stop > place:
                pieces.append(self.text[position : self.tokens[place].start])
                for each in edits[(place, stop)]:
                    pieces.append(each if isinstance(each, str) else self._edit(edits, ends, *each, depth + 1))
                position = self.tokens[stop - 1].end
            place = max(stop, place + 1)
        return "".join([*pieces, self.text[position : self.tokens[end - 1].end]])
