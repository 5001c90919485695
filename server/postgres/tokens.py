"""The text of a message -> statements of tokens, by the lexical rules of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import ClassVar

from sqlglot import Token as SqlToken
from sqlglot import TokenType
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import TokenError


class Part(Enum):
    """What a token is."""

    WORD = "a keyword or a name without quotes"
    QUOTED = "a name in double quotes"
    STRING = "a string constant of any kind"
    NUMBER = "a number"
    PARAMETER = "$1"
    SIGN = "one character of punctuation or of an operator"


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A token. `text` is a word in lower case, the value of a string, or the number of a parameter."""

    part: Part
    text: str
    start: int
    end: int
    """The character behind it, counted from 0."""

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these words without quotes."""
        return self.part is Part.WORD and self.text in words

    def is_sign(self, *signs: str) -> bool:
        """Whether it is one of these characters."""
        return self.part is Part.SIGN and self.text in signs

    @property
    def is_name(self) -> bool:
        """Whether it can be a name."""
        return self.part in (Part.WORD, Part.QUOTED)

    @property
    def opens(self) -> int:
        """1 for an opening bracket, -1 for a closing one."""
        return self.is_sign("(") - self.is_sign(")")


class _Tokenizer(Postgres.Tokenizer):
    """Knows no keywords: `EXPLAIN` would swallow what follows, and `#-` the begin of a comment."""

    KEYWORDS: ClassVar[dict[str, TokenType]] = {}
    COMMANDS: ClassVar[set[TokenType]] = set()
    BIT_STRINGS: ClassVar[list[str | tuple[str, str]]] = []
    HEX_STRINGS: ClassVar[list[str | tuple[str, str]]] = []


_PARTS = {
    TokenType.VAR: Part.WORD,
    TokenType.IDENTIFIER: Part.QUOTED,
    TokenType.NUMBER: Part.NUMBER,
    TokenType.STRING: Part.STRING,
    TokenType.BYTE_STRING: Part.STRING,
    TokenType.HEREDOC_STRING: Part.STRING,
    TokenType.NATIONAL_STRING: Part.STRING,
    TokenType.UNICODE_STRING: Part.STRING,
}


@cache
def _tokenizer() -> _Tokenizer:
    return _Tokenizer(dialect="postgres")


def split_statements(text: str) -> list[list[Lexeme]] | None:
    """The statements of a text without their semicolons and without empty ones; None where the text cannot be read."""
    statements: list[list[Lexeme]] = [[]]
    try:
        for token in read_tokens(text):
            if token.is_sign(";"):
                statements.append([])
            else:
                statements[-1].append(token)
    except TokenError:
        return None
    return [statement for statement in statements if statement]


def read_tokens(text: str) -> Iterator[Lexeme]:
    """Yields the tokens of a text without comments.

    Raises:
        TokenError: the text cannot be read, for example because a quote is never closed.
    """
    tokens = _tokenizer().tokenize(_without_odd_spaces(text))
    at = 0
    while at < len(tokens):
        token = tokens[at]
        start, end = token.start, token.end + 1
        part = _PARTS.get(token.token_type, Part.SIGN)
        value = token.text
        if _is_unicode_name(tokens[at : at + 3]):
            # The name that U&"…" spells is not worked out: it is never one of Penstock.
            part, end = Part.QUOTED, tokens[at + 2].end + 1
            value = text[start:end]
            at += 2
        elif part is Part.SIGN and _is_parameter(tokens[at : at + 2]):
            part, value, end = Part.PARAMETER, tokens[at + 1].text, tokens[at + 1].end + 1
            at += 1
        elif part is Part.WORD:
            value = value.lower()
        elif part is Part.STRING and not text.isascii():
            value = _string_value(text[start:end])
        yield Lexeme(part, value, start, end)
        at += 1


def _without_odd_spaces(text: str) -> str:
    """Spaces beyond ASCII are letters to PostgreSQL. The result is as long as the text."""
    if text.isascii():
        return text
    return "".join("_" if char > "\x7f" and char.isspace() else char for char in text)


def _string_value(constant: str) -> str:
    (token,) = _tokenizer().tokenize(constant)
    return str(token.text)


def _is_unicode_name(tokens: list[SqlToken]) -> bool:
    kinds = [token.token_type for token in tokens]
    return kinds == [TokenType.VAR, TokenType.AMP, TokenType.IDENTIFIER] and tokens[0].text in "uU" and _touch(tokens)


def _is_parameter(tokens: list[SqlToken]) -> bool:
    return len(tokens) == 2 and tokens[0].text == "$" and _touch(tokens) and _is_whole(tokens[1])


def _is_whole(token: SqlToken) -> bool:
    return token.token_type is TokenType.NUMBER and token.text.isascii() and token.text.isdigit()


def _touch(tokens: list[SqlToken]) -> bool:
    """Whether there is nothing between the tokens."""
    return all(left.end + 1 == right.start for left, right in pairwise(tokens))
