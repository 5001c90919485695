"""Queries of other systems, and views and INSERT around them: the words and calls that mean something else here."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.parser import RESERVED
from penstock.translate.foreign_statement import Edits, Foreign
from penstock.translate.meanings import edit_meaning, find_session_gap
from penstock.translate.meanings.call import Change
from penstock.translate.model import Known, Rewritten, System

_SHOWN = 3  # places of one change


def rewrite_query(statement: Foreign, system: System, known: Known) -> Rewritten:
    """The statement with what differs replaced. What needs no change comes out as it is."""
    edits: Edits = {}
    changes = _Changes(known)
    first = 1 if statement.says(0, "EXECUTE INSERT") else 0
    known.session_gap = find_session_gap(statement) if system is System.KSQLDB else None
    for place in range(first, len(statement)):
        for end, pieces, change in _edit_place(statement, place, system, known):
            if end > place:
                edits[(place, min(end, len(statement)))] = pieces
            changes.add(change, statement.tokens[place].start)
    if system is not System.SPARK:
        _edit_elements(statement, edits, changes, system)
    return Rewritten(statement.edit(edits, first), changes.list())


class _Changes:
    """What is told, each once, with the places in the text."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._places: dict[str, list[str]] = {}

    def add(self, change: str, start: int) -> None:
        """`start` is the place of a character."""
        if change:
            line, column = self._known.source.position(start)
            places = self._places.setdefault(change, [])
            places.append(f"{line}:{column}")

    def list(self) -> tuple[str, ...]:
        return tuple(f"{change} ({show_places(places)})" for change, places in self._places.items())


def show_places(places: list[str]) -> str:
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return f"{', '.join(places[:_SHOWN])}{more}"


def _edit_place(statement: Foreign, place: int, system: System, known: Known) -> Iterator[Change]:
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
    elif system is System.KSQLDB and statement.sign(place) == "=>":
        yield place + 1, ("->",), ""
    else:
        yield from edit_meaning(statement, place, system, known)


def _edit_elements(statement: Foreign, edits: Edits, changes: _Changes, system: System) -> None:
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
        changes.add(told, statement.tokens[first].start)


def _find_operand(statement: Foreign, bracket: int) -> int:
    """Where the value begins that `[…]` takes an element from. The place of the bracket if it begins an array."""
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
