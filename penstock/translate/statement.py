"""A statement of another dialect, by its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from penstock.parser import Token

_COMMENT = re.compile(r"--[^\n]*|/\*(?:.|\n)*?\*/")
_OPENING, _CLOSING = ("(", "[", "<"), (")", "]", ">")
_VALUES = frozenset({"NAME", "STRING", "NUMBER"})


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

    def says(self, place: int, words: str) -> bool:
        """Whether these words stand there."""
        return all(self.word(place + number) == word for number, word in enumerate(words.split()))

    def slice(self, first: int, end: int) -> str:
        """The text from a token to the one before `end`."""
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
        depth = 0
        for each in range(place, len(self)):
            depth += (self.sign(each) == self.sign(place)) - (
                self.sign(each) == _CLOSING[_OPENING.index(self.sign(place))]
            )
            if depth == 0:
                return each
        return len(self)

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

    def edit(self, edits: Mapping[tuple[int, int], str], first: int = 0) -> str:
        """The text from a token on, with the tokens of some places replaced."""
        pieces, position = [], self.tokens[first].start
        for (begin, end), text in sorted(edits.items()):
            pieces += [self.text[position : self.tokens[begin].start], text]
            position = self.tokens[end - 1].end
        return "".join([*pieces, self.text[position : self.tokens[-1].end]])
