"""The streams that random scripts read, and rows for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from random import Random

from tests.properties.streams import BASE

# Columns of the streams: name, as it is written, and type without sizes.
COLUMNS = {
    "id": "BIGINT",
    "k": "STRING",
    "v": "INT",
    "price": "DECIMAL",
    "x": "DOUBLE",
    "ok": "BOOLEAN",
    "day": "DATE",
    "clock": "TIME",
    "opens": "TIME",
    "tags": "ARRAY",
    "counts": "MAP",
    "pair": "STRUCT",
    "raw": "BINARY",
    "`odd.na``me`": "STRING",
    "other": "TIMESTAMP",
    "file": "STRING",
    "size": "BIGINT",
    "time": "TIMESTAMP",
}
_METADATA = {"file": "FROM 'file.name'", "size": "FROM 'file.size' VIRTUAL"}
_TYPES = {"DECIMAL": "DECIMAL(10, 2)", "ARRAY": "ARRAY<STRING>", "MAP": "MAP<STRING, INT>"}
_TYPES |= {"STRUCT": "STRUCT<q: INT, r: STRING>"}
STREAMS = {"a": 0, "b": 5, "c": 2}


def declarations(folder: Path) -> str:
    """The streams, with delays of some seconds, over JSON files in `folder`, and a place for late rows."""
    columns = write_columns(_METADATA)
    return "\n".join(
        [
            *(
                f"CREATE STREAM {name} ({columns}, WATERMARK FOR time AS time - INTERVAL '{delay}' SECOND)\n"
                f"WITH (connector = 'files', path = '{folder}/{name}', format = 'json');"
                for name, delay in STREAMS.items()
            ),
            "CREATE STREAM late (lateness BIGINT, id BIGINT, time TIMESTAMP) WITH (connector = 'memory');",
        ]
    )


def write_columns(metadata: Mapping[str, str]) -> str:
    """The columns as they are declared. `metadata`: what the columns `file` and `size` are."""
    written = {name: f"{name} {_TYPES.get(type_, type_)}" for name, type_ in COLUMNS.items()}
    written |= {name: f"{written[name]} METADATA {place}" for name, place in metadata.items()}
    return ", ".join(written.values())


def write_rows(folder: Path, chance: Random, rows: int = 12) -> None:
    """A file of rows for each stream: NULLs, repeated keys, times some seconds apart and one far ahead of them."""
    for name in STREAMS:
        (folder / name).mkdir(parents=True)
        lines = [draw_row(chance, number) for number in range(rows)]
        lines.append({**lines[-1], "time": _time(3600)})
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (folder / name / "1.json").write_text(text, encoding="utf-8")


def draw_row(chance: Random, number: int) -> dict[str, object]:
    """A row with NULLs here and there, whose time is about that many seconds after the first one."""
    row: dict[str, object] = {
        "id": number,
        "k": chance.choice("ab"),
        "v": chance.randrange(-2, 5),
        "price": chance.choice([0, 1.5, 99.99]),
        "x": chance.choice([0.5, -1.0, "NaN", 1e10]),
        "ok": chance.random() < 0.5,
        "day": chance.choice(["2026-01-01", "2025-12-31"]),
        "clock": chance.choice(["10:30:00", "00:00", "23:59:59.999999"]),
        "opens": chance.choice(["08:00", "10:30:00"]),
        "tags": chance.choice([[], ["x", "y"], ["a", None]]),
        "counts": chance.choice([{}, {"x": 1}, {"x": None, "y": 2}]),
        "pair": chance.choice([{"q": 1, "r": "a"}, {"q": None, "r": None}]),
        "raw": "YWJj",
        "odd.na`me": chance.choice(["", "1", "it's"]),
        "other": _time(chance.randrange(60)),
    }
    empty = {name: value if chance.random() < 0.85 else None for name, value in row.items()}
    return {**empty, "time": _time(chance.choice([0, number, 2 * number]))}


def _time(seconds: float) -> str:
    return (BASE + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
