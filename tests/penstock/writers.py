"""Folders as many systems write them: records of JSON, CSV and Parquet, with what a declaration of each has to say."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

FIRST = datetime(2024, 1, 1, 10, tzinfo=UTC)


@dataclass(frozen=True)
class Writer:
    """`write` fills a folder. `types`: what the script has of each column. `time`: its event time, and the delay."""

    write: Callable[[Path], None]
    types: dict[str, str]
    time: tuple[str, str] | None = None
    records: int = 0
    says: tuple[str, ...] = ()
    """Parts of comments that the script has."""
    options: dict[str, str] = field(default_factory=dict)
    """Parts of WITH beside the path and the format."""


def lines(*texts: str, ends: str = "\n") -> bytes:
    return "".join(f"{text}{ends}" for text in texts).encode()


def records(*values: Any) -> bytes:
    return lines(*(json.dumps(value) for value in values))


def moment(minutes: float, form: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
    return (FIRST + timedelta(minutes=minutes)).strftime(form)


def table(names: Iterable[str], *rows: Iterable[object], **options: Any) -> bytes:
    output = io.StringIO(newline="")
    writer = csv.writer(output, lineterminator="\n", **options)
    writer.writerows([[*names], *rows])
    return output.getvalue().encode()


def writes(files: dict[str, bytes]) -> Callable[[Path], None]:
    """Writes the files, each a second after the one before."""

    def write(folder: Path) -> None:
        for place, (name, content) in enumerate(files.items()):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            os.utime(path, (1_750_000_000 + place,) * 2)

    return write


def parquet(**columns: pa.Array) -> bytes:
    output = io.BytesIO()
    pq.write_table(pa.table(columns), output)
    return output.getvalue()


EVENT = {
    "id": "2489368070",
    "type": "PushEvent",
    "actor": {"id": 9152315, "login": "davidjhulse", "url": "https://api.example.com/users/davidjhulse"},
    "payload": {"push_id": 536740396, "commits": [{"sha": "86ff", "author": {"name": "David"}, "distinct": True}]},
    "public": True,
}
OPENED = {
    "payload": {"action": "opened", "issue": {"number": 7, "labels": []}},
    "type": "IssuesEvent",
    "org": {"id": 1},
}
CLOUD = {"specversion": "1.0", "source": "/shop", "type": "order.created", "datacontenttype": "application/json"}

WRITERS = {
    "github": Writer(
        writes(
            {
                "1.json": records(*({**EVENT, "id": str(n), "created_at": moment(n)} for n in range(3))),
                "2.json": records({**EVENT, **OPENED, "id": "7", "created_at": moment(9)}),
            }
        ),
        {
            "id": "STRING",
            "type": "STRING",
            "actor": "STRUCT<id: BIGINT, login: STRING, url: STRING>",
            "payload": "STRUCT<push_id: BIGINT, commits: ARRAY<STRUCT<sha: STRING, author: STRUCT<name: STRING>, "
            "`distinct`: BOOLEAN>>, action: STRING, issue: STRUCT<number: BIGINT, labels: ARRAY<STRING>>>",
            "public": "BOOLEAN",
            "created_at": "TIMESTAMP",
            "org": "STRUCT<id: BIGINT>",
        },
        ("created_at", "INTERVAL '10' SECOND"),
        4,
        ("org is missing in 1 of 2 files: 1.json", "key: id is different in each record"),
    ),
    "logs": Writer(
        writes(
            {
                "app.log.jsonl": lines(
                    f'{{"ts": "{moment(0)}", "level": "info", "msg": "a", "ms": 12}}',
                    f'{{"ts": "{moment(-3)}", "level": "warn", "msg": "b", "ms": 7.25, "error": {{"code": 5}}}}',
                    "",
                    f'{{"ts": "{moment(1)}", "level": "info", "msg": null, "ms": 1e3}}',
                )
            }
        ),
        {"ts": "TIMESTAMP", "level": "STRING", "msg": "STRING", "ms": "DOUBLE", "error": "STRUCT<code: BIGINT>"},
        ("ts", "INTERVAL '5' MINUTE"),
        3,
        ("records are up to 3 min behind earlier ones",),
    ),
    "cloudevents": Writer(
        writes(
            {"1.json": records(*({**CLOUD, "id": f"e-{n}", "time": moment(n), "data": {"n": n}} for n in range(3)))}
        ),
        {"time": "TIMESTAMP", "data": "STRUCT<n: BIGINT>", "specversion": "STRING"},
        ("time", "INTERVAL '10' SECOND"),
        3,
        ("specversion STRING,  -- numbers in quotes",),
    ),
    "flights": Writer(
        writes(
            {
                "flights.csv": table(
                    ("year", "dep_time", "arr_delay", "carrier", "tailnum", "time_hour"),
                    (2013, 517, 11, "UA", "N14228", "2013-01-01T10:00:00Z"),
                    (2013, "NA", "NA", "AA", "NA", "2013-01-01T10:00:00Z"),
                    (2013, 542, -33, "B6", "N619AA", "2013-01-01T09:00:00Z"),
                )
            }
        ),
        {"year": "BIGINT", "dep_time": "BIGINT", "arr_delay": "BIGINT", "tailnum": "STRING", "time_hour": "TIMESTAMP"},
        ("time_hour", "INTERVAL '1' HOUR"),
        3,
        options={"null": "'NA'"},
    ),
    "money": Writer(
        writes({"1.json": lines('{"price": 40.00, "tax": 1}', '{"price": 120.50, "tax": 0.375}', '{"price": 3}')}),
        {"price": "DECIMAL(18, 2)", "tax": "DECIMAL(18, 3)"},
        None,
        3,
    ),
    "measures": Writer(
        writes({"1.json": lines('{"v": 21.5}', '{"v": 22}', '{"v": -0.125}', '{"v": 1.5e-7}', '{"v": NaN}')}),
        {"v": "DOUBLE"},
        None,
        5,
    ),
    "huge": Writer(
        writes(
            {
                "1.json": lines(
                    '{"a": 9223372036854775808, "b": 1E400, "c": 12345678901234567.12, "d": 1}',
                    '{"a": -1, "b": 0.5, "c": 1, "d": "x"}',
                )
            }
        ),
        {"a": "DECIMAL(38, 0)", "b": "STRING", "c": "DECIMAL(38, 2)", "d": "STRING"},
        None,
        2,
        ("numbers and texts, read as their text",),
    ),
    "mixed": Writer(
        writes(
            {
                "a.json": records({"v": 1, "o": {"x": 1}, "l": [1, 2.5]}, {"v": 2, "o": {}, "l": []}),
                "b.json": records({"v": "three", "o": {"y": [{"z": True}]}, "l": [None]}),
            }
        ),
        {"v": "STRING", "o": "STRUCT<x: BIGINT, y: ARRAY<STRUCT<z: BOOLEAN>>>", "l": "ARRAY<DOUBLE>"},
        None,
        3,
        ("v is numbers in 1 of 2 files: a.json; texts in 1 of 2 files: b.json", "o.y is missing in 1 of 2 files"),
    ),
    "spellings": Writer(
        writes(
            {
                "1.json": records(
                    {"a": "2024-01-01 10:00:00", "b": "2024-01-01", "c": "2024-01-01T10:00:00.123456789Z"},
                    {"a": "2024-1-2T3:4:5.5+02:00", "b": "2024-12-31", "c": "2024-01-01T10:00:00.1234567Z"},
                    {"a": "2024-01-03 10:00:00 Europe/Berlin", "b": None, "c": "2024-01-01T10:00:00.000000001Z"},
                )
            }
        ),
        {"a": "TIMESTAMP", "b": "DATE", "c": "STRING"},
        ("a", "INTERVAL '10' SECOND"),
        3,
        ("times with up to nine decimals: CAST(REGEXP_REPLACE(c,",),
    ),
    "weblogs": Writer(
        writes({"1.json": records({"t": "10/Oct/2023:13:55:36 -0700"}, {"t": "10/Oct/2023:13:55:40 -0700"})}),
        {"t": "STRING", "event_time": "AS TO_TIMESTAMP(t, 'dd/MMM/yyyy:HH:mm:ss Z')"},
        ("event_time", "INTERVAL '10' SECOND"),
        2,
    ),
    "nanoseconds": Writer(
        writes(
            {"1.json": records({"time": "2023-06-01T10:00:00.123456789Z"}, {"time": "2023-06-01T10:00:01.5000000Z"})}
        ),
        {"time": "STRING", "event_time": "AS CAST(REGEXP_REPLACE(time, '([.][0-9]{6})[0-9]+', '$1') AS TIMESTAMP)"},
        ("event_time", "INTERVAL '10' SECOND"),
        2,
    ),
    "european": Writer(
        writes({"1.csv": table(("day", "n"), ("31.12.2023", 1), ("01.01.2024", 2))}),
        {"day": "STRING", "event_time": "AS TO_TIMESTAMP(day, 'dd.MM.yyyy')"},
        ("event_time", "INTERVAL '10' SECOND"),
        2,
    ),
    "epochs": Writer(
        writes({"1.json": records({"ts": 1704103200123, "at": 1704103200}, {"ts": 1704103190123, "at": 1704103201})}),
        {"ts": "BIGINT", "at": "BIGINT", "event_time": "AS TIMESTAMP_MILLIS(ts)"},
        ("event_time", "INTERVAL '10' SECOND"),
        2,
        ("seconds since 1970: TIMESTAMP_SECONDS(at)",),
    ),
    "nested_time": Writer(
        writes({"1.json": records({"meta": {"created_at": moment(0)}, "n": 1}, {"meta": {"created_at": moment(1)}})}),
        {"meta": "STRUCT<created_at: TIMESTAMP>", "event_time": "AS meta.created_at"},
        ("event_time", "INTERVAL '10' SECOND"),
        2,
    ),
    "missing": Writer(
        writes({"1.json": records({"a": 1, "b": None}, {"c": "x", "time": moment(0)}, {})}),
        {"a": "BIGINT", "b": "STRING", "c": "STRING", "time": "TIMESTAMP"},
        None,
        3,
        ("no event time: time is missing in 2 records", "NULL in each record"),
    ),
    "odd_names": Writer(
        writes(
            {
                "1.json": records(
                    {
                        **{"select": 1, "a b": 2, "x`y": 3, "it's": 4, "Größe": 5, "a.b": 6, "-- x": 7, "; DROP": 8},
                        **{"order": {"from": 1, "a-b": [1]}, "": 9, "@timestamp": moment(0), "日本": 1, "_file": 2},
                    }
                )
            }
        ),
        {
            **{"`select`": "BIGINT", "`a b`": "BIGINT", "`x``y`": "BIGINT", "`it's`": "BIGINT", "`a.b`": "BIGINT"},
            **{"`order`": "STRUCT<`from`: BIGINT, `a-b`: ARRAY<BIGINT>>", "`@timestamp`": "TIMESTAMP"},
        },
        ("`@timestamp`", "INTERVAL '10' SECOND"),
        1,
        ("a field without a name is left out",),
    ),
    "spelled": Writer(
        writes({"1.json": records({"userId": 1}, {"userId": 2, "USERID": 3}, {"userId": 4})}),
        {"userId": "BIGINT"},
        None,
        3,
        ("USERID and userId differ in case alone",),
    ),
    "maps": Writer(
        writes({"1.json": records(*({"counts": {f"k{n}-{m}": m for m in range(3)}} for n in range(40)))}),
        {"counts": "MAP<STRING, BIGINT>"},
        None,
        40,
    ),
}
