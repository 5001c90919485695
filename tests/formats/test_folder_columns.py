"""Folders such as `dt=2026-01-01/hour=05` have the values of columns, in files of all formats."""

from __future__ import annotations

import csv
import json
import os
import random
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.compilation import compile_read
from penstock.diagnostics import Source
from penstock.kit.files.folder_names import list_folder_columns
from penstock.runtime import RuntimeSession
from tests.model.rows import difference

LAYOUTS = int(os.environ.get("PENSTOCK_LAYOUTS", "8"))
"""Random folders that are read; by default 8."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
FORMATS = ("json", "csv", "parquet", "csv', header = FALSE, multi_line = FALSE, null = 'NA")
TEXTS = ("a", "São Paulo", "x+y", "a/b", "100%", "50%25", "k=v", "it's", "Ω", "a:b", "[1]", "{2}", "*", "#")
TYPES: dict[str, tuple[Any, ...]] = {
    "STRING": TEXTS,
    "INT": (5, 0, -7),
    "BIGINT": (1 << 40, 12),
    "DATE": (date(2026, 1, 1), date(1999, 12, 31)),
    "TIMESTAMP": (datetime(2026, 1, 1, 5, 0, tzinfo=UTC), datetime(2026, 3, 4, 5, 6, 7, 890000, tzinfo=UTC)),
    "BOOLEAN": (True, False),
    "DOUBLE": (0.5, -2.0),
    "DECIMAL(10, 2)": (Decimal("1.50"), Decimal("12.00")),
}


def escape(text: str) -> str:
    """As Hive and Spark name folders."""
    return "".join(f"%{ord(sign):02X}" if sign in "\"#%'*/:=?\\{[]^" or sign < " " else sign for sign in text)


def name_of(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return escape(value.isoformat(" ") if isinstance(value, datetime) else str(value))


@dataclass
class Layout:
    """A stream in folders: its columns with their types, of which `folders` are in names, and its rows."""

    number: int
    format: str
    folders: dict[str, str]
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"s{self.number}"

    @property
    def columns(self) -> dict[str, str]:
        return {"id": "INT", **self.folders, "s": "STRING"}

    def declare(self, root: Path) -> str:
        columns = ", ".join(f"`{name}` {type_}" for name, type_ in self.columns.items())
        place = f"connector = 'files', path = '{root / self.name}', format = '{self.format}'"
        out = f"CREATE STREAM {self.name}_out AS SELECT STREAM * FROM {self.name}; "
        return f"CREATE STREAM {self.name} ({columns}) WITH ({place}); {out}"

    def write(self, root: Path, r: random.Random) -> None:
        """Each row has a file of its own. Now and then a file holds the column of its folder, too."""
        for number, row in enumerate(self.rows):
            keys = [f"{self.key(name, r)}={self.text(row[name])}" for name in self.folders]
            folder = root.joinpath(self.name, *keys, "other=1")
            folder.mkdir(parents=True, exist_ok=True)
            kept = {name: row[name] for name in row if name not in self.folders}
            if self.format == "json" and r.random() < 0.3:
                kept |= {name: row[name] for name, type_ in self.folders.items() if type_ in ("STRING", "INT")}
            write_file(folder / f"{number}", kept, self.format)

    def key(self, name: str, r: random.Random) -> str:
        # An ß stays: SS is another name.
        upper = "".join(sign.upper() if len(sign.upper()) == 1 else sign for sign in name)
        return escape(upper if self.format == "json" and r.random() < 0.2 else name)

    def text(self, value: Any) -> str:
        return NO_VALUE if value is None else name_of(value)


def write_file(path: Path, row: dict[str, Any], format_: str) -> None:
    if format_ == "json":
        path.with_suffix(".json").write_text(json.dumps(row) + "\n")
    elif format_ == "parquet":
        table = pa.table({"id": pa.array([row["id"]], pa.int32()), "s": pa.array([row["s"]])})
        pq.write_table(table, path.with_suffix(".parquet"))
    else:
        with path.with_suffix(".csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([row.keys()] if "header" not in format_ else [])
            writer.writerow(row.values())


def draw_layout(number: int) -> Layout:
    r = random.Random(f"folders {number}")
    names = ["dt", "hour", "Größe", "a b", "x'y"]
    folders = {name: r.choice([*TYPES]) for name in r.sample(names, r.randint(1, 3))}
    layout = Layout(number, FORMATS[number % len(FORMATS)], folders)
    for id_ in range(4):
        values = {name: None if r.random() < 0.15 else r.choice(TYPES[type_]) for name, type_ in folders.items()}
        layout.rows.append({"id": id_, **values, "s": r.choice(("x", "y"))})
    return layout


@pytest.mark.spark
@pytest.mark.draws
def test_folders_have_the_values_of_columns(spark: SparkSession, tmp_path: Path) -> None:
    failures = []
    for first in range(0, LAYOUTS, 8):
        layouts = [draw_layout(number) for number in range(first, min(first + 8, LAYOUTS))]
        for each in layouts:
            each.write(tmp_path, random.Random(f"files {each.number}"))
        with RuntimeSession(spark) as session:
            session.run_once(penstock.compile("".join(each.declare(tmp_path) for each in layouts)).program, drain=True)
            for each in layouts:
                found = difference(session.rows(f"{each.name}_out"), each.rows)
                failures += [f"{each}\n{found}"] if found else []
    assert not failures, "\n\n".join(failures)


@pytest.mark.spark
def test_what_does_not_fit_is_rejected_and_all_else_is_as_in_duckdb(spark: SparkSession, tmp_path: Path) -> None:
    rows = {
        "dt=2026-01-01/hour=05/1": {"id": 1},
        "dt=2026-01-02/hour=23/2": {"id": 2, "hour": 23},
        "dt=2026-01-02/hour=24/3": {"id": 3, "hour": 23},  # the record says otherwise
        "dt=today/hour=24/4": {"id": 4},  # no date
        f"dt={NO_VALUE}/hour=1/5": {"id": 5},
        "dt=2026-01-03/hour=/6": {"id": 6},
        "7": {"id": 7, "hour": 7},
        "dt=2026-01-01/dt=2026-01-09/hour=1/8": {"id": 8},  # the nearest counts
        "notes/a=b/dt/9": {"id": 9},
    }
    for path, row in rows.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{path}.json").write_text(json.dumps(row))
    place = f"connector = 'files', path = '{tmp_path}', format = 'json'"
    columns = "id INT, dt DATE, hour INT, file STRING METADATA FROM 'file.name' VIRTUAL"
    text = f"CREATE STREAM a ({columns}) WITH ({place}); CREATE STREAM a_out AS SELECT STREAM * FROM a;"
    text += f"CREATE STREAM b ({columns}) WITH ({place}, folder_columns = FALSE);"
    text += "CREATE STREAM b_out AS SELECT STREAM dt, hour FROM b;"
    text += f"CREATE TABLE t (id INT PRIMARY KEY, dt DATE, hour INT) WITH ({place});"
    compilation = penstock.compile(text)
    read = compile_read(Source("<read>", "SELECT id, dt, hour FROM t"), compilation.catalog, memory=False)
    with RuntimeSession(spark) as session:
        session.run_once(compilation.program, drain=True)
        table = {row["id"]: (row["dt"], row["hour"]) for row in session.read(read)}
        found = {row["id"]: (row["dt"], row["hour"]) for row in session.rows("a_out")}
        rejected = session.rows("a_out_rejected/a")
        plain = session.rows("b_out")
    assert found == {
        1: (date(2026, 1, 1), 5),
        2: (date(2026, 1, 2), 23),
        5: (None, 1),
        6: (date(2026, 1, 3), None),
        7: (None, 7),
        8: (date(2026, 1, 9), 1),
        9: (None, None),
    }
    assert table == found
    assert sorted(json.loads(row["record"])["id"] for row in rejected) == [3, 4]
    assert sorted(row["hour"] or 0 for row in plain) == [0, 0, 0, 0, 0, 0, 7, 23, 23]
    files = [f"{tmp_path}/{path}.json" for path in rows if path[-1] in "12"]
    with duckdb.connect(":memory:") as connection:
        query = f"SELECT id, dt, hour FROM read_json({files}, hive_partitioning = true)"
        theirs = connection.execute(query).fetchall()
    assert {id_: (day, int(hour)) for id_, day, hour in theirs} == {id_: found[id_] for id_ in (1, 2)}


def test_columns_are_found_in_the_folders_of_a_path() -> None:
    path = "file:///data/DT=2026-01-01/a%20b=1/x%2527y=2/x=y.csv"
    assert list_folder_columns(path, ["id", "dt", "a b", "x", "x'y"]) == ["dt", "a b", "x'y"]
