"""A seed -> the changelogs of two tables, and a stream that refers to one, as files whose order is that of the records.

An `item` is on sale in a category, an `offer` is the best that is bid for the item of the same id. Each record puts the
row of its id or, one in twenty, deletes it; then it has nothing but the id. An item is put into any category, so that
nearly every change of it moves it to another group.
"""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.nexmark import joined, write_file

TABLES = ("item", "offer")

_HOT = 100  # half of the changes are of a hundredth of the keys
_DELETED = 0.05
_CATEGORIES = 1_000
_PEOPLE = 10_000


@dataclass(frozen=True, slots=True)
class Log:
    """All that the records depend on. `keys`: how many ids there are; `changes`: how many records each table has.

    `grown`: a first file, beside the `files`, puts every row; each of the others changes different rows, and the stream
    `visit`, which has a row for each change, asks for any.
    """

    keys: int
    changes: int
    files: int = 8
    grown: bool = False
    seed: int = 1
    format: str = "csv"


def generate(log: Log, root: Path) -> tuple[Path, dict[str, int]]:
    """The folder with the files, made anew unless it is there, and how many records each table has.

    Beside `<table>/` lies `<table>-halves/`, the same records in two files, all of an id in one of them.
    """
    words = (log.format, log.keys, log.changes, log.files, "grown" if log.grown else "new", log.seed)
    folder = root / "-".join(map(str, words))
    done = folder / "rows.json"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        rows = {}
        chance = np.random.default_rng(log.seed)
        for name, columns in zip(TABLES, (_items, _offers), strict=True):
            ids, borders = _changed(log, chance)
            put = np.ones(len(ids), dtype=bool)
            put[borders[0] :] = chance.random(len(ids) - borders[0]) >= _DELETED
            table = _records(ids, put, columns(ids, chance))
            _write(table, borders, folder, name, log)
            for half in range(2):
                write_file(
                    table.filter(pa.array(ids % 2 == half)),
                    folder / f"{name}-halves" / f"{half}",
                    log.format,
                    int(time.time()),
                )
            rows[name] = table.num_rows
        if log.grown:
            visits = _visits(log, chance)
            _write(visits, np.linspace(0, log.changes, log.files + 1).astype(np.int64), folder, "visit", log)
            rows["visit"] = visits.num_rows
        done.write_text(json.dumps({"log": asdict(log), "rows": rows}), encoding="utf-8")
    return folder, json.loads(done.read_text(encoding="utf-8"))["rows"]


def _changed(log: Log, chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The ids of a table's records, and how many of these lie before each file of changes."""
    borders = np.linspace(0, log.changes, log.files + 1).astype(np.int64)
    if log.grown:
        sizes = np.diff(borders)
        changed = [chance.choice(log.keys, size, replace=False) for size in sizes]
        return np.concatenate([np.arange(log.keys), *changed]), borders + log.keys
    hot = chance.integers(0, max(1, log.keys // _HOT), log.changes)
    return np.where(chance.random(log.changes) < 0.5, hot, chance.integers(0, log.keys, log.changes)), borders


def _items(ids: np.ndarray, chance: np.random.Generator) -> dict[str, pa.Array]:
    seller = pa.array(chance.integers(0, _PEOPLE, len(ids)))
    return {
        "seller": seller,
        "category": pa.array(chance.integers(0, _CATEGORIES, len(ids))),
        "price": pa.array(chance.integers(100, 1_000_000, len(ids))),
        "name": joined("item ", pa.array(ids), " of seller ", seller),
    }


def _offers(ids: np.ndarray, chance: np.random.Generator) -> dict[str, pa.Array]:
    return {
        "bidder": pa.array(chance.integers(0, _PEOPLE, len(ids))),
        "amount": pa.array(chance.integers(100, 1_000_000, len(ids))),
    }


def _records(ids: np.ndarray, put: np.ndarray, columns: dict[str, pa.Array]) -> pa.Table:
    """Rows, their ids before and what happens to them behind."""
    kept = pa.array(put)
    values = {name: pc.if_else(kept, values, pa.scalar(None, values.type)) for name, values in columns.items()}
    return pa.table({"id": ids, **values, "op": pc.if_else(kept, "upsert", "delete")})


def _visits(log: Log, chance: np.random.Generator) -> pa.Table:
    return pa.table({"item": chance.integers(0, log.keys, log.changes), "visitor": np.arange(log.changes)})


def _write(table: pa.Table, borders: np.ndarray, folder: Path, name: str, log: Log) -> None:
    """The files of changes, which end at the borders but the first; what lies before this is a file of its own."""
    starts = [0, *borders] if borders[0] else list(borders)
    # Readers take files by their modification time.
    oldest = int(time.time()) - len(starts) - 1
    for number, (start, end) in enumerate(pairwise(starts)):
        part = table.slice(start, end - start)
        write_file(part, folder / name / f"{number:04}", log.format, oldest + number)
