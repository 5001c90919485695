"""`penstock run --once` over scripts that `penstock describe` prints rejects no record, and reads all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from penstock import compile, runtime
from penstock.commands.cli import main
from tests import campaign
from tests.penstock.file_writers import ALL_WRITERS

pytestmark = pytest.mark.spark

# Forms that SQL reads, types of Parquet, folders, odd names and CSV: where Spark may read otherwise than the sample.
CHOSEN = (
    *("flights", "mixed", "spellings", "weblogs", "nanoseconds", "european", "epochs", "odd_names", "csv_folders"),
    *("parquet", "parquet_versions", "quoted", "compact_times", "mail_times", "log_times", "quoted_epochs", "pandas"),
)
RUN = tuple(ALL_WRITERS) if campaign.IS_RUNNING else CHOSEN


def test_no_record_is_rejected(spark: SparkSession, tmp_path: Path) -> None:
    scripts = []
    for name in RUN:
        ALL_WRITERS[name].write(tmp_path / name)
        result = CliRunner().invoke(main, ["describe", "--name", name, str(tmp_path / name)])
        assert result.exit_code == 0, result.output
        scripts.append(result.stdout + f"CREATE STREAM {name}_read AS SELECT STREAM * FROM {name};\n")
    program = compile("".join(scripts)).program
    with runtime.connect(spark=spark) as session:
        reports = session.run_once(program, drain=True)
        kept = {each.name: each.rows for each in session.kept()}
    found = {each.name: (part.read, part.rejected) for each in reports for part in each.inputs}
    assert found == {f"{name}_read": (ALL_WRITERS[name].records, 0) for name in RUN}
    (first, *_) = kept["nanoseconds_read"]
    assert first["event_time"].isoformat() == "2023-06-01T10:00:00.123456+00:00"
    assert {row["event_time"].isoformat() for row in kept["european_read"]} == {
        "2023-12-31T00:00:00+00:00",
        "2024-01-01T00:00:00+00:00",
    }
    for name, first_time in (
        ("compact_times", "2024-01-01T10:00:00+00:00"),
        ("mail_times", "2024-01-01T09:00:00+00:00"),
        ("log_times", "2024-01-01T10:00:00.123000+00:00"),
        ("quoted_epochs", "2024-01-01T10:00:00+00:00"),
    ):
        assert min(row["event_time"] for row in kept[f"{name}_read"]).isoformat() == first_time, name
    assert min(row["event_time"] for row in kept["weblogs_read"]).isoformat() == "2023-10-10T20:55:36+00:00"
