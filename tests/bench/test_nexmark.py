"""The generated streams: the same from the same seed, in proportion, disordered within the declared delay."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from bench.nexmark import DELAY, STREAMS, Recipe, generate

RECIPE = Recipe(10_000, files=5, seed=7)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rows = generate(RECIPE, tmp_path_factory.mktemp("data"))
    assert rows == {"person": 200, "auction": 600, "bid": 9_200}
    return folder


def test_same_seed_same_rows(data: Path, tmp_path: Path) -> None:
    again, _ = generate(RECIPE, tmp_path / "again")
    other, _ = generate(Recipe(10_000, files=5, seed=8), tmp_path / "other")
    for name in STREAMS:
        for file in sorted((data / name).iterdir()):
            assert (again / name / file.name).read_bytes() == file.read_bytes()
    assert (other / "bid" / "0000.csv").read_bytes() != (data / "bid" / "0000.csv").read_bytes()


def test_no_row_is_behind_the_watermark_of_the_files_before(data: Path) -> None:
    disordered = 0
    for name in STREAMS:
        files = sorted((data / name).iterdir(), key=lambda file: file.stat().st_mtime)
        assert [file.stem for file in files] == [f"{number:04}" for number in range(RECIPE.files)]
        newest = ""
        for file in files:
            times = [line.split(",")[-1 if name != "auction" else -4] for line in file.read_text().splitlines()]
            assert not newest or delayed(min(times)) >= newest
            disordered += times != sorted(times)
            newest = max(newest, *times)
    assert disordered


def delayed(time: str) -> str:
    """The greatest event time that may have been seen before a row of this one."""
    [(later,)] = duckdb.execute(
        "SELECT strftime(?::TIMESTAMP + to_seconds(?), '%Y-%m-%d %H:%M:%S.%g')", [time, DELAY]
    ).fetchall()
    return str(later)


def test_bids_are_for_auctions_that_are_open(data: Path) -> None:
    with duckdb.connect() as connection:
        for name in STREAMS:
            connection.read_csv(str(data / name / "*.csv"), header=False).create_view(name)
        joined = "bid LEFT JOIN auction ON bid.column0 = auction.column0"
        unknown = "count(*) FILTER (auction.column0 IS NULL OR bid.column5 < auction.column5)"
        assert connection.execute(f"SELECT {unknown} FROM {joined}").fetchall() == [(0,)]
        counts = "(SELECT count(*) AS n FROM bid GROUP BY column0)"
        [(hottest, every)] = connection.execute(f"SELECT max(n), sum(n) FROM {counts}").fetchall()
        assert hottest > every / 50


def test_halves_hold_the_same_rows(data: Path) -> None:
    for name in STREAMS:
        halves = [file.read_text().splitlines() for file in sorted((data / f"{name}-halves").iterdir())]
        whole = [line for file in sorted((data / name).iterdir()) for line in file.read_text().splitlines()]
        assert [len(half) for half in halves] == [len(whole) / 2] * 2
        assert sorted(halves[0] + halves[1]) == sorted(whole)
