"""A seed -> the three streams of Nexmark's data model, as files whose order is the order in which their rows arrive.

Of 50 events one is a new person, three are new auctions and 46 are bids. Half of the bids go to the newest hot auction
and three quarters come from the newest hot bidder, as in Tucker et al., "NEXMark: a benchmark for queries over data
streams" (2008), and its implementation in Apache Beam. Differences: events follow each other slowly enough for windows
of minutes, and an auction takes bids for about ten minutes.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

DELAY = 4
"""The most that an event comes late, in seconds."""

STREAMS = ("person", "auction", "bid")

_CYCLE = 50  # events: one person, three auctions, 46 bids
_AUCTIONS = 3
_PLACES = {"person": range(1), "auction": range(1, 4), "bid": range(4, 50)}
_START = np.datetime64("2024-01-01T00:00:00", "ms")
_END = np.datetime64("2100-01-01T00:00:00", "ms")
_HOT = 100  # every hundredth auction, person and seller is a hot one
_OPEN_SECONDS = 600
_ACTIVE_PEOPLE = 1_000
_FIRST_PERSON = 1_000
_FIRST_AUCTION = 1_000
_HOT_CHANNELS = ("apple", "google", "facebook", "baidu")
_STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
_CITIES = ("Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent")
_FIRST_NAMES = ("Ada", "Grace", "Edsger", "Barbara", "Alan", "Donald", "Frances", "Niklaus", "Jean", "Leslie")
_LAST_NAMES = ("Lovelace", "Hopper", "Dijkstra", "Liskov", "Turing", "Knuth", "Allen", "Wirth", "Bartik", "Lamport")


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that the rows depend on. `files`: how many each stream has; `rate`: events in a second of event time."""

    events: int
    files: int = 8
    rate: int = 100
    seed: int = 1
    format: str = "csv"


def generate(recipe: Recipe, root: Path) -> tuple[Path, dict[str, int]]:
    """The folder with the streams' files, made anew unless it is there, and how many rows each stream has.

    Beside `<stream>/` lie `<stream>-end/`, one row behind every event time, for programs that end a stream with it, and
    `<stream>-halves/`, the same rows dealt out to two files, for a reader that gives each of two tasks one file.
    """
    words = (recipe.format, recipe.events, recipe.files, recipe.rate, recipe.seed)
    folder = root / "-".join(map(str, words))
    done = folder / "rows.json"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        rows = {}
        for name, table, batch in _streams(recipe):
            _write(table, batch, folder, name, recipe)
            rows[name] = table.num_rows
        done.write_text(json.dumps({"recipe": asdict(recipe), "rows": rows}), encoding="utf-8")
    return folder, json.loads(done.read_text(encoding="utf-8"))["rows"]


def _streams(recipe: Recipe) -> list[tuple[str, pa.Table, np.ndarray]]:
    """Each stream's rows in the order of their arrival, with the number of the file that each belongs to."""
    chance = np.random.default_rng(recipe.seed)
    event = np.arange(recipe.events, dtype=np.int64)
    milliseconds = event * 1_000 // recipe.rate
    arrival = milliseconds + chance.integers(0, DELAY * 1_000, recipe.events)
    order = np.argsort(arrival, kind="stable")
    batch = np.empty(recipe.events, dtype=np.int64)
    batch[order] = event * recipe.files // recipe.events
    streams = []
    for name in STREAMS:
        kind = is_of(name, event)
        chosen = order[kind[order]]
        when = _START + milliseconds[chosen].astype("timedelta64[ms]")
        table = make_rows(name, chosen, when, recipe, chance)
        streams.append((name, table, batch[chosen]))
    return streams


def list_events(streams: Sequence[str], begin: int, size: int) -> np.ndarray:
    """The numbers of `size` events of these streams, from the `begin`-th of them on."""
    places = np.array(sorted(place for name in streams for place in _PLACES[name]))
    cycle, place = np.divmod(np.arange(begin, begin + size, dtype=np.int64), len(places))
    numbers: np.ndarray = cycle * _CYCLE + places[place]
    return numbers


def is_of(stream: str, event: np.ndarray) -> np.ndarray:
    """Which of the events are of the stream."""
    found: np.ndarray = np.isin(event % _CYCLE, _PLACES[stream])
    return found


def make_rows(
    stream: str, event: np.ndarray, when: np.ndarray, recipe: Recipe, chance: np.random.Generator
) -> pa.Table:
    """The rows of events of a stream, with their times."""
    make = {"person": _people, "auction": _auctions, "bid": _bids}[stream]
    return make(event, when, recipe, chance)


def _people(event: np.ndarray, when: np.ndarray, recipe: Recipe, chance: np.random.Generator) -> pa.Table:
    size = len(event)
    first, last = _any(_FIRST_NAMES, size, chance), _any(_LAST_NAMES, size, chance)
    card = chance.integers(0, 10_000, (4, size))
    return pa.table(
        {
            "id": event // _CYCLE + _FIRST_PERSON,
            "name": joined(first, " ", last),
            "email": joined(pc.utf8_lower(last), "@", pc.utf8_lower(first), ".example"),
            "credit_card": pc.binary_join_element_wise(*(_padded(part, 4) for part in card), " "),
            "city": _any(_CITIES, size, chance),
            "state": _any(_STATES, size, chance),
            "time": when,
        }
    )


