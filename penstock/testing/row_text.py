"""Rows as a test writes them, and what differs between two lists of rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from penstock.diagnostics import show_text
from penstock.diagnostics.terminal import align_texts
from penstock.evaluator import Row, Value, cast
from penstock.parser import name_text, string_text
from penstock.planner.plan import Column
from penstock.planner.types import FLOAT, VOID, Array, Map, Struct, Type

MOST_SHOWN = 20
TOLERANCE = 1e-12
"""How much numbers of DOUBLE may differ, as a share of the greater one."""
LONGEST_RELATIVE = timedelta(hours=24)

Cells = tuple[Any, ...]
"""The values of a row that are compared, in a form in which equal ones are equal."""


def cells_of(row: Row, chosen: Sequence[Column]) -> tuple[Cells, list[float]]:
    """What has to be equal, and the floats, which have to be close."""
    floats: list[float] = []
    return tuple(comparable(row[each.name], floats) for each in chosen), floats


def comparable(value: Value, floats: list[float]) -> Any:
    """The value in a form that can be counted. Its floats, which need not be quite equal, are put into the list."""
    match value:
        case bool():
            return ("truth", value)
        case float() if math.isnan(value):
            return ("NaN",)
        case float():
            floats.append(value)
            return ("float",)
        case dict():
            return tuple(
                (name, comparable(value[key], floats)) for name, key in sorted((repr(key), key) for key in value)
            )
        case list():
            return tuple(comparable(each, floats) for each in value)
        case _:
            return value


def difference(
    expected: Iterable[Row],
    actual: Iterable[Row],
    chosen: Sequence[Column],
    start: datetime,
    kinds: tuple[str, str] = ("missing", "unexpected"),
) -> list[str]:
    """A table of the rows that are in one list alone, no lines if there are none. The order does not count.

    `kinds`: what rows of the first and of the second list are called.
    """
    wanted, there = list(expected), list(actual)
    missing, unexpected = match_rows(wanted, there, chosen)
    if not missing and not unexpected:
        return []
    lines = [["", *(show_text(name_text(each.name)) if each.name else "" for each in chosen)]]
    named = tuple(zip(kinds, (missing, unexpected), strict=True))
    for kind, rows in named:
        lines += [[kind, *(show_text(text) for text in row_texts(row, chosen, start))] for row in rows[:MOST_SHOWN]]
    table = align_texts(lines)
    for kind, rows in named:
        if len(rows) > MOST_SHOWN:
            table.append(f"… and {len(rows) - MOST_SHOWN:,} more {kind}")
    return table


def match_rows(wanted: Sequence[Row], there: Sequence[Row], chosen: Sequence[Column]) -> tuple[list[Row], list[Row]]:
    """The rows of each list that no row of the other one equals, each row being used once."""
    left: dict[Cells, list[tuple[list[float], int]]] = {}
    for number, row in enumerate(there):
        cells, floats = cells_of(row, chosen)
        left.setdefault(cells, []).append((floats, number))
    missing: list[Row] = []
    matched: set[int] = set()
    for row in wanted:
        cells, floats = cells_of(row, chosen)
        others = left.get(cells, [])
        place = next((i for i, (other, _) in enumerate(others) if are_close(floats, other)), None)
        if place is None:
            missing.append(row)
        else:
            matched.add(others.pop(place)[1])
    return missing, [row for number, row in enumerate(there) if number not in matched]


def are_close(floats: Iterable[float], others: Iterable[float]) -> bool:
    return all(math.isclose(one, other, rel_tol=TOLERANCE) for one, other in zip(floats, others, strict=True))


def give_rows(relation: str, rows: Sequence[Row], stored: Sequence[Column], start: datetime) -> str:
    """Rows as a statement of a test. Columns that are NULL in all of them are not named."""
    known = [each for each in stored if any(row.get(each.name) is not None for row in rows)] or stored
    names = ", ".join(name_text(each.name) for each in known)
    values = ", ".join(f"({', '.join(row_texts(row, known, start))})" for row in rows)
    return f"GIVEN {name_text(relation)} ({names}) VALUES {values};"


def row_texts(row: Row, chosen: Sequence[Column], start: datetime) -> list[str]:
    """The values of a row as SQL."""
    return [value_text(row[each.name], each.type, start) for each in chosen]


def value_text(value: Value, type_: Type, start: datetime) -> str:
    """A value as SQL, and a time within a day of the start as minutes and seconds behind it. Signs are VOID."""
    match value, type_:
        case None, _:
            return "NULL"
        case bool(), _:
            return "TRUE" if value else "FALSE"
        case str(), _:
            return value if type_ == VOID else string_text(value)
        case float(), _ if not math.isfinite(value):
            return "'NaN'" if math.isnan(value) else string_text("Infinity" if value > 0 else "-Infinity")
        case float(), _ if type_ == FLOAT:
            return single_text(value)
        case bytes(), _:
            return f"UNHEX({string_text(value.hex().upper())})"
        case datetime(), _:
            return string_text(time_text(value, start))
        case ((date() | time()), _):
            return string_text(value.isoformat())
        case timedelta(), _:
            return f"INTERVAL '{value / timedelta(seconds=1):g}' SECOND"
        case Decimal(), _:
            return f"{value:f}"
        case list(), Array(element):
            return f"ARRAY[{', '.join(value_text(each, element, start) for each in value)}]"
        case dict(), Map(key, of):
            items = (f"{value_text(k, key, start)}, {value_text(v, of, start)}" for k, v in value.items())
            return f"MAP[{', '.join(items)}]"
        case dict(), Struct(fields):
            parts = (f"{value_text(value[name], of, start)} AS {name_text(name)}" for name, of in fields)
            return f"STRUCT({', '.join(parts)})"
        case _:
            return str(value)


def single_text(value: float) -> str:
    """The shortest text whose FLOAT is the value."""
    texts = (f"{value:.{digits}g}" for digits in range(1, 9))
    return next((text for text in texts if cast(text, FLOAT) == value), f"{value:.9g}")


def time_text(value: datetime, start: datetime) -> str:
    """'9:30' for 9 minutes and 30 seconds behind the start, or the whole time."""
    behind = value - start
    if not timedelta(0) <= behind < LONGEST_RELATIVE:
        return value.isoformat(sep=" ")
    minutes, rest = divmod(behind, timedelta(minutes=1))
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest.seconds:02}" + (f".{rest.microseconds:06}".rstrip("0") if rest.microseconds else "")
    return f"{hours}:{minutes:02}:{seconds}" if hours else f"{minutes}:{seconds}"
