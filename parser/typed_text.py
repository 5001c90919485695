r"""What a prompt asks of the language: whether a text is complete, and which words there are."""

from __future__ import annotations

from penstock.grammar import SEMICOLON, Fault, dialect
from penstock.parser.build.type_names import NESTED, SIMPLE
from penstock.parser.parsing import count_set_words

WORDS = ("exit", "quit", "help")
"""What people type without a backslash and a semicolon."""
_OPEN = frozenset({Fault.UNTERMINATED_STRING, Fault.UNTERMINATED_NAME, Fault.UNTERMINATED_COMMENT})


def is_complete(text: str) -> bool:
    """Whether nothing has to follow. A set of statements ends with END; quotes and comments have to be closed."""
    return not split_typed(text)[1].strip()


def split_typed(text: str) -> tuple[list[str], str]:
    """The texts that are complete, each of whole lines, and what is left. A line with a backslash is one."""
    texts: list[str] = []
    pending = ""
    for line in text.splitlines(keepends=True):
        pending += line
        if _ends(pending):
            texts.append(pending)
            pending = ""
    return texts, pending


def _ends(text: str) -> bool:
    stripped = text.strip()
    if not stripped or stripped.startswith("\\") or stripped.lower() in WORDS:
        return True
    tokens = [*dialect().lexer.tokens(text)]
    if not tokens:
        return True  # comments alone
    if tokens[-1].type in _OPEN:
        return False
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
