"""A statement of another dialect, by its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from penstock.parser import Token
from penstock.translate.model import NotTranslatedError

_COMMENT = re.compile(r"--[^\n]*|/\*(?:.|\n)*?\*/")
_OPENING, _CLOSING = ("(", "[", "<"), (")", "]", ">")
_VALUES = frozenset({"NAME", "STRING", "NUMBER"})

MAX_DEPTH = 100

Pieces: TypeAlias = tuple[str | tuple[int, int], ...]
"""What is written in the place of some tokens: texts, and places of tokens, which are edited themselves."""
Edits: TypeAlias = dict[tuple[int, int], Pieces]


@dataclass(frozen=True)
class Foreign:
    """The tokens of one statement and the text that they are from. Places are numbers of tokens.

    `shown`: the text with asterisks in the place of secrets, of the same length.
    """

    text: str
    tokens: Sequence[Token]
    shown: str

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def whole(self) -> str:
        return self.slice(0, len(self))

    @property
    def without_secrets(self) -> str:
        return self.shown[self.tokens[0].start : self.tokens[-1].end]

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
            yield from (comment.rstrip() for comment in _COMMENT.findall(self.text[before.end : behind.start]))

    def find(self, words: str, first: int = 0) -> int:
        """Where these words stand outside of brackets, the length if nowhere."""
        depth = 0
        for place in range(first, len(self)):
            depth += (self.sign(place) in ("(", "[")) - (self.sign(place) in (")", "]"))
            if depth == 0 and self.says(place, words):
                return place
        return len(self)

    def close(self, place: int) -> int:
        """Where the bracket that opens there is closed, the length if nowhere."""
        opening, depth = self.sign(place), 0
        if opening not in _OPENING:
            return len(self)
        closing = _CLOSING[_OPENING.index(opening)]
        for each in range(place, len(self)):
            depth += (self.sign(each) == opening) - (self.sign(each) == closing)
            if depth == 0:
                return each
        return len(self)

    def open(self, place: int) -> int:
        """Where the bracket that closes there is opened, 0 if nowhere."""
        closing, depth = self.sign(place), 0
        opening = _OPENING[_CLOSING.index(closing)]
        for each in range(place, -1, -1):
            depth += (self.sign(each) == closing) - (self.sign(each) == opening)
            if depth == 0:
                return each
        return 0

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

    def edit(self, edits: Edits, first: int = 0, end: int | None = None, depth: int = 0) -> str:
        """The text of some tokens, edited. Raises NotTranslatedError for edits that are too deep inside each other."""
        if depth > MAX_DEPTH:
            raise NotTranslatedError("expressions are too deep inside each other: compute a part of them in a view")
        end = len(self) if end is None else end
        if first >= end:
            return ""
        longest = {begin: stop for begin, stop in sorted(edits) if stop <= end}
        pieces, position, place = list[str](), self.tokens[first].start, first
        while place < end:
            stop = longest.get(place, place)
            if stop > place:
                pieces.append(self.text[position : self.tokens[place].start])
                for each in edits[(place, stop)]:
                    pieces.append(each if isinstance(each, str) else self.edit(edits, *each, depth + 1))
                position = self.tokens[stop - 1].end
            place = max(stop, place + 1)
        return "".join([*pieces, self.text[position : self.tokens[end - 1].end]])
