"""What was found at a place -> a script that declares it, with comments on what is to be known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from penstock.describe.find_event_time import FoundTime, explain_none, tell_disorder
from penstock.describe.found_place import FoundPlace, Option, WrittenOption
from penstock.describe.keys import find_key
from penstock.describe.type_text import type_text
from penstock.diagnostics.terminal import align_texts, show_text
from penstock.parser import name_text, string_text
from penstock.planner import interval_sql

WIDTH = 118
_MOST_NOTES = 20
_CELL = 27
"""How many characters a cell of the first rows has: a time with its microseconds has 26."""


def write_script(found: FoundPlace, time: FoundTime | None, rows: Sequence[Sequence[str]] = ()) -> str:
    """The script. `rows`: the names of the columns and the texts of the first rows, as comments behind it."""
    lines = [*_head(found, time), f"CREATE {found.kind} {name_text(found.name)} ("]
    elements = [(_column(each.name, type_text(each.type)), each.notes) for each in found.columns]
    if time is not None:
        if time.sql is not None:
            elements.append((f"{name_text(time.name)} AS {time.sql}", []))
        name = name_text(time.name)
        elements.append((f"WATERMARK FOR {name} AS {name} - {interval_text(time.delay)}", [tell_disorder(time)]))
    if found.key and len(found.key) > 1:
        elements.append((f"PRIMARY KEY ({', '.join(map(name_text, found.key))})", []))
    for place, (text, notes) in enumerate(elements):
        if len(found.key) == 1 and place < len(found.columns) and found.columns[place].name == found.key[0]:
            text += " PRIMARY KEY"
        comma = "," if place < len(elements) - 1 else ""
        lines += _with_notes(f"  {text}{comma}", notes)
    lines.append(f") WITH ({write_options(found.options)});")
    lines += [f"-- {line}".rstrip() for line in ("", *_table(rows))] if rows else []
    return "\n".join(lines) + "\n"


def interval_text(length: timedelta) -> str:
    """The length as SQL has it."""
    return interval_sql(int(length.total_seconds() * 1000))


def write_options(options: Mapping[str, Option]) -> str:
    """The options of WITH."""
    return ", ".join(f"{name} = {_value(value)}" for name, value in options.items())


def _head(found: FoundPlace, time: FoundTime | None) -> list[str]:
    told = [found.read] if found.read else []
    if time is None and found.kind == "STREAM":
        told.append(f"no event time: {explain_none(found)}")
    key = find_key(found)
    if key is not None and not found.key:
        told.append(key)
    notes = [*found.differences, *found.notes]
    told += notes[:_MOST_NOTES]
    if len(notes) > _MOST_NOTES:
        told.append(f"and {len(notes) - _MOST_NOTES:,} more; --format json has all of them")
    return [f"-- {comment_text(each)}" for each in told]


def comment_text(text: str) -> str:
    """A text as a comment has it: on one line, and not too long."""
    shown = show_text(text)
    return shown if len(shown) <= 2 * WIDTH else f"{shown[: 2 * WIDTH]}…"


def _column(name: str, type_: str) -> str:
    return f"{name_text(name)} {type_}"


def _with_notes(line: str, notes: Iterable[str]) -> list[str]:
    """A line with the notes behind it, or above it if they are long."""
    notes = [comment_text(each) for each in notes]
    if not notes:
        return [line]
    text = "; ".join(notes)
    if len(line) + len(text) + 5 <= WIDTH:
        return [f"{line}  -- {text}"]
    return [*(f"  -- {each}" for each in notes), line]


def _value(value: Option) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case WrittenOption():
            return value.sql
    return string_text(value)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines, with as many columns as fit."""
    cells = [[_cut(show_text(cell)) for cell in row] for row in rows]
    while len(cells[0]) > 1 and max(map(len, align_texts(cells))) > WIDTH:
        cells = [[*row[:-2], "…"] if row[-1] == "…" else [*row[:-1], "…"] for row in cells]
    return align_texts(cells)


def _cut(text: str) -> str:
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"
