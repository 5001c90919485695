"""What a prompt asks of the language: whether a text is whole, and which words there are."""

from __future__ import annotations

from penstock.grammar import SEMICOLON, dialect
from penstock.parser.build.type_names import NESTED, SIMPLE
from penstock.parser.parsing import count_set_words


def is_whole(text: str) -> bool:
    """Whether a text ends with a semicolon, or is empty. Quotes and comments have to be closed; sets end with END."""
    tokens = [*dialect().lexer.tokens(text)]
    if not tokens:
        return True  # blanks and comments alone
    if tokens[-1].type != SEMICOLON:
        return False
    begins = 0
    for place, token in enumerate(tokens):
        if token.type == SEMICOLON:
            begins = place + 1
        elif place == begins and count_set_words(tokens[place:]):
            return any(each.word == "END" for each in tokens[place:])
    return True


def list_keywords() -> list[str]:
    """The keywords of the language, in upper case."""
    return sorted(dialect().keywords)


def list_types() -> list[str]:
    """The names of types, in upper case."""
    return sorted({*SIMPLE, *NESTED})
