"""Functions and texts that are written alike and mean something else: what to write, and what to tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from penstock.translate.model import System
from penstock.translate.statement import Foreign, Pieces

# The function of Penstock that has this meaning.
_RENAMED: Mapping[System, Mapping[str, tuple[str, str]]] = {
    System.KSQLDB: {
        "FROM_UNIXTIME": ("TIMESTAMP_MILLIS", "FROM_UNIXTIME of ksqlDB takes milliseconds: TIMESTAMP_MILLIS"),
        "UNIX_TIMESTAMP": ("UNIX_MILLIS", "UNIX_TIMESTAMP of ksqlDB gives milliseconds: UNIX_MILLIS"),
    },
    System.FLINK: {
        "JSON_VALUE": (
            "GET_JSON_OBJECT",
            "JSON_VALUE of Flink is NULL for objects and arrays; GET_JSON_OBJECT gives their text",
        ),
    },
    System.SPARK: {},
}
_TOLD: Mapping[System, Mapping[str, str]] = {
    System.KSQLDB: {
        "CONCAT": "CONCAT with a NULL is NULL; ksqlDB takes NULL as an empty text: CONCAT_WS('', …)",
        "SPLIT": "SPLIT takes a pattern; ksqlDB takes a text",
    },
    System.FLINK: {
        "AVG": "AVG of whole numbers is a DOUBLE; in Flink it is a whole number",
        "GREATEST": "GREATEST leaves out NULL; in Flink a NULL makes it NULL",
        "LEAST": "LEAST leaves out NULL; in Flink a NULL makes it NULL",
    },
    System.SPARK: {},
}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "t": "\t", "n": "\n", "r": "\r", "Z": "\x1a", "%": "\\%", "_": "\\_"}


def edit_call(statement: Foreign, place: int, system: System) -> Iterator[tuple[int, Pieces, str]]:
    """For the name of a call: the place behind what is replaced, what to write, and what to tell.

    Where nothing is to be replaced, the place is that of the name.
    """
    word = statement.word(place)
    if statement.sign(place + 1) != "(":
        return
    if word in _RENAMED[system]:
        name, told = _RENAMED[system][word]
        if statement.sign(place + 2) == ")":
            yield place + 3, (f"{name}(CURRENT_TIMESTAMP())",), told
        else:
            yield place + 1, (name,), told
    elif word in _TOLD[system]:
        yield place, (), _TOLD[system][word]
    elif system is System.FLINK and word == "EXTRACT" and statement.says(place + 2, "SECOND FROM"):
        told = "EXTRACT of a SECOND has a fraction; in Flink it is whole: SECOND(…)"
        closing = statement.close(place + 1)
        yield closing + 1, ("SECOND(", (place + 4, closing), ")"), told
    elif word == "REGEXP_EXTRACT" and system is not System.SPARK:
        yield from _edit_extract(statement, place, system)
    elif word == "REGEXP_EXTRACT_ALL" and system is System.KSQLDB:
        yield from _edit_extract_all(statement, place)
    elif word == "MASK" and system is System.KSQLDB:
        yield from _edit_mask(statement, place)
    elif word in _BY_OFFSET and system is System.KSQLDB:
        yield from _edit_by_offset(statement, place)


def _edit_extract(statement: Foreign, place: int, system: System) -> Iterator[tuple[int, Pieces, str]]:
    """Without a group, both give the whole match, Penstock the first group. Both give NULL where nothing matches.

    ksqlDB begins with the pattern.
    """
    closing = statement.close(place + 1)
    arguments = [*statement.split(place + 2, closing)]
    if len(arguments) not in (2, 3):
        return
    if system is System.KSQLDB:
        arguments[:2] = reversed(arguments[:2])
    group = "0" if len(arguments) == 2 else arguments[2]
    told = f"REGEXP_EXTRACT gives '' where nothing matches; in {system.title} it is NULL: NULLIF(…, '')"
    if len(arguments) == 2:
        told += "; it gives the first group unless 0 asks for the whole match"
    if system is System.KSQLDB:
        told += "; the pattern is its second argument"
    call = ("NULLIF(REGEXP_EXTRACT(", arguments[0], ", ", arguments[1], ", ", group, "), '')")
    yield closing + 1, call, told


def _edit_extract_all(statement: Foreign, place: int) -> Iterator[tuple[int, Pieces, str]]:
    """REGEXP_EXTRACT_ALL of ksqlDB begins with the pattern, and gives whole matches unless a group is asked for."""
    closing = statement.close(place + 1)
    arguments = [*statement.split(place + 2, closing)]
    if len(arguments) not in (2, 3):
        return
    pattern, text, *groups = arguments
    told = "the pattern is the second argument of REGEXP_EXTRACT_ALL"
    if not groups:
        told += "; it gives the first group unless 0 asks for the whole match"
    yield closing + 1, ("REGEXP_EXTRACT_ALL(", text, ", ", pattern, ", ", *(groups or "0"), ")"), told


def _edit_mask(statement: Foreign, place: int) -> Iterator[tuple[int, Pieces, str]]:
    """MASK of ksqlDB also replaces what is neither a letter nor a digit."""
    closing = statement.close(place + 1)
    arguments = [*statement.split(place + 2, closing)]
    if len(arguments) == 1:
        told = "MASK keeps signs and spaces; ksqlDB makes each of them a hyphen: MASK(…, 'X', 'x', 'n', '-')"
        yield closing + 1, ("MASK(", arguments[0], ", 'X', 'x', 'n', '-')"), told


_BY_OFFSET = {"LATEST_BY_OFFSET": ("MAX_BY", "newest"), "EARLIEST_BY_OFFSET": ("MIN_BY", "oldest")}


def _edit_by_offset(statement: Foreign, place: int) -> Iterator[tuple[int, Pieces, str]]:
    """The newest or oldest value that is not NULL. That of several values is refused."""
    closing = statement.close(place + 1)
    arguments = [*statement.split(place + 2, closing)]
    if len(arguments) == 1:
        function, which = _BY_OFFSET[statement.word(place)]
        word, (value,) = statement.word(place), arguments
        told = f"{word} goes by the order of arrival in ksqlDB; {function} takes the {which} value by event time"
        yield closing + 1, (function, "(", value, ", ROWTIME) FILTER (WHERE ", value, " IS NOT NULL)"), told


def edit_text(statement: Foreign, place: int) -> Iterator[tuple[int, Pieces, str]]:
    """For a text of Spark, as `edit_call`.

    Double quotes are around texts there, a backslash begins an escape, and r'…' has none.
    """
    token = statement.tokens[place]
    if token.type == "STRING" and statement.text[token.start] in "rR":
        yield place + 1, (statement.text[token.start + 1 : token.end],), ""
        return
    is_double = statement.text[token.start] == '"'
    if not is_double and not (token.type == "STRING" and "\\" in token.value):
        return
    value = _ESCAPE.sub(_unescape, token.value)
    quoted = "'" + value.replace("'", "''") + "'"
    told = (
        'texts are in single quotes: "…" is a name' if is_double else "a backslash in a text is a backslash, no escape"
    )
    yield place + 1, (quoted,), told


def _unescape(match: re.Match[str]) -> str:
    escape = match[1]
    return chr(int(escape[1:], 16)) if len(escape) == 5 else _ESCAPED.get(escape, escape)
