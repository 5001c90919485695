"""Text -> tokens, in one linear scan that never fails: what no token fits is a token whose type is a Fault."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

NAME = "NAME"
STRING = "STRING"
NUMBER = "NUMBER"
TYPED_NUMBER = "TYPED_NUMBER"
SEMICOLON = ";"
END = "$END"


class Fault(StrEnum):
    """The type of a token that no rule takes: what is wrong with it."""

    UNTERMINATED_STRING = "unterminated string"
    UNTERMINATED_NAME = "unterminated name"
    UNTERMINATED_COMMENT = "unterminated comment"
    EMPTY_NAME = "empty name"
    MALFORMED_NUMBER = "malformed number"
    UNKNOWN_CHARACTER = "unknown character"


# Openings of what is never closed, by the group of the pattern that finds them.
_UNTERMINATED = {
    "open_string": Fault.UNTERMINATED_STRING,
    "open_name": Fault.UNTERMINATED_NAME,
    "open_comment": Fault.UNTERMINATED_COMMENT,
}


class Token(NamedTuple):
    """A terminal with its value (quotes removed) and its characters `start` to `end`.

    `word` is the upper-case spelling of an unquoted word that the parser may read as a keyword; else None.
    """

    type: str
    value: str
    start: int
    end: int
    word: str | None = None


_TEXT = r"'[^']*+(?:''[^']*+)*+'"
_NAME = r"\"[^\"]*+(?:\"\"[^\"]*+)*+\""
# Where a backslash keeps the next character, as in Spark.
_ESCAPED_TEXT = r"'[^'\\]*+(?:(?:''|\\.)[^'\\]*+)*+'"
_ESCAPED_NAME = r"\"[^\"\\]*+(?:(?:\"\"|\\.)[^\"\\]*+)*+\""


class Lexer:
    """Splits a text into tokens. `symbols` maps each punctuation text of the grammar to its terminal.

    `escapes`: a backslash in quotes keeps the character behind it, also a quote.
    """

    def __init__(self, symbols: Mapping[str, str], *, escapes: bool = False) -> None:
        text, name = (_ESCAPED_TEXT, _ESCAPED_NAME) if escapes else (_TEXT, _NAME)
        self._symbols = {**symbols, ";": SEMICOLON}
        # A word that is spelled like one of these is a name all the same: `string`, `minus`, `concat(a, b)`.
        self._other_terminals = {NAME, STRING, NUMBER, TYPED_NUMBER, *symbols.values()}
        longest_first = sorted(self._symbols, key=len, reverse=True)
        # Possessive quantifiers: a quote that is never closed must not make the scan try shorter matches.
        self._pattern = re.compile(
            r"(?P<skip>\s++|--[^\n]*+|/\*.*?\*/)"
            r"|(?P<raw>[rR]'[^']*+')"
            r"|(?P<word>[^\W\d]\w*+)"
            r"|(?P<number>(?:[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+(?![\w.]))"
            r"|(?P<typed>[0-9]++(?:[lLsSyY]|(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+[dDfF]|(?:\.[0-9]++)?+[bB][dD])(?![\w.]))"
            rf"|(?P<string>{text})"
            rf"|(?P<quoted>`[^`]*+(?:``[^`]*+)*+`|{name})"
            r"|(?P<open_comment>/\*)"
            rf"|(?P<symbol>{'|'.join(map(re.escape, longest_first))})"
            r"|(?P<malformed>\d[\w.]*+)"
            r"|(?P<open_string>')"
            r"|(?P<open_name>[`\"])"
            r"|(?P<unknown>.)",
            re.DOTALL,
        )

    def tokens(self, text: str, first: int = 0, end: int | None = None) -> Iterator[Token]:
        """The tokens of `text` in order, without white space and comments. An open quote takes the rest of the text.

        `first` and `end` are the places of the characters between which the tokens are.
        """
        position, end = first, len(text) if end is None else end
        while match := self._pattern.match(text, position, end):
            start, position = match.span()
            value = match.group()
            match match.lastgroup:
                case "skip":
                    continue
                case "word":
                    word = value.upper()
                    yield Token(NAME, value, start, position, None if word in self._other_terminals else word)
                case "number":
                    yield Token(NUMBER, value, start, position)
                case "raw":
                    yield Token(STRING, value[2:-1], start, position)
                case "typed":
                    yield Token(TYPED_NUMBER, value, start, position)
                case "string":
                    yield Token(STRING, value[1:-1].replace("''", "'"), start, position)
                case "quoted":
                    name = value[1:-1].replace(value[0] * 2, value[0])
                    yield Token(NAME if name else Fault.EMPTY_NAME, name, start, position)
                case "symbol":
                    yield Token(self._symbols[value], value, start, position)
                case "malformed":
                    yield Token(Fault.MALFORMED_NUMBER, value, start, position)
                case "unknown":
                    yield Token(Fault.UNKNOWN_CHARACTER, value, start, position)
                case opening:
                    yield Token(_UNTERMINATED[str(opening)], value, start, position)
                    return
