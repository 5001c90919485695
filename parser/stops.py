"""Where the grammar stops in a statement, and how far it comes with other tokens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from penstock.diagnostics import CompileError, Source, Span
from penstock.grammar import END, NestedTooDeep, Token, UnexpectedToken
from penstock.grammar import Dialect as Language
from penstock.parser.build import build


class Stop(msgspec.Struct, frozen=True):
    """A statement, and the token at which the grammar stops; `index` is their number where it stops at the end.

    `expected`: the terminals that may stand there.
    """

    language: Language
    source: Source
    tokens: list[Token]
    index: int
    expected: frozenset[str]

    def is_complete(self, tokens: Sequence[Token]) -> bool:
        """Whether the grammar takes these tokens as a statement."""
        return find_stop(self.language, self.source, tokens) is None

    def find_stop(self, tokens: Sequence[Token]) -> int | None:
        """The place at which the grammar stops with these tokens, None where they are a statement."""
        return find_stop(self.language, self.source, tokens)

    def goes_on(self, tokens: Sequence[Token]) -> bool:
        """Whether the grammar comes further with these tokens."""
        place = self.find_stop(tokens)
        return place is None or (self.index < len(self.tokens) and place > self.tokens[self.index].start)

    def find_text(self, place: int | None) -> str | None:
        """The value of the token at a place of the text."""
        return next((token.value for token in self.tokens if token.start == place), None)

    def with_tokens(self, first: int, end: int, *instead: Token) -> list[Token]:
        """The statement with others in the place of the tokens from `first` up to `end`."""
        return [*self.tokens[:first], *instead, *self.tokens[end:]]

    def find_span(self, first: int, end: int) -> Span:
        """The place of the tokens from `first` up to `end`."""
        return Span(self.source, self.tokens[first].start, self.tokens[end - 1].end)

    def show(self, token: Token) -> str:
        """The token as it may be shown."""
        return show_token(self.source, token)

    def is_hidden(self, first: int, end: int) -> bool:
        """Whether a part of these tokens may not be shown."""
        begin, last = self.tokens[first].start, self.tokens[end - 1].end
        return self.source.shown[begin:last] != self.source.text[begin:last]


def find_stop(language: Language, source: Source, tokens: Sequence[Token]) -> int | None:
    """The place at which the grammar stops, None where the tokens are a statement."""
    if not tokens:
        return 0
    end = tokens[-1].end
    try:
        language.parser.parse([*tokens, Token(END, "", end, end)], partial(build, source))
    except UnexpectedToken as error:
        return error.token.start
    except NestedTooDeep as error:
        return error.start
    except CompileError:
        pass
    return None


def show_token(source: Source, token: Token) -> str:
    """The token's value as it may be shown."""
    text = source.shown[token.start : token.end]
    return token.value if text == source.text[token.start : token.end] else text
