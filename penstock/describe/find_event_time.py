"""The columns of a place -> the event time of its records, and how far they are out of order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from penstock.describe.found_place import FoundPlace, count_text
from penstock.describe.infer import Described
from penstock.describe.observed import OBJECT, WHOLE, Observed, TimeTrack
from penstock.describe.text_forms import EPOCH, Form, quote_form
from penstock.parser import name_text
from penstock.planner import duration_text, interval_sql
from penstock.planner.types import TIMESTAMP

_NAMES = (
    *("event_time", "event_timestamp", "eventtime", "time", "timestamp", "@timestamp", "ts", "datetime", "date_time"),
    *("occurred_at", "created_at", "createdat", "created", "time_hour"),
)
_ENDS = re.compile(r"(?:_time|_at|_ts|_timestamp|_date|time|date)$", re.IGNORECASE)
_STEPS = (
    *(timedelta(seconds=each) for each in (10, 30)),
    *(timedelta(minutes=each) for each in (1, 2, 5, 10, 15, 30)),
    *(timedelta(hours=each) for each in (1, 2, 6, 12)),
    *(timedelta(days=each) for each in (1, 2, 7, 14, 31, 92, 366)),
)


@dataclass(frozen=True, slots=True)
class FoundTime:
    """An event time. `sql`: computes it, None if it is a column of the records."""

    name: str
    sql: str | None
    delay: timedelta
    track: TimeTrack


def list_event_times(found: FoundPlace) -> list[FoundTime]:
    """The event times that the records can have, the most likely first."""
    candidates: list[tuple[tuple[object, ...], FoundTime]] = []
    for place, (path, form, track) in enumerate(_list_tracks(found)):
        if track.count < found.records or track.future or track.oldest < EPOCH or not form.is_moment:
            continue
        is_column = len(path) == 1 and form.type == TIMESTAMP
        name = path[0] if is_column else _choose_name(found)
        reference = ".".join(map(name_text, path))
        sql = None if is_column else form.sql.format(reference)
        if sql is not None and form.type is not None and form.type != TIMESTAMP:
            sql = f"CAST({sql} AS TIMESTAMP)"
        rank = (len(path), _rank(path[-1]), form.type != TIMESTAMP, track.disorder, place)
        candidates.append((rank, FoundTime(name, sql, choose_delay(track.disorder), track)))
    return [each for _, each in sorted(candidates, key=lambda each: each[0])]


def explain_none(found: FoundPlace) -> str:
    """Why no column is the event time."""
    told = []
    for path, form, track in _list_tracks(found):
        label = ".".join(path)
        if track.count < found.records:
            missing = f"{label} is missing in {count_text(found.records - track.count, 'record')}"
            if len(path) == 1 and form.type == TIMESTAMP and 2 * track.count > found.records:
                name = name_text(label)
                delay = interval_sql(int(choose_delay(track.disorder).total_seconds() * 1000))
                missing += f", which WATERMARK FOR {name} AS {name} - {delay} rejects"
            told.append(missing)
        elif track.future:
            records = count_text(track.future, "record")
            told.append(f"{label} is more than an hour after the time of the file in {records}")
        elif track.oldest < EPOCH:
            told.append(f"{label} is before 1970 in some records")
    return "; ".join(told[:3]) or "no column has a point in time"


def choose_delay(disorder: timedelta) -> timedelta:
    """A round delay that is as long as the disorder."""
    for step in _STEPS:
        if disorder <= step:
            return step
    return timedelta(days=disorder.days + 1)


def tell_disorder(time: FoundTime) -> str:
    """What is told of the delay."""
    if not time.track.disorder:
        return "no record is behind an earlier one"
    text = f"records are up to {_round(time.track.disorder)} behind earlier ones"
    if time.track.disorder_in_file < time.track.disorder:
        within = time.track.disorder_in_file
        text += f", within a file up to {_round(within)}" if within else ", within a file none is"
    return text


def _round(length: timedelta) -> str:
    seconds = int(length.total_seconds())
    if seconds < 1:
        return duration_text(max(int(length.total_seconds() * 1000), 1))
    if seconds >= 2 * 86_400:
        seconds -= seconds % 3600
    return duration_text(seconds * 1000)


def _list_tracks(found: FoundPlace) -> Iterator[tuple[tuple[str, ...], Form, TimeTrack]]:
    """All points in time, also in objects, but not in arrays: how they are written, and their order."""
    for column in found.columns:
        if column.observed is not None:
            yield from _list_inside(column, column.observed, (column.name,))


def _list_inside(
    column: Described, seen: Observed, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Form, TimeTrack]]:
    tracks = _join_tracks(seen)
    if len(path) == 1 and column.form is not None and column.form in tracks:
        yield path, column.form, tracks[column.form]
    elif len(path) > 1 and tracks and len(seen.kinds) == 1:
        form = next((each for each in tracks if each.type is not None), next(iter(tracks)))
        yield path, form, tracks[form]
    elif seen.kinds == {OBJECT} and len(path) < 3 and str(column.type).startswith("STRUCT"):
        for name, each in seen.fields.items():
            yield from _list_inside(column, each, (*path, name))


def _join_tracks(seen: Observed) -> dict[Form, TimeTrack]:
    """The points in time by their forms, also of whole numbers in quotes."""
    tracks = dict(seen.forms or {})
    if not tracks and seen.is_number and seen.numbers is not None and seen.numbers.kinds == {WHOLE}:
        return {quote_form(form): track for form, track in (seen.numbers.forms or {}).items()}
    return tracks


def _rank(name: str) -> int:
    lowered = name.lower()
    if lowered in _NAMES:
        return _NAMES.index(lowered)
    return len(_NAMES) if _ENDS.search(name) else len(_NAMES) + 1


def _choose_name(found: FoundPlace) -> str:
    taken = {each.name.lower() for each in found.columns}
    for name in ("event_time", "time", "row_time"):
        if name not in taken:
            return name
    number = 2
    while f"event_time_{number}" in taken:
        number += 1
    return f"event_time_{number}"
