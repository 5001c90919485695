"""The demo's figures: flights.sql through the command line equals DuckDB over the same files, in all rows."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

FLIGHTS = Path(__file__).parents[2] / "examples" / "flights"
SQL = str(FLIGHTS / "flights.sql")
PREPARE = runpy.run_path(str(FLIGHTS / "prepare.py"))

FLIGHT_ROWS, WEATHER_ROWS = 336_776, 26_115
# The rows of the whole year's results.
YEAR = {
    "departures_per_hour": 19_486,
    "departures_with_weather": FLIGHT_ROWS,
    "recent_delay": FLIGHT_ROWS,
    "week_against_week": 1_098,
}
WITHOUT_READING = 1_556
FILES = 13
READ = int(os.environ.get("PENSTOCK_MONTHS", "3"))
"""Files that Spark reads, of which there is one for each month."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to start penstock in, with the data where the demo's SQL looks for them."""
    folder = tmp_path_factory.mktemp("flights")
    written = PREPARE["prepare"](folder / PREPARE["DATA"])
    assert (written["flights"].rows, written["weather"].rows) == (FLIGHT_ROWS, WEATHER_ROWS)
    return folder


def penstock(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from penstock.commands.cli import main; main()", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


class TestPrepare:
    def test_files_are_dated_in_the_order_of_their_months(self, folder: Path) -> None:
        files = sorted((folder / PREPARE["DATA"] / "flights").iterdir())
        dates = [file.stat().st_mtime_ns for file in files]
        assert len(files) == 13
        assert dates == sorted(set(dates))

    def test_writing_again_changes_nothing(self, folder: Path) -> None:
        data = folder / PREPARE["DATA"]
        streams = ("flights/*", "weather/*")

        def state() -> dict[Path, tuple[int, bytes]]:
            files = [file for stream in streams for file in data.glob(stream)]
            return {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in files}

        before = state()
        PREPARE["prepare"](data)
        assert state() == before

    def test_more_disorder_than_declared_is_an_error(self, tmp_path: Path) -> None:
        flights = sorted(map(PREPARE["departure"], PREPARE["read"]("flights")), key=lambda event: event.known)
        with pytest.raises(ValueError, match="21:40:00 behind, the watermark allows 21:00:00"):
            PREPARE["write_months"](tmp_path, PREPARE["FLIGHT_COLUMNS"], flights, timedelta(hours=21))


class TestCheck:
    def test_the_join_without_a_bound_is_refused_where_it_stands(self, folder: Path) -> None:
        refused = FLIGHTS / "refused.sql"
        ended = penstock(folder, "check", "--format", "json", SQL, str(refused))
        (finding,) = json.loads(ended.stdout)
        lines = refused.read_text(encoding="utf-8").splitlines()
        line = lines.index("FROM flights f") + 1
        assert ended.returncode == 1
        assert (finding["code"], finding["file"]) == ("J001", str(refused))
        assert line <= finding["line"] <= line + 2

    def test_its_mend_is_accepted(self, folder: Path) -> None:
        ended = penstock(folder, "check", SQL, str(FLIGHTS / "mended.sql"))
        assert (ended.returncode, ended.stderr) == (0, "")


@pytest.fixture(scope="module")
def months(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the first months of the data."""
    months = tmp_path_factory.mktemp("months")
    for stream in ("flights", "weather"):
        (months / PREPARE["DATA"] / stream).mkdir(parents=True)
        for file in sorted((folder / PREPARE["DATA"] / stream).iterdir())[:READ]:
            shutil.copy2(file, months / PREPARE["DATA"] / stream)
    return months


@pytest.fixture(scope="module")
def ran(months: Path) -> str:
    """What the run of these months printed."""
    ended = penstock(months, "run", "--once", SQL)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def results(months: Path, ran: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """The batch answers as views of their names; what Penstock wrote as `<name>_streamed`."""
    with duckdb.connect() as connection:
        connection.execute(f"SET file_search_path = '{months}'")
        connection.execute((FLIGHTS / "batch.sql").read_text(encoding="utf-8"))
        for name in ("departures_per_hour", "departures_with_weather", "recent_delay", "week_against_week"):
            files = f"examples/flights/out/{name}/*.parquet"
            columns = connection.execute(f"DESCRIBE {name}").fetchall()
            # Spark's timestamps are instants, the batch's are UTC without saying so.
            items = ", ".join(f"{column}::{type_} AS {column}" for column, type_, *_ in columns)
            connection.execute(f"CREATE VIEW {name}_streamed AS SELECT {items} FROM '{files}'")
        yield connection


def count(results: duckdb.DuckDBPyConnection, what: str) -> int:
    (found,) = results.execute(f"SELECT count(*) FROM {what}").fetchall()
    return int(found[0])


@pytest.mark.spark
@pytest.mark.draws
@pytest.mark.parametrize(
    ("name", "key", "means"),
    [
        ("departures_per_hour", ("origin", "window_start"), ("mean_delay",)),
        ("departures_with_weather", ("time", "origin", "carrier", "flight"), ()),
        ("recent_delay", ("time", "origin", "carrier", "flight"), ("mean_3h",)),
        ("week_against_week", ("origin", "day"), ()),
    ],
)
def test_all_rows_equal_the_batch_answer(
    results: duckdb.DuckDBPyConnection, name: str, key: tuple[str, ...], means: tuple[str, ...]
) -> None:
    keys = ", ".join(key)
    rows = count(results, name)
    assert rows == YEAR[name] if READ == FILES else rows > 0
    counts = f"SELECT count(*), count(DISTINCT ({keys})) FROM "
    assert results.execute(counts + name).fetchone() == (rows, rows)
    assert results.execute(counts + f"{name}_streamed").fetchone() == (rows, rows)
    without_means = f"EXCLUDE ({', '.join(means)})" if means else ""
    for one, other in ((name, f"{name}_streamed"), (f"{name}_streamed", name)):
        sql = f"SELECT * {without_means} FROM {one} EXCEPT SELECT * {without_means} FROM {other}"
        assert results.execute(sql + " LIMIT 3").fetchall() == []
    for mean in means:
        sql = f"""
            SELECT {keys}, batch.{mean}, streamed.{mean} FROM {name} batch JOIN {name}_streamed streamed USING ({keys})
            WHERE (batch.{mean} IS NULL) != (streamed.{mean} IS NULL)
            OR abs(batch.{mean} - streamed.{mean}) > 1e-9 * abs(batch.{mean})"""
        assert results.execute(sql + " LIMIT 3").fetchall() == []


@pytest.mark.spark
@pytest.mark.draws
def test_departures_without_a_reading_are_kept(results: duckdb.DuckDBPyConnection) -> None:
    missed = count(results, "departures_with_weather_streamed WHERE reading IS NULL")
    assert missed == WITHOUT_READING if READ == FILES else missed > 0


@pytest.mark.spark
@pytest.mark.draws
def test_every_row_is_accounted_for(results: duckdb.DuckDBPyConnection, ran: str) -> None:
    accounts = [[cell.strip() for cell in line.split("│")[1:-1]] for line in ran.splitlines() if line.startswith("│")]
    rows = {name: count(results, name) for name in ("flights", "weather", *YEAR)}
    assert (rows["flights"], rows["weather"]) == (FLIGHT_ROWS, WEATHER_ROWS) or READ < FILES
    flights, weather, days = (f"{rows[name]:,}" for name in ("flights", "weather", "week_against_week"))
    out = {query: int(out.replace(",", "")) for query, *_, out in accounts if query}
    # in, rejected, late, filtered, used
    assert [row[1:-1] for row in accounts] == [
        ["flights", flights, "0", "0", "0", flights],
        ["flights", flights, "0", "0", "0", flights],
        ["flights", flights, "0", "0", "0", flights],
        ["weather", weather, "0", "0", "0", weather],
        ["flights", flights, "0", "0", "0", flights],
        ["flights", flights, "0", "0", "0", flights],
        ["weekly_file_intermediate1", days, "0", "0", "0", days],
    ]
    assert (out["hourly_file"], out["weather_file"]) == (rows["departures_per_hour"], rows["departures_with_weather"])
    assert (out["recent_file"], out["weekly_file"]) == (rows["recent_delay"], rows["week_against_week"])
    assert out["weekly_file_intermediate1"] == rows["week_against_week"]
    # A table's hour comes out again with every change.
    assert out["departures_per_hour"] > rows["departures_per_hour"]
