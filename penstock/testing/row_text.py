"""Rows as a test writes them, and what differs between two lists of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from penstock.diagnostics import show_text
from penstock.diagnostics.terminal import align_texts
from penstock.evaluator import Row, Value
from penstock.parser import name_text, string_text
from penstock.planner.plan import Column
from penstock.planner.types import VOID, Array, Map, Struct, Type

MOST_SHOWN = 20
LONGEST_RELATIVE = timedelta(hours=24)

Cells = tuple[Any, ...]
"""The values of a row that are compared, in a form in which equal ones are equal."""


def cells_of(row: Row, chosen: Sequence[Column]) -> Cells:
    return tuple(comparable(row[each.name]) for each in chosen)


def comparable(value: Value) -> Any:
    """The value in a form that can be counted. The eleventh digit of a float does not count."""
    match value:
        case bool():
            return ("truth", value)
        case float():
            return float(f"{value:.10g}")
        case dict():
            return tuple(sorted(((repr(name), comparable(each)) for name, each in value.items())))
        case list():
            return tuple(map(comparable, value))
        case _:
            return value


def difference(expected: Iterable[Row], actual: Iterable[Row], chosen: Sequence[Column], start: datetime) -> list[str]:
    """A table of the rows that are missing and unexpected, no lines if there are none. The order does not count."""
    wanted, there = list(expected), list(actual)
    missing = surplus(wanted, there, chosen)
    unexpected = surplus(there, wanted, chosen)
    if not missing and not unexpected:
        return []
    lines = [["", *(show_text(name_text(each.name)) if each.name else "" for each in chosen)]]
    for kind, rows in (("missing", missing), ("unexpected", unexpected)):
        lines += [[kind, *(show_text(text) for text in row_texts(row, chosen, start))] for row in rows[:MOST_SHOWN]]
    table = align_texts(lines)
    for kind, rows in (("missing", missing), ("unexpected", unexpected)):
        if len(rows) > MOST_SHOWN:
            table.append(f"… and {len(rows) - MOST_SHOWN:,} more {kind}")
    return table


def surplus(rows: Iterable[Row], others: Iterable[Row], chosen: Sequence[Column]) -> list[Row]:
    """The rows that are there more often than among the others."""
    left = Counter(cells_of(row, chosen) for row in others)
    result = []
    for row in rows:
        cells = cells_of(row, chosen)
        if left[cells]:
            left[cells] -= 1
        else:
            result.append(row)
    return result


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


def time_text(value: datetime, start: datetime) -> str:
    """'9:30' for 9 minutes and 30 seconds behind the start, or the whole time."""
    behind = value - start
    if not timedelta(0) <= behind < LONGEST_RELATIVE:
        return value.isoformat(sep=" ")
    minutes, rest = divmod(behind, timedelta(minutes=1))
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest.seconds:02}" + (f".{rest.microseconds:06}".rstrip("0") if rest.microseconds else "")
    return f"{hours}:{minutes:02}:{seconds}" if hours else f"{minutes}:{seconds}"
