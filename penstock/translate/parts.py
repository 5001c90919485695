"""A text of statements -> its parts: statements, words around them, and cells of notebooks in other languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.diagnostics import Source
from penstock.parser import Token, count_set_words, split_script

# A line that begins a cell of a notebook. Databricks writes the first one into the files of notebooks.
_CELL = re.compile(
    r"^(?:--[ \t]*COMMAND[ \t]+-{4,}[ \t]*\r?$"
    r"|%{1,2}(?P<magic>sql|python|py|pyspark|scala|md|markdown|sh|bash|fs|run|pip|conda|html|js|javascript|configure)\b)",
    re.MULTILINE | re.IGNORECASE,
)
_PIECE = re.compile(r"--[^\n]*+|/\*.*?\*/|;", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TextPart:
    """One statement, with the text before it. `before` ends with what is left out as comments.

    `tokens` is empty behind the last statement. `foreign`: the text of a cell in another language.
    """

    before: str
    tokens: Sequence[Token] = ()
    foreign: str = ""
    start: int = 0


def split_parts(source: Source, *, escapes: bool) -> Iterator[TextPart]:
    """The parts of a text in their order. No character but white space and semicolons is in none.

    `escapes` is as in `split_script`.
    """
    gap, position = "", 0
    for first, end, language in _split_cells(source.text):
        gap += source.text[position:first]
        position = end
        if language not in ("", "sql"):
            yield TextPart(gap, foreign=source.text[first:end].rstrip(), start=first)
            gap = ""
            continue
        if language:
            magic = _CELL.match(source.text, first)
            assert magic is not None
            gap += f"-- {magic[0]}\n"
            first = magic.end()
        for tokens in split_script(source, escapes=escapes, first=first, end=end):
            size = count_wrapper(tokens)
            gap += drop_semicolons(source.text[first : tokens[0].start])
            first = tokens[-1].end
            if size:
                words = source.text[tokens[0].start : tokens[size - 1].end]
                gap += f"-- left out: {' '.join(words.split())}\n"
                gap += source.text[tokens[size - 1].end : tokens[size].start] if size < len(tokens) else ""
            if size < len(tokens):
                yield TextPart(gap, tokens[size:], start=tokens[size].start)
                gap = ""
        gap += drop_semicolons(source.text[first:end])
    yield TextPart(gap + source.text[position:])


def _split_cells(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each cell begins and ends, and the word behind its percent sign, in small letters."""
    begin, language = 0, ""
    for found in _CELL.finditer(text):
        yield begin, found.start(), language
        begin, language = found.start(), (found["magic"] or "").lower()
    yield begin, len(text), language


def count_wrapper(tokens: Sequence[Token]) -> int:
    """How many tokens are words around a set of statements."""
    return len(tokens) if [token.word for token in tokens] == ["END"] else count_set_words(tokens)


def drop_semicolons(gap: str) -> str:
    """White space and comments between two statements."""
    return _PIECE.sub(lambda found: "" if found[0] == ";" else found[0], gap)


def comment_out(text: str, head: str = "") -> str:
    """The text as comments. `head` stands before its first line."""
    lines = f"{head}{text}".splitlines()
    return "\n".join(f"-- {line}".rstrip() for line in lines)
