"""Operators and columns of other systems that mean something else in Penstock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.translate.foreign_statement import Foreign
from penstock.translate.meanings.call import Change
from penstock.translate.model import Known, System

_MILLISECONDS: Mapping[str, int] = {
    "MILLISECOND": 1,
    "SECOND": 1000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": 86_400_000,
}
_COMPARED = frozenset({"=", "<", ">", "<=", ">=", "<>", "!="})
_READ_AS_TIMES = frozenset({"TIMESTAMPTOSTRING", "UNIX_MILLIS", "MAX_BY", "MIN_BY"})


def edit_like(statement: Foreign, place: int, system: System) -> Iterator[Change]:
    """For LIKE without ESCAPE: a backslash in the pattern is a character."""
    pattern = place + 1
    if system is System.SPARK or statement.word(place) not in ("LIKE", "ILIKE"):
        return
    told = f"a backslash in a pattern of LIKE escapes here; in {system.title} it does so only behind ESCAPE"
    if pattern >= len(statement) or statement.tokens[pattern].type != "STRING":
        if statement.find("ESCAPE", pattern) == len(statement):
            yield place, (), told
    elif statement.word(pattern + 1) != "ESCAPE" and "\\" in statement.value(pattern):
        text = statement.slice(pattern, pattern + 1).replace("\\", "\\\\")
        yield pattern + 1, (f"{statement.slice(place, place + 1)} {text}",), told


def edit_column(statement: Foreign, place: int, known: Known) -> Iterator[Change]:
    """For ROWTIME and WINDOWEND of ksqlDB, which are milliseconds. WINDOWEND is the time of the last row of a session.

    Where a name is given again to an item of SELECT, later items would mean that item by it.
    """
    word = statement.word(place)
    if word == "WINDOWEND" and known.session_gap is not None:
        told = "WINDOWEND of a session is the gap behind its last row; in ksqlDB it is the time of that row"
        end = "UNIX_MILLIS(window_end)" if _is_named_again(statement, word) else "WINDOWEND"
        written = f"{end} - {known.session_gap}"
        name = f" AS {statement.slice(place, place + 1)}" if _is_item(statement, place, place) else ""
        yield place + 1, (f"{written}{name}" if name else f"({written})",), told
    column = place + 2 if statement.sign(place + 1) == "." else place
    if (
        statement.word(column) == "ROWTIME"
        and statement.sign(place - 1) != "."
        and not _is_time(statement, place, column)
    ):
        told = "ROWTIME is a TIMESTAMP; in ksqlDB it is a BIGINT of milliseconds: UNIX_MILLIS"
        is_last = all(statement.word(behind) != "ROWTIME" for behind in range(column + 1, len(statement)))
        name = f" AS {statement.slice(column, column + 1)}" if _is_item(statement, place, column) and is_last else ""
        yield column + 1, (f"UNIX_MILLIS({statement.slice(place, column + 1)}){name}",), told


def _is_named_again(statement: Foreign, word: str) -> bool:
    """Whether a column is an item of SELECT by itself, and stands elsewhere, too."""
    places = [place for place in range(len(statement)) if statement.word(place) == word]
    return len(places) > 1 and any(_is_item(statement, place, place) for place in places)


def find_session_gap(statement: Foreign) -> int | None:
    """The gap of WINDOW SESSION (30 SECONDS), in milliseconds, None where there is none."""
    place = statement.find("WINDOW SESSION")
    number, unit = statement.value(place + 3), statement.word(place + 4).removesuffix("S")
    known = number.isdecimal() and unit in _MILLISECONDS
    return int(number) * _MILLISECONDS[unit] if place < len(statement) and known else None


def _is_item(statement: Foreign, first: int, column: int) -> bool:
    """Whether the column is an item of SELECT by itself, without a name."""
    before, behind = first - 1, column + 1
    is_first = statement.word(before) in ("SELECT", "DISTINCT", "STREAM") or statement.sign(before) == ","
    is_last = statement.sign(behind) == "," or statement.word(behind) == "FROM"
    return is_first and is_last and statement.depths[first] == 0 and first < statement.find("FROM")


def _is_time(statement: Foreign, first: int, column: int) -> bool:
    """Whether the column is read as a time: beside a text, or by a function of times."""
    if statement.sign(first - 1) == "(" and statement.word(first - 2) in _READ_AS_TIMES:
        return True
    beside = [first - 2] if statement.sign(first - 1) in _COMPARED else []
    beside += [column + 2] if statement.sign(column + 1) in _COMPARED or statement.word(column + 1) == "BETWEEN" else []
    return any(0 <= each < len(statement) and statement.tokens[each].type == "STRING" for each in beside)
