"""`penstock explain STATE --checkpoint` shows what runs have left there. No JVM."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from penstock.codegen.run_record import record_path
from penstock.commands.cli import main

SCRIPT = """CREATE STREAM orders (id BIGINT, product STRING, time TIMESTAMP, WATERMARK FOR time AS time - 10 SECONDS)
WITH (connector = 'files', path = 'orders', format = 'json');
CREATE TABLE totals WITH (connector = 'console') AS SELECT product, COUNT(*) AS n FROM orders
GROUP BY product, TUMBLE(time, 1 MINUTE);
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "script.sql").write_text(SCRIPT)
    (tmp_path / "state" / "totals").mkdir(parents=True)
    return tmp_path


def explain(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["explain", *arguments, str(folder / "script.sql")], prog_name="penstock")


def leave(folder: Path, text: str) -> None:
    Path(record_path(str(folder / "state"), "totals")).write_text(text)


def test_what_was_observed_stands_beside_the_bound(folder: Path) -> None:
    leave(folder, '{"rates": {"orders": 12.5}, "seconds": 900.0, "entries": 42, "bytes": 9400}')
    shown = explain(folder, "STATE", "--checkpoint", str(folder / "state"))
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[2:] == [
        "    one row per (product, open window): ≤ 2 windows",
        "    estimate: at most 890 rows, 210 kB at 12.5 rows per second of orders as in the last run",
        "    last run: at most 42 entries, 9.4 kB in memory",
        "    in memory, as it spans at most 2 h",
    ]


def test_a_declared_rate_is_taken_before_an_observed_one(folder: Path) -> None:
    (folder / "script.sql").write_text(SCRIPT.replace("'json'", "'json', rate = 50"))
    leave(folder, '{"rates": {"orders": 12.5}, "seconds": 900.0, "entries": 1, "bytes": 300}')
    shown = explain(folder, "STATE", "--checkpoint", str(folder / "state")).stdout
    assert "at 50 rows per second of orders\n" in shown
    assert "last run: at most 1 entry, 300 B in memory\n" in shown


def test_it_says_that_no_run_has_left_anything(folder: Path) -> None:
    shown = explain(folder, "STATE", "--checkpoint", str(folder / "state"))
    assert shown.exit_code == 0
    assert shown.stderr == f"no run over {folder / 'state'} has left a record of these queries\n"
    assert "estimate" not in shown.stdout


def test_a_damaged_record_is_named(folder: Path) -> None:
    leave(folder, "{")
    shown = explain(folder, "STATE", "--checkpoint", str(folder / "state"))
    assert shown.exit_code == 2
    assert record_path(str(folder / "state"), "totals") in shown.stderr


def test_other_stages_have_no_use_for_a_checkpoint(folder: Path) -> None:
    shown = explain(folder, "PLAN", "--checkpoint", str(folder / "state"))
    assert shown.exit_code == 2
    assert "--checkpoint needs STATE" in shown.stderr


def test_no_spark_is_imported(folder: Path) -> None:
    leave(folder, '{"rates": {}, "seconds": 0.0, "entries": 42, "bytes": 9400}')
    arguments = ["explain", "STATE", "--checkpoint", str(folder / "state"), str(folder / "script.sql")]
    code = f"import sys; from penstock.commands.cli import main; main({arguments}, standalone_mode=False)"
    code += "; assert 'pyspark' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_operators_of_one_spark_query_have_their_state_together(folder: Path) -> None:
    """Spark reports them by their places in its plan, which are not those of the script."""
    (folder / "script.sql").write_text(
        "CREATE TABLE items (id BIGINT PRIMARY KEY, product STRING) "
        "WITH (connector = 'files', path = 'items', format = 'json');\n"
        "CREATE TABLE totals WITH (connector = 'console') AS SELECT product, COUNT(*) AS n FROM items GROUP BY product;"
    )
    leave(folder, '{"rates": {}, "seconds": 0.0, "entries": 42, "bytes": 9400}')
    shown = explain(folder, "STATE", "--checkpoint", str(folder / "state")).stdout
    together = "last run: at most 42 entries, 9.4 kB in memory, with the other operators of its Spark query\n"
    assert shown.count(together) == shown.count("last run") == 2
