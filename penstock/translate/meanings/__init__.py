"""What calls, operators and texts of other systems mean: what to write, and what to tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.planner.functions import find_function
from penstock.translate.foreign_statement import Foreign
from penstock.translate.meanings import flink, ksqldb, spark
from penstock.translate.meanings.call import Call, Change, Rule
from penstock.translate.meanings.operator_edits import edit_column, edit_like, find_session_gap
from penstock.translate.meanings.same import SAME
from penstock.translate.meanings.shared import tell_clock
from penstock.translate.model import Known, System

__all__ = ["RULES", "edit_meaning", "find_session_gap"]

RULES: Mapping[System, Mapping[str, Rule]] = {
    System.FLINK: flink.RULES,
    System.KSQLDB: ksqldb.RULES,
    System.SPARK: spark.RULES,
}


def edit_meaning(statement: Foreign, place: int, system: System, known: Known) -> Iterator[Change]:
    """For a token: the places behind what is replaced, what to write, and what to tell.

    Where nothing is to be replaced, the place is the place of the token.
    """
    word = statement.word(place)
    if system is System.SPARK and word in ("", "R"):
        yield from spark.edit_text(statement, place)
    elif word in ("LIKE", "ILIKE"):
        yield from edit_like(statement, place, system)
    elif statement.sign(place + 1) == "(" and word in RULES[system]:
        yield from RULES[system][word](Call(statement, place, system))
    elif statement.sign(place + 1) == "(" and is_unknown(statement, place, system):
        yield place, (), f"{word} is no function of {system.title}: here docs/functions.md describes it"
    elif system is System.KSQLDB and statement.tokens[place].type == "NAME":
        yield from edit_column(statement, place, known)
    elif system is System.FLINK and word in flink.BARE and statement.sign(place - 1) != ".":
        yield from tell_clock(Call(statement, place, system))
    elif system is System.FLINK and word == "MAP" and statement.sign(place + 1) == "[":
        yield from flink.edit_map(Call(statement, place, system))


def is_unknown(statement: Foreign, place: int, system: System) -> bool:
    """Whether a call is of a function that Penstock has and the other system has not."""
    word = statement.word(place)
    is_type = statement.word(place - 1) == "AS"
    return system in SAME and not is_type and find_function(word) is not None and word not in SAME[system]