def _auctions(event: np.ndarray, when: np.ndarray, recipe: Recipe, chance: np.random.Generator) -> pa.Table:
    size = len(event)
    cycle = event // _CYCLE
    number = cycle * _AUCTIONS + event % _CYCLE - 1
    initial = _prices(size, chance)
    hot = chance.random(size) < 0.75
    active = np.maximum(0, cycle - chance.integers(0, _ACTIVE_PEOPLE, size))
    words = _any(tuple(a + " " + b for a in _LAST_NAMES for b in _CITIES), size, chance)
    return pa.table(
        {
            "id": number + _FIRST_AUCTION,
            "item": joined("item ", pa.array(number)),
            "description": joined("as seen in ", words),
            "initial_bid": initial,
            "reserve": initial + _prices(size, chance),
            "time": when,
            "expires": when + chance.integers(1, 2 * _OPEN_SECONDS, size).astype("timedelta64[s]"),
            "seller": np.where(hot, cycle // _HOT * _HOT, active) + _FIRST_PERSON,
            "category": chance.integers(10, 15, size),
        }
    )


def _bids(event: np.ndarray, when: np.ndarray, recipe: Recipe, chance: np.random.Generator) -> pa.Table:
    size = len(event)
    cycle = event // _CYCLE
    newest = cycle * _AUCTIONS + _AUCTIONS - 1
    open_auctions = _OPEN_SECONDS * recipe.rate * _AUCTIONS // _CYCLE
    cold = np.maximum(0, newest - chance.integers(0, open_auctions, size))
    auction = np.where(chance.random(size) < 0.5, newest // _HOT * _HOT, cold) + _FIRST_AUCTION
    cold = np.maximum(0, cycle - chance.integers(0, _ACTIVE_PEOPLE, size))
    bidder = np.where(chance.random(size) < 0.75, cycle // _HOT * _HOT, cold) + _FIRST_PERSON
    number = chance.integers(0, 10_000, size)
    channel = pc.if_else(
        pa.array(chance.random(size) < 0.5), _any(_HOT_CHANNELS, size, chance), joined("channel-", pa.array(number))
    )
    return pa.table(
        {
            "auction": auction,
            "bidder": bidder,
            "price": _prices(size, chance),
            "channel": channel,
            "url": joined("https://auctions.example/", channel, "/item.html?query=1&channel_id=", pa.array(number)),
            "time": when,
        }
    )


def _prices(size: int, chance: np.random.Generator) -> np.ndarray:
    return np.round(10 ** (chance.random(size) * 6) * 100).astype(np.int64)


def _any(values: tuple[str, ...], size: int, chance: np.random.Generator) -> pa.Array:
    return pa.array(values).take(pa.array(chance.integers(0, len(values), size)))


def joined(*parts: str | pa.Array) -> pa.Array:
    """Texts and columns, one behind the other."""
    return pc.binary_join_element_wise(*(p if isinstance(p, str) else p.cast(pa.string()) for p in parts), "")


def _padded(numbers: np.ndarray, width: int) -> pa.Array:
    return pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")


def _write(table: pa.Table, batch: np.ndarray, folder: Path, name: str, recipe: Recipe) -> None:
    borders = np.searchsorted(batch, np.arange(recipe.files + 1))
    # Readers take files by their modification time; all times of events are long past then.
    oldest = int(time.time()) - recipe.files - 2
    for number in range(recipe.files):
        part = table.slice(borders[number], borders[number + 1] - borders[number])
        write_file(part, folder / name / f"{number:04}", recipe.format, oldest + number)
    # No NULLs: Spark looks for keys that are not NULL below the watermark, which then would not see the row.
    end = table.slice(0, 1).set_column(table.schema.get_field_index("time"), "time", pa.array([_END]))
    write_file(end, folder / f"{name}-end" / "end", recipe.format, oldest + recipe.files)
    for half in range(2):
        mine = table.take(pa.array(np.arange(half, table.num_rows, 2)))
        write_file(mine, folder / f"{name}-halves" / f"{half}", recipe.format, oldest)


def write_file(rows: pa.Table, path: Path, format_: str, modified: int) -> None:
    """A file without header, last written `modified` seconds after 1970. Times are texts in CSV."""
    path = path.with_suffix(f".{format_}")
    path.parent.mkdir(parents=True, exist_ok=True)
    if format_ == "parquet":
        pa.parquet.write_table(rows, path)
    else:
        for place, field in enumerate(rows.schema):
            if pa.types.is_timestamp(field.type):
                rows = rows.set_column(place, field.name, pc.strftime(rows[field.name], "%Y-%m-%d %H:%M:%S"))
        options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
        pa.csv.write_csv(rows, path, options)
    os.utime(path, (modified, modified))
