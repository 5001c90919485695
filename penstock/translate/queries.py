"""Queries of other systems, and views and INSERT around them: the words and calls that mean something else here."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.parser import RESERVED
from penstock.translate.functions import edit_call, edit_text
from penstock.translate.model import Known, Rewritten, System
from penstock.translate.statement import Edits, Foreign, Pieces


def rewrite_query(statement: Foreign, system: System, known: Known) -> Rewritten:
    """The statement with what differs replaced. What needs no change comes out as it is."""
    edits: Edits = {}
    changes: list[str] = []
    first = 0
    if statement.says(0, "EXECUTE INSERT"):
        first = 1
    for place in range(first, len(statement)):
        for end, pieces, change in _edit_place(statement, place, system, known):
            if end > place:
                edits[(place, min(end, len(statement)))] = pieces
            if change and change not in changes:
                changes.append(change)
    if system is not System.SPARK:
        _edit_elements(statement, edits, changes, system)
    return Rewritten(statement.edit(edits, first), tuple(changes))


def _edit_place(statement: Foreign, place: int, system: System, known: Known) -> Iterator[tuple[int, Pieces, str]]:
    """What to write from a token to another one, and what to tell of it."""
    word = statement.word(place)
    if word in ("TEMPORARY", "TEMP") and statement.word(place + 1) == "VIEW":
        yield place + 2, ("VIEW",), ""
    elif system is System.FLINK and statement.says(place, "FOR SYSTEM_TIME AS OF"):
        behind = place + 4
        end = behind + 3 if statement.sign(behind + 1) == "." else behind + 1
        if statement.value(end - 1).lower() in known.processing_times:
            yield end, (), "a lookup at the processing time is a join with the table as it is"
    elif word == "STREAM" and system is System.SPARK and place and statement.word(place - 1) in ("FROM", "JOIN"):
        if statement.sign(place + 1) == "(":
            closing = statement.close(place + 1)
            yield closing + 1, ((place + 2, closing),), ""
        else:
            yield place + 1, (), ""
    elif system is System.SPARK and word in ("", "R"):
        yield from edit_text(statement, place)
    elif system is System.KSQLDB and statement.sign(place) == "=>":
        yield place + 1, ("->",), ""
    else:
        yield from edit_call(statement, place, system)


def _edit_elements(statement: Foreign, edits: Edits, changes: list[str], system: System) -> None:
    """`a[1]` as TRY_ELEMENT_AT(a, 1), which counts from 1, takes keys of maps, and gives NULL for what is not there."""
    for place in range(1, len(statement)):
        first = _find_operand(statement, place) if statement.sign(place) == "[" else place
        if first == place or (place + 1 < len(statement) and statement.tokens[place + 1].type == "STRING"):
            continue
        closing = statement.close(place)
        if closing == len(statement):
            continue
        edits[(first, closing + 1)] = ("TRY_ELEMENT_AT(", (first, place), ", ", (place + 1, closing), ")")
        told = f"arrays of {system.title} count from 1, and a[n] from 0 here: TRY_ELEMENT_AT"
        if told not in changes:
            changes.append(told)


def _find_operand(statement: Foreign, bracket: int) -> int:
    """Where the value begins of which `[…]` takes an element; the place of the bracket if it begins an array."""
    first = bracket - 1
    while first >= 0 and statement.sign(first) == "]":
        opening = statement.open(first)
        if statement.word(opening - 1) in ("ARRAY", "MAP"):
            return opening - 1
        first = opening - 1
    if first < 0 or statement.word(bracket - 1) in ("ARRAY", "MAP"):
        return bracket
    if statement.sign(first) == ")":
        first = statement.open(first)
        is_call = first > 0 and statement.tokens[first - 1].type == "NAME" and statement.word(first - 1) not in RESERVED
        first -= is_call
    elif statement.sign(first) or statement.word(first) in RESERVED:
        return bracket
    while first >= 2 and statement.sign(first - 1) in (".", "->"):
        first -= 2
    return first
