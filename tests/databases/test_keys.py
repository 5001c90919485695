"""Keys that a database compares in another way than Spark: texts by a collation, and the two zeros."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.kit.databases.faults import TableError
from penstock.kit.databases.finder import FindPolicy, RowFinder
from penstock.kit.databases.writer import TableWriter
from penstock.kit.tables.table_lookup import LookupRows, join_found
from penstock.kit.tables.table_rows import delete_rows, put_rows
from penstock.kit.tables.table_updates import update_rows
from tests.databases.places import POLICY, Place

TEXTS = (("k", "STRING", False), ("v", "INT", True))
NUMBERS = (("k", "DOUBLE", False), ("s", "STRING", False), ("v", "INT", True))
DOUBLE = {"postgres": "DOUBLE PRECISION", "mysql": "DOUBLE", "sqlite": "REAL", "duckdb": "DOUBLE"}


@pytest.fixture(params=["sqlite", "duckdb"])
def folding(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A database with a table whose key folds texts. The PostgreSQL of the tests is built without such collations."""
    place = Place(request.param, str(tmp_path / "rows.db"))
    place.execute("CREATE TABLE t (k VARCHAR COLLATE NOCASE PRIMARY KEY, v INTEGER)")
    return place


def refuse(place: Place) -> TableError:
    with pytest.raises(TableError) as refused:
        TableWriter(place.table(TEXTS), "q", POLICY).check()
    return refused.value


def test_a_key_that_folds_texts_is_not_written(folding: Place) -> None:
    refused = refuse(folding)
    assert refused.kind == "key"
    assert "takes different values of its key k to be equal, by its collation" in str(refused)


@pytest.mark.parametrize(
    "ddl",
    [
        "CREATE TABLE t (k TEXT COLLATE RTRIM PRIMARY KEY, v INTEGER)",
        "CREATE TABLE t (k TEXT, v INTEGER, PRIMARY KEY (k COLLATE NOCASE))",
        "CREATE TABLE t (k TEXT COLLATE NOCASE, v INTEGER, UNIQUE (k COLLATE BINARY))",
    ],
)
def test_other_ways_of_sqlite_to_fold_texts(tmp_path: Path, ddl: str) -> None:
    place = Place("sqlite", str(tmp_path / "rows.sqlite"))
    place.execute(ddl)
    assert refuse(place).kind == "key"


def test_texts_that_are_no_key_may_be_folded(tmp_path: Path) -> None:
    for dialect in ("sqlite", "duckdb"):
        place = Place(dialect, str(tmp_path / dialect))
        place.execute("CREATE TABLE t (k VARCHAR PRIMARY KEY, v INTEGER, s VARCHAR COLLATE NOCASE UNIQUE)")
        place.writer(place.table((*TEXTS, ("s", "STRING", True)))).close()


def look_up(place: Place, columns: Any, keys: pa.Table, cached: bool = False) -> list[Any]:
    """The column `v` of the rows of these keys, NULL where there is none; asked for twice."""
    table = place.table(columns, list(keys.column_names))
    finder = RowFinder(table, ["v"], FindPolicy(batch_size=2, cache_ttl_ms=60_000 if cached else None))
    names = [(name, f"k{number}") for number, name in enumerate(keys.column_names)]
    batch = keys.rename_columns([own for _, own in names]).append_column("c0", keys["k"])
    found = [join_found(batch, finder, table, LookupRows(names, [("p0", "v")], outer=True)) for _ in range(2)]
    assert found[0]["p0"].to_pylist() == found[1]["p0"].to_pylist()
    counters = finder.counters
    assert counters.hits == 2 * len({value for value in found[0]["p0"].to_pylist() if value is not None})
    shown: list[Any] = found[0]["p0"].to_pylist()
    return shown


@pytest.mark.parametrize("cached", [False, True])
def test_a_lookup_finds_the_text_that_is_the_same_for_spark(folding: Place, cached: bool) -> None:
    folding.execute("INSERT INTO t VALUES ('a', 1), ('B', 2)")
    keys = pa.table({"k": ["A", "a", "b", "c", "a"]})
    assert look_up(folding, TEXTS, keys, cached) == [None, 1, None, None, 1]


def test_a_lookup_among_rows_that_only_the_collation_takes_for_one(tmp_path: Path) -> None:
    place = Place("sqlite", str(tmp_path / "rows.sqlite"))
    place.execute("CREATE TABLE t (k TEXT COLLATE NOCASE, v INTEGER, UNIQUE (k COLLATE BINARY))")
    place.execute("INSERT INTO t VALUES ('a', 1), ('A', 2)")
    assert look_up(place, TEXTS, pa.table({"k": ["A", "a"]})) == [2, 1]


@pytest.mark.parametrize("stored", ["0.0", "-0.0"])
def test_the_zeros_are_one_key_of_a_lookup(place: Place, stored: str) -> None:
    number = DOUBLE[place.dialect]
    place.execute(f"CREATE TABLE t (k {number}, s TEXT, v INTEGER, PRIMARY KEY (k, s))")
    place.execute(f"INSERT INTO t VALUES (CAST('{stored}' AS {number}), 'a', 1), (1.5, 'a', 2)")
    keys = pa.table({"k": [0.0, -0.0, 1.5, -0.0], "s": ["a", "a", "a", "b"]})
    assert look_up(place, NUMBERS, keys) == [1, 1, 2, None]


def test_the_zeros_are_one_key_of_a_change(place: Place) -> None:
    number = DOUBLE[place.dialect]
    place.execute(f"CREATE TABLE t (k {number}, s TEXT, v INTEGER, PRIMARY KEY (k, s))")
    special = [] if place.dialect in ("mysql", "sqlite") else [math.nan]
    writer = place.writer(place.table(NUMBERS, ("k", "s")))

    def rows(*keys: float, name: str = "v") -> pa.Table:
        numbers = pa.array(range(len(keys)), pa.int32())
        return pa.table({"k": pa.array(keys, pa.float64()), "s": ["a"] * len(keys), name: numbers, "o": numbers})

    def fold(updates: pa.Table) -> pa.Table:
        values = [
            {"_group": each["_group"], "_row": {"v": each["_current"]["v"] + sum(new["n"] for new in each["_updates"])}}
            for each in updates.to_pylist()
        ]
        schema = pa.schema([("_group", pa.int64()), ("_row", pa.struct([("v", pa.int32())]))])
        return pa.Table.from_pylist(values, schema)

    def change(changes: Any) -> None:
        put_rows(changes, rows(1.5, -0.0, 0.0, *special), ("k", "s"), ["o"])
        update_rows(
            changes,
            rows(*special, -0.0, 0.0, -0.0, name="n"),
            key=("k", "s"),
            order=["o"],
            assigned=("v",),
            inserted=None,
            current=("v",),
            fold=fold,
            fails=True,
        )

    writer.write(0, "d", change)
    found = {key: v for key, v in place.rows("SELECT k, v FROM t") if key == key}
    assert found == {0.0: 2 + sum(range(len(special), len(special) + 3)), 1.5: 0}
    writer.write(1, "e", lambda changes: delete_rows(changes, rows(-0.0, *special), ("k", "s")))
    assert place.rows("SELECT k, v FROM t") == [(1.5, 0)]
    assert (writer.counters.deletes, writer.counters.rejected) == (1 + len(special), 0)
