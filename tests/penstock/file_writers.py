"""Folders of files as many systems write them: with values in their names, compressed, as Parquet, and as CSV."""

from __future__ import annotations

import bz2
import csv
import gzip
from datetime import date, time
from decimal import Decimal

import pyarrow as pa

from tests.penstock.writers import FIRST, WRITERS, Writer, lines, moment, parquet, records, table, writes

FILE_WRITERS = {
    "json_folders": Writer(
        writes(
            {
                "dt=2024-01-01/hour=05/a.json": records({"id": 1}),
                "dt=2024-01-02/hour=23/a.json": records({"id": 2}),
                "_SUCCESS": b"",
                ".hidden.json": b"no json",
            }
        ),
        {"id": "BIGINT", "dt": "DATE", "hour": "BIGINT"},
        None,
        2,
        ("from the names of folders",),
    ),
    "csv_folders": Writer(
        writes(
            {
                "region=eu/a.csv": table(("id", "t"), (1, moment(0))),
                "region=a%3Ab/a.csv": table(("id", "t"), (2, moment(1))),
                "region=__HIVE_DEFAULT_PARTITION__/a.csv": table(("id", "t"), (3, moment(2))),
            }
        ),
        {"id": "BIGINT", "t": "TIMESTAMP", "region": "STRING"},
        ("t", "INTERVAL '10' SECOND"),
        3,
    ),
    "parquet_folders": Writer(
        writes(
            {
                "year=2024/month=1/a.parquet": parquet(id=pa.array([1, 2])),
                "year=2024/month=02/a.parquet": parquet(id=pa.array([3])),
            }
        ),
        {"id": "BIGINT", "year": "BIGINT", "month": "BIGINT"},
        None,
        3,
    ),
    "parquet": Writer(
        writes(
            {
                "1.parquet": parquet(
                    b=pa.array([True]),
                    i8=pa.array([1], pa.int8()),
                    i16=pa.array([1], pa.int16()),
                    i32=pa.array([1], pa.int32()),
                    u8=pa.array([200], pa.uint8()),
                    u32=pa.array([1 << 31], pa.uint32()),
                    f=pa.array([0.5], pa.float32()),
                    d=pa.array([0.5]),
                    m=pa.array([Decimal("1.50")], pa.decimal128(9, 2)),
                    s=pa.array(["é"]),
                    y=pa.array([b"\x01"]),
                    day=pa.array([date(2024, 1, 1)]),
                    at=pa.array([FIRST], pa.timestamp("us", "UTC")),
                    ms=pa.array([FIRST.replace(tzinfo=None)], pa.timestamp("ms")),
                    clock=pa.array([time(1, 2, 3)], pa.time64("us")),
                    l=pa.array([[1, None]]),
                    st=pa.array([{"a": 1, "b": ["x"]}]),
                    mp=pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
                    dict=pa.array(["x"]).dictionary_encode(),
                    big=pa.array([1], pa.uint64()),
                )
            }
        ),
        {
            **{"b": "BOOLEAN", "i8": "TINYINT", "i16": "SMALLINT", "i32": "INT", "u8": "SMALLINT", "u32": "BIGINT"},
            **{"f": "FLOAT", "d": "DOUBLE", "m": "DECIMAL(9, 2)", "s": "STRING", "y": "BINARY", "day": "DATE"},
            **{"at": "TIMESTAMP", "ms": "TIMESTAMP", "clock": "TIME", "l": "ARRAY<BIGINT>", "dict": "STRING"},
            **{"st": "STRUCT<a: BIGINT, b: ARRAY<STRING>>", "mp": "MAP<STRING, BIGINT>"},
        },
        ("at", "INTERVAL '10' SECOND"),
        1,
        ("big is left out: uint64 is not read",),
    ),
    "parquet_versions": Writer(
        writes(
            {
                "1.parquet": parquet(id=pa.array([1], pa.int32()), name=pa.array(["a"])),
                "2.parquet": parquet(id=pa.array([1 << 40]), city=pa.array(["b"])),
            }
        ),
        {"id": "BIGINT", "name": "STRING", "city": "STRING"},
        None,
        2,
        ("id is int32 in 1 of 2 files: 1.parquet; int64 in", "city is missing in 1 of 2 files: 1.parquet"),
    ),
    "gzip": Writer(
        writes({"1.json.gz": gzip.compress(records({"a": 1})), "2.json.gz": gzip.compress(records({"a": 2}))}),
        {"a": "BIGINT"},
        None,
        2,
    ),
    "bzip2": Writer(
        writes({"1.csv.bz2": bz2.compress(table("ab", (1, "x")))}), {"a": "BIGINT", "b": "STRING"}, None, 1
    ),
    "byte_order_mark": Writer(
        writes({"1.csv": b"\xef\xbb\xbf" + table(("id", "name"), (1, "Ana"))}),
        {"id": "BIGINT", "name": "STRING"},
        None,
        1,
    ),
    "compact_times": Writer(
        writes({"1.csv": table(("at", "n"), (20240101100005, 1), (20240101100000, 2))}),
        {"at": "BIGINT", "event_time": "AS TO_TIMESTAMP(CAST(at AS STRING), 'yyyyMMddHHmmss')"},
        ("event_time", "INTERVAL '10' SECOND"),
        2,
    ),
    "mail_times": Writer(
        writes(
            {"1.json": records({"at": "Mon, 01 Jan 2024 10:00:00 +0100"}, {"at": "Tue, 02 Jan 2024 09:00:00 +0000"})}
        ),
        {"at": "STRING", "event_time": "AS TO_TIMESTAMP(SUBSTRING(at, 6), 'dd MMM yyyy HH:mm:ss Z')"},
        ("event_time", "INTERVAL '10' SECOND"),
        2,
    ),
    "log_times": Writer(
        writes({"1.json": records({"at": "2024-01-01 10:00:00,123"}, {"at": "2024-01-01 10:00:01,500"})}),
        {"at": "STRING", "event_time": "AS CAST(REPLACE(at, ',', '.') AS TIMESTAMP)"},
        ("event_time", "INTERVAL '10' SECOND"),
        2,
    ),
    "quoted_epochs": Writer(
        writes({"1.json": records({"ts": "1704103200", "n": "7"}, {"ts": "1704103201", "n": "8"})}),
        {"ts": "STRING", "event_time": "AS TIMESTAMP_SECONDS(CAST(ts AS BIGINT))"},
        ("event_time", "INTERVAL '10' SECOND"),
        2,
        ("numbers in quotes: CAST(n AS BIGINT)",),
    ),
    "pandas": Writer(
        writes({"1.csv": table(("", "id", "time"), (0, 5, moment(0)), (1, 6, moment(1)))}),
        {"id": "BIGINT", "time": "TIMESTAMP"},
        ("time", "INTERVAL '10' SECOND"),
        2,
        ("1 field without a name is left out",),
    ),
    "no_header": Writer(
        writes({"1.csv": lines("1,Ana,2024-01-01", "2,Bo,2024-01-02")}),
        {"column1": "BIGINT", "column2": "STRING", "column3": "DATE"},
        ("event_time", "INTERVAL '10' SECOND"),
        2,
        options={"header": "FALSE"},
    ),
    "quoted": Writer(
        writes(
            {
                "1.csv": table(
                    ("id", "text", "zip"),
                    (1, 'say "hi", twice', "01234"),
                    (2, "two\nlines", "98765"),
                    quoting=csv.QUOTE_ALL,
                )
            }
        ),
        {"id": "BIGINT", "text": "STRING", "zip": "STRING"},
        None,
        2,
    ),
    "crlf": Writer(
        writes({"1.csv": lines("id,ok,price", "1,TRUE,1.50", "", "2,false,", ends="\r\n")}),
        {"id": "BIGINT", "ok": "BOOLEAN", "price": "DECIMAL(18, 2)"},
        None,
        2,
    ),
    "plain_text": Writer(
        writes({"events": records({"n": 1})}),
        {"n": "BIGINT"},
        None,
        1,
    ),
    "deep": Writer(
        writes({"1.json": lines('{"a": ' + '{"b": ' * 12 + "1" + "}" * 12 + "}")}),
        {},
        None,
        1,
        ("nested deeply",),
    ),
    "unordered_files": Writer(
        writes({"1.json": records({"at": moment(60)}, {"at": moment(61)}), "2.json": records({"at": moment(0)})}),
        {"at": "TIMESTAMP"},
        ("at", "INTERVAL '2' HOUR"),
        3,
        ("records are up to 1 h 1 min behind earlier ones, within a file none is",),
    ),
}

ALL_WRITERS = {**WRITERS, **FILE_WRITERS}
