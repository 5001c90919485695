"""What was measured is stored, read again, and told on the page between its markers."""

from __future__ import annotations

from pathlib import Path

from bench.page import write_page
from bench.report import Run, Runs
from bench.watch import Batches

MACHINE = {"date": "2024-01-01", "machine": "2 cores", "Spark": "4"}
RECIPE = {"events": 1_000, "files": 2, "format": "csv"}


def runs(system: str, rate: float) -> list[Run]:
    """Ten seconds to start and a second for each `rate` rows."""
    return [Run("table_join", "join", system, rows, 5, 10 + rows / rate, 9.0) for rows in (10_000, 100_000)]


def watched(system: str, size: int, wall: float) -> Run:
    batches = Batches(wall, 2 * wall, 3 * 2**30, 1_000)
    return Run(f"table_join_{size}", "join", system, 20_000, 5, 10.0, 9.0, batches)


def test_what_was_stored_is_read_again(tmp_path: Path) -> None:
    measured = Runs(MACHINE, RECIPE, [*runs("penstock", 50_000), watched("penstock", 10_000, 0.5)])
    measured.write(tmp_path / "runs.json")
    assert Runs.read(tmp_path / "runs.json") == measured


def test_batches_are_medians() -> None:
    measured = Runs(MACHINE, RECIPE, [watched("spark", 10_000, wall) for wall in (0.5, 2.0, 1.0)])
    assert measured.batches("table_join_10000", "spark") == Batches(1.0, 2.0, 3 * 2**30, 1_000)
    assert measured.batches("table_join_10000", "penstock") is None


def test_page(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text("A\n<!-- tables -->\nold\n<!-- end -->\nB\n<!-- table-size -->\n<!-- end -->\nC\n")
    tables = Runs(MACHINE, RECIPE, [*runs("penstock", 50_000), *runs("spark", 100_000)])
    sizes = [
        watched("penstock", 10_000, 0.5),
        watched("spark-rocksdb", 10_000, 0.25),
        watched("penstock", 100_000, 0.75),
    ]
    write_page(tmp_path, {"tables": tables, "table-size": Runs(MACHINE, RECIPE, sizes)})
    assert page.read_text() == (
        "A\n<!-- tables -->\n2024-01-01, 2 cores; Spark 4.\n"
        "1,000 events in 2 files of each stream (csv), medians of 1 interleaved runs.\n\n"
        "| query | rows in | rows out | Penstock | Spark by hand |\n|---|--:|--:|--:|--:|\n"
        "| table_join: join | 100,000 | 5 | 50 k + 10 s | 100 k (×0.50) + 10 s |\n<!-- end -->\nB\n"
        "<!-- table-size -->\n2024-01-01, 2 cores; Spark 4.\n"
        "Medians of 1 interleaved runs, each with 2 micro-batches.\n\n"
        "| query | Penstock | Spark by hand, RocksDB |\n|---|--:|--:|\n"
        "| join | 0.50 s, 1.00 CPU s, 3.0 GiB | 0.25 s, 0.50 CPU s, 3.0 GiB |\n"
        "| join | 0.75 s, 1.50 CPU s, 3.0 GiB | – |\n<!-- end -->\nC\n"
    )
    assert "rows of the table" in (tmp_path / "table-size.svg").read_text()
