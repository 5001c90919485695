"""A script -> the same script with one slip, such as `<` for `<=`: tests should notice each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TOKEN = re.compile(
    r"""'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/|`[^`]*`|"[^"]*"|\w+(?:\.\d+)?|<=|>=|<>|!=|[<>]|\S""", re.DOTALL
)
SWAPS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "SUM": "COUNT",
    "AVG": "COUNT",
    "MIN": "MAX",
    "MAX": "MIN",
    "AND": "OR",
    "OR": "AND",
    "DESC": "ASC",
    "LAG": "LEAD",
    "LEAD": "LAG",
}
"""Tokens, and what stands in their place."""
LEFT_OUT = {"DISTINCT", "LEFT", "RIGHT", "FULL", "NOT"}
CLAUSES = {"WHERE", "HAVING"}
ENDS = {"GROUP", "HAVING", "ORDER", "LIMIT", "QUALIFY", "EMIT", "UNION", ";", ")", "GRACE", "WITH", "PARTITION"}


@dataclass(frozen=True)
class Mutant:
    """A script with one slip. `line` is its number from 1; `before` and `after` are that line."""

    text: str
    line: int
    before: str
    after: str


def list_mutants(text: str) -> Iterator[Mutant]:
    """All scripts with one slip in a query. Declarations, with their watermarks and places, stay as they are."""
    tokens = [each for each in TOKEN.finditer(text) if not each[0].startswith(("--", "/*"))]
    is_query = False
    for place, token in enumerate(tokens):
        word = token[0].upper()
        if word == ";":
            is_query = False
        elif word == "SELECT":
            is_query = True
        if is_query:
            for first, end, new in list_slips(tokens, place):
                yield make_mutant(text, first, end, new)


def list_slips(tokens: list[re.Match[str]], place: int) -> Iterator[tuple[int, int, str]]:
    """The characters to replace, and what is put there."""
    token, word = tokens[place], tokens[place][0].upper()
    before = tokens[place - 1][0].upper() if place else ""
    if word in SWAPS and not (word == "AND" and is_between(tokens, place)):
        yield token.start(), token.end(), SWAPS[word]
    if word in LEFT_OUT and place + 1 < len(tokens) and tokens[place + 1][0] != "(":
        yield token.start(), tokens[place + 1].start(), ""
    if word.strip("'").isdigit() and before == "INTERVAL":
        quote = "'" if word.startswith("'") else ""
        number = int(word.strip("'"))
        for other in (number - 1, number + 1):
            if other > 0:
                yield token.start(), token.end(), f"{quote}{other}{quote}"
    elif word.isdigit() and before in ("<", "<=", ">", ">=", "=", "<>", "!="):
        yield token.start(), token.end(), str(int(word) + 1)
    if word in CLAUSES and before != "(":
        yield token.start(), find_end(tokens, place), ""
    if word == "FILTER" and place + 1 < len(tokens) and tokens[place + 1][0] == "(":
        yield token.start(), tokens[find_closing(tokens, place + 1)].end(), ""


def is_between(tokens: list[re.Match[str]], place: int) -> bool:
    """Whether an AND belongs to BETWEEN."""
    words = [each[0].upper() for each in tokens[max(place - 12, 0) : place]]
    last = len(words) - 1 - words[::-1].index("BETWEEN") if "BETWEEN" in words else None
    return last is not None and not {"AND", "WHERE", "ON"} & set(words[last:])


def find_closing(tokens: list[re.Match[str]], place: int) -> int:
    """The place of the bracket that closes the one at a place."""
    depth = 0
    for number in range(place, len(tokens)):
        depth += (tokens[number][0] == "(") - (tokens[number][0] == ")")
        if depth == 0:
            return number
    return len(tokens) - 1


def find_end(tokens: list[re.Match[str]], place: int) -> int:
    """The character at which a clause ends."""
    number = place + 1
    while number < len(tokens) and tokens[number][0].upper() not in ENDS:
        number = find_closing(tokens, number) + 1 if tokens[number][0] == "(" else number + 1
    return tokens[number].start() if number < len(tokens) else tokens[-1].end()


def make_mutant(text: str, first: int, end: int, new: str) -> Mutant:
    changed = text[:first] + new + text[end:]
    line = text.count("\n", 0, first) + 1
    return Mutant(changed, line, line_at(text, first), line_at(changed, first))


def line_at(text: str, place: int) -> str:
    """The line of a text with a character, without blanks around it."""
    begin = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    return text[begin : end if end >= 0 else len(text)].strip()
