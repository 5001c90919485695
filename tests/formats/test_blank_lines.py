"""Blank lines of CSV files are passed over, wherever they stand, and however lines end."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.kit.files.files import read_csv
from penstock.runtime import InputAccount, RuntimeSession
from tests.campaign import take_some

pytestmark = pytest.mark.spark

COLUMNS = ("id", "s", "t")
BLANK = ("", "", " ", "\t ", "  ")
LAYOUTS = [*itertools.product((1, 2, 3), (True, False), (True, False), ("\n", "\r\n"))]
"""Columns, whether there is a header, whether records may have several lines, and how lines end."""
BOM = "\ufeff"


def draw_file(r: random.Random, columns: int, header: bool, end: str) -> tuple[str, list[list[str]]]:
    """The text of a file, and the fields of its records. In a file of one column blanks are a field."""
    blank = BLANK if columns > 1 else ("",)
    records = [[f"{number}", "x", '"a,b"'][:columns] for number in range(r.randint(0, 3))]
    lines = [",".join(each) for each in ([list(COLUMNS[:columns])] if header else []) + records]
    mixed = [text for line in lines for text in (*r.choices(blank, k=r.randint(0, 2)), line)]
    mixed += r.choices(blank, k=r.randint(0, 3))
    text = "".join(f"{line}{end}" for line in mixed)
    text = text if r.random() < 0.7 else text.removesuffix(end)
    return (BOM if r.random() < 0.2 else "") + text, [[field.strip('"') for field in each] for each in records]


def read_fields(spark: SparkSession, folder: Path, names: list[str], header: bool, multi_line: bool) -> list[list[Any]]:
    origin = ["_metadata.file_path AS _file"]
    rows = read_csv(spark, spark.read, str(folder), names, origin, [], header, multi_line).select("_parsed").collect()
    assert not any(row["_parsed"]["_malformed"] for row in rows)
    return [[row["_parsed"][name] for name in names] for row in rows]


@pytest.mark.parametrize(("columns", "header", "multi_line", "end"), take_some(LAYOUTS, 2))
def test_blank_lines_are_no_records(
    spark: SparkSession, tmp_path: Path, columns: int, header: bool, multi_line: bool, end: str
) -> None:
    spark.conf.set("spark.sql.files.openCostInBytes", str(1 << 62))
    r, expected = random.Random(f"{columns}{header}{multi_line}{end}"), []
    for number in range(12):
        text, records = draw_file(r, columns, header, end)
        (tmp_path / f"{number}.csv").write_text(text, newline="")
        expected += records
    assert expected
    found = read_fields(spark, tmp_path, [*COLUMNS[:columns]], header, multi_line)
    assert sorted(found) == sorted(expected)


def test_blanks_are_a_value_of_one_column_and_an_empty_text_is_none_of_several(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "1.csv").write_text('s\r\n\r\n  \r\n""\r\n\r\nx\r\n', newline="")
    (tmp_path / "two" / "1.csv").write_text('\r\nid,s\r\n1,x\r\n""\r\n"x "\r\n \r\n\r\n', newline="")
    text = "".join(
        f"CREATE STREAM {name} ({columns}) WITH (connector = 'files', path = '{tmp_path / name}', format = 'csv'); "
        f"CREATE STREAM {name}_out AS SELECT * FROM {name}; "
        for name, columns in (("one", "s STRING"), ("two", "id INT, s STRING"))
    )
    with RuntimeSession(spark) as session:
        one, two = session.run_once(penstock.compile(text).program, drain=True)
        assert session.rows("one_out") == [{"s": "  "}, {"s": ""}, {"s": "x"}]
        assert session.rows("two_out") == [{"id": 1, "s": "x"}]
    assert one.inputs == (InputAccount("one", read=3, rejected=0, late=0, filtered=0, used=3),)
    assert [(each.read, each.rejected, each.used) for each in two.inputs] == [(3, 2, 1)]
