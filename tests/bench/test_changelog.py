"""The generated changelogs: the same from the same seed, with rows that go and come back, and what they come to."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from bench.answers import answer
from bench.changelog import TABLES, Log, generate
from bench.workload import QUERY_SETS, Query

LOG = Log(keys=200, changes=2_000, files=5, seed=7)
GROWN = Log(keys=400, changes=500, files=5, grown=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rows = generate(LOG, tmp_path_factory.mktemp("data"))
    assert rows == {"item": 2_000, "offer": 2_000}
    return folder


def records(folder: Path) -> list[list[str]]:
    """In the order in which readers take them."""
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)
    return [line.split(",") for file in files for line in file.read_text().splitlines()]


def test_same_seed_same_records(data: Path, tmp_path: Path) -> None:
    again, _ = generate(LOG, tmp_path / "again")
    other, _ = generate(Log(200, 2_000, 5, seed=8), tmp_path / "other")
    for name in TABLES:
        for file in sorted((data / name).iterdir()):
            assert (again / name / file.name).read_bytes() == file.read_bytes()
    assert records(other / "item") != records(data / "item")


def test_rows_move_go_and_come_back(data: Path) -> None:
    moved, returned, twice = 0, 0, 0
    for file in sorted((data / "item").iterdir()):
        twice += max(Counter(line.split(",")[0] for line in file.read_text().splitlines()).values()) > 1
    rows: dict[str, list[str]] = {}
    for record in records(data / "item"):
        before = rows.get(record[0])
        moved += before is not None and "delete" not in (before[-1], record[-1]) and before[2] != record[2]
        returned += before is not None and before[-1] == "delete" and record[-1] == "upsert"
        assert (record[-1] == "delete") == (record[1:-1] == [""] * 4)
        rows[record[0]] = record
    assert moved > 1_000
    assert returned > 50
    assert twice == LOG.files


def test_halves_hold_the_same_records_and_all_of_a_key_in_order(data: Path) -> None:
    for name in TABLES:
        whole = records(data / name)
        for half in range(2):
            lines = (data / f"{name}-halves" / f"{half}.csv").read_text().splitlines()
            assert [line.split(",") for line in lines] == [each for each in whole if int(each[0]) % 2 == half]


def test_grown_tables_have_every_row_first_and_change_different_ones(tmp_path: Path) -> None:
    folder, rows = generate(GROWN, tmp_path)
    assert rows == {"item": 900, "offer": 900, "visit": 500}
    first, *others = [
        [line.split(",") for line in file.read_text().splitlines()] for file in sorted((folder / "offer").iterdir())
    ]
    assert [record[0] for record in first] == [str(number) for number in range(400)]
    assert {record[-1] for record in first} == {"upsert"}
    assert len(others) == 5
    for changed in others:
        assert len({record[0] for record in changed}) == len(changed) == 100
        assert {record[-1] for record in changed} == {"upsert", "delete"}
    assert [len(file.read_text().splitlines()) for file in sorted((folder / "visit").iterdir())] == [100] * 5


@pytest.mark.parametrize("query", QUERY_SETS["tables"], ids=lambda query: query.name)
def test_batch_answers_are_what_the_records_come_to(query: Query, data: Path) -> None:
    """The script for DuckDB, beside dictionaries."""
    items, offers = ({row[0]: row for row in records(data / name)} for name in TABLES)
    there = {key: row for key, row in items.items() if row[-1] != "delete"}
    if query.name == "table_join":
        offered = {key: (int(row[1]), int(row[2])) for key, row in offers.items() if row[-1] != "delete"}
        expected = [
            (int(key), int(row[1]), int(row[3]), *offered.get(key, (None, None)), "insert")
            for key, row in there.items()
        ]
    else:
        counts, sums = Counter[str](), Counter[str]()
        for row in there.values():
            counts[row[2]] += 1
            sums[row[2]] += int(row[3])
        expected = [(int(key), counts[key], sums[key], "insert") for key in counts]
    assert sorted(answered(query, data), key=str) == sorted(expected, key=str)


def test_a_visit_meets_the_records_of_its_file_and_those_before(tmp_path: Path) -> None:
    folder, _ = generate(GROWN, tmp_path)
    [query, *_] = (each for each in QUERY_SETS["table-size"] if each.folder == "lookup")
    expected = []
    newest: dict[str, list[str]] = {}
    for number in range(GROWN.files):
        for line in (folder / "item" / f"{number:04}.csv").read_text().splitlines():
            newest[line.split(",")[0]] = line.split(",")
        for line in (folder / "visit" / f"{number:04}.csv").read_text().splitlines():
            item, visitor = line.split(",")
            known = newest[item]
            found = (None, None) if known[-1] == "delete" else (int(known[1]), int(known[3]))
            expected.append((int(visitor), int(item), *found))
    assert sorted(answered(query, folder), key=str) == sorted(expected, key=str)
    assert any(row[-1] is None for row in expected)


def answered(query: Query, data: Path) -> list[tuple[object, ...]]:
    """The rows of the script for DuckDB."""
    texts = [(path / "duckdb.sql").read_text().replace("$data", str(data)) for path in (query.inputs, query.path)]
    *before, last = "\n".join(texts).strip().removesuffix(";").split(";\n")
    with duckdb.connect() as connection:
        for statement in before:
            connection.execute(statement)
        return connection.execute(last).fetchall()


def test_changes_are_folded_to_a_table(tmp_path: Path) -> None:
    columns = {"k": "BIGINT", "v": "BIGINT", "op": "VARCHAR"}
    texts = ("1,10,insert\n2,20,insert\n", "1,10,delete\n3,30,insert\n3,31,update\n", "2,,upsert\n")
    for number, text in enumerate(texts):
        # Written one after the other, whatever they are called.
        path = tmp_path / f"part-{9 - number}"
        path.write_text(text)
        os.utime(path, (number, number))
    table = answer(tmp_path, columns, ("k",))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "part-0").write_text("3,31,INSERT\n2,,INSERT\n4,1,INSERT\n4,,DELETE\n")
    assert table == answer(tmp_path / "other", columns, ("k",))
    assert table.rows == 2
    assert table != answer(tmp_path / "other", columns)
