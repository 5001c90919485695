"""Functions that Flink and ksqlDB take alike, and Penstock otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.translate.meanings.call import Call, Change, choose_variable, join
from penstock.translate.model import System

_SIGN = re.compile(r"[.|^$*+?(){}\[\]\\]")


def quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def edit_split(call: Call) -> Iterator[Change]:
    """A delimiter that is a text, and no pattern."""
    if len(call.arguments) != 2:
        return
    system, delimiter = call.system.title, call.find_text(1)
    if delimiter is None:
        yield from call.replace(
            f"SPLIT takes a pattern; {system} takes a text, which is quoted here",
            *("SPLIT(", call.arguments[0], ", '\\Q' || ", call.arguments[1], " || '\\E')"),
        )
    elif not delimiter:
        yield from call.tell(
            f"SPLIT with an empty text splits all characters, as in {system}; an empty text has one part"
        )
    elif _SIGN.search(delimiter):
        pattern = quote(_SIGN.sub(r"\\\g<0>", delimiter))
        yield from call.replace(
            f"SPLIT takes a pattern; {system} takes a text: {pattern}", "SPLIT(", call.arguments[0], f", {pattern})"
        )


def edit_contains(call: Call) -> Iterator[Change]:
    """ARRAY_CONTAINS that is never NULL for an array with NULLs, and finds NULL."""
    if len(call.arguments) != 2:
        return
    array, element = call.arguments
    name = choose_variable(call.statement)
    search = ("EXISTS(", array, f", {name} -> {name} IS NOT DISTINCT FROM ", element, ")")
    told = f"ARRAY_CONTAINS is NULL where the array has a NULL and not the element; in {call.system.title} it is FALSE"
    if call.system is System.KSQLDB:
        yield from call.replace(f"{told}, for a NULL array, too: EXISTS", "COALESCE(", *search, ", FALSE)")
    else:
        yield from call.replace(f"{told}: EXISTS", *search)


def edit_element(call: Call) -> Iterator[Change]:
    """ELT that is NULL for a number out of range."""
    if len(call.arguments) < 2:
        return
    number, count = call.arguments[0], len(call.arguments) - 1
    told = f"ELT of a number out of range fails; in {call.system.title} it is NULL: CASE"
    yield from call.replace(
        told, "CASE WHEN ", number, f" BETWEEN 1 AND {count} THEN ELT(", *join(call.arguments), ") END"
    )


def edit_substring(call: Call) -> Iterator[Change]:
    """SUBSTRING with a start that may lie before the text."""
    start, behind = call.find_number(1), call.statement.find_inside("FROM", call.place + 2, call.end - 1)
    if behind < call.end - 1:  # SUBSTRING(text FROM start FOR length)
        start = -1 if call.statement.tokens[behind + 1].type != "NUMBER" else 1
    if (len(call.arguments) >= 2 or behind < call.end - 1) and (start is None or start < 0):
        where = "empty" if call.system is System.FLINK else "the beginning of the text"
        yield from call.tell(
            f"{call.name} from a place before the first character gives what overlaps; in {call.system.title} it is "
            f"{where}"
        )


def edit_pad(call: Call) -> Iterator[Change]:
    """LPAD and RPAD of a negative length, or with an empty text."""
    length, padding = call.find_number(1), call.find_text(2)
    if length is None or length < 0 or not padding:
        yield from call.tell(
            f"{call.name} to a negative length is an empty text, and an empty padding pads nothing; in "
            f"{call.system.title} both give NULL"
        )


def edit_logarithm(call: Call) -> Iterator[Change]:
    yield from call.tell(
        f"{call.name} of 0 or a negative number is NULL; in {call.system.title} it is -Infinity or NaN"
    )


def edit_map(call: Call) -> Iterator[Change]:
    """Maps of pairs whose keys may be repeated."""
    keys = [call.statement.tokens[first] for first, _ in call.arguments]
    if any(key.type != "STRING" for key in keys) or len({key.value for key in keys}) < len(keys):
        yield from tell_repeated(call)


def tell_repeated(call: Call) -> Iterator[Change]:
    yield from call.tell(
        f"{call.name} fails if a key is repeated; in {call.system.title} the last value of the key counts"
    )


def edit_remove(call: Call) -> Iterator[Change]:
    if call.find_text(1) is None and call.find_number(1) is None:
        yield from call.tell(f"ARRAY_REMOVE of NULL is NULL; in {call.system.title} it removes the NULLs")


def tell_order(call: Call) -> Iterator[Change]:
    yield from call.tell(
        f"{call.name} has its values in order, the least first unless ORDER BY says otherwise, and leaves out NULLs; "
        f"in {call.system.title} they come as the rows do"
    )


def edit_extract(call: Call) -> Iterator[Change]:
    """Without a group, both give the whole match, Penstock the first group. Both give NULL where nothing matches.

    ksqlDB begins with the pattern.
    """
    arguments = call.arguments
    if len(arguments) not in (2, 3):
        return
    if call.system is System.KSQLDB:
        arguments[:2] = reversed(arguments[:2])
    group = "0" if len(arguments) == 2 else arguments[2]
    told = f"REGEXP_EXTRACT gives '' where nothing matches; in {call.system.title} it is NULL: NULLIF(…, '')"
    if len(arguments) == 2:
        told += "; it gives the first group unless 0 asks for the whole match"
    if call.system is System.KSQLDB:
        told += "; the pattern is its second argument"
    yield from call.replace(told, "NULLIF(REGEXP_EXTRACT(", arguments[0], ", ", arguments[1], ", ", group, "), '')")


def edit_host(call: Call) -> Iterator[Change]:
    yield from call.rename(
        f"TRY_{call.name}", f"{call.name} fails for what is no URL; in {call.system.title} it is NULL"
    )


def tell_clock(call: Call) -> Iterator[Change]:
    """The clock."""
    yield from call.tell(
        f"{call.name} is one time for all rows of a micro-batch, in UTC; in {call.system.title} each row has its own"
    )
