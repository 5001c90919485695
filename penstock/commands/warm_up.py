"""The command `penstock warm-up`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.commands.script_files import FAILED, explain_problem
from penstock.commands.show_findings import show_findings

if TYPE_CHECKING:
    from penstock.runtime import RuntimeSession

_SCRIPT = """
SET state_partitions = 1;
CREATE STREAM orders (id BIGINT KEY, item STRING, price DECIMAL(10, 2), at TIMESTAMP, WATERMARK FOR at AS at - 1 SECOND)
  WITH (connector = 'files', path = '{folder}/orders', format = 'json');
CREATE STREAM payments (id BIGINT KEY, price DECIMAL(10, 2), at TIMESTAMP, WATERMARK FOR at AS at - 1 SECOND)
  WITH (connector = 'files', path = '{folder}/payments', format = 'csv');
CREATE STREAM paid WITH (connector = 'files', path = '{folder}/paid', format = 'parquet') AS
  SELECT STREAM o.id, o.item, p.price FROM orders o JOIN payments p WITHIN 5 MINUTES ON o.id = p.id;
CREATE STREAM hours WITH (connector = 'files', path = '{folder}/hours', format = 'csv') AS
  SELECT STREAM item, window_start, SUM(price) AS total FROM orders WHERE price > 0 GROUP BY item, TUMBLE(at, 1 HOUR);
CREATE STREAM frames AS
  SELECT STREAM id, SUM(price) OVER (PARTITION BY item ORDER BY at RANGE 1 MINUTE PRECEDING) AS total FROM orders;
CREATE TABLE totals WITH (connector = 'files', path = '{folder}/totals', format = 'json', operation = 'op') AS
  SELECT item, COUNT(*) AS n, SUM(price) AS total FROM orders GROUP BY item;
"""
"""What it loads is in the archive: sources, sinks, joins, windows, frames and tables."""
_ROWS = {
    "orders/1.json": '{"id": 1, "item": "a", "price": 1.50, "at": "2024-01-01T00:00:00Z"}\n',
    "payments/1.csv": "id,price,at\n1,1.50,2024-01-01T00:00:01Z\n",
}


@click.command("warm-up")
def warm_up() -> None:
    """Let Spark start faster on this machine from now on: keep its classes as the JVM has them in memory.

    It takes half a minute, and 200 MB in ~/.cache/penstock/classes, which may be deleted. Another JDK or another Spark
    needs a warm-up of its own. Whoever sets options of the JVM, or SPARK_CONF_DIR, has to name the archive there:
    -XX:SharedArchiveFile.

    \b
    Examples:
      penstock warm-up && penstock run --once orders.sql

    Exit code 0: written, 3: Spark does not start, or the file cannot be written.
    """
    from penstock.runtime import RunError, write_archive

    click.echo("starting Spark, and running some small queries …", err=True)
    try:
        archive = write_archive(run_queries)
    except RunError as failure:
        show_findings(failure.diagnostics)
        sys.exit(FAILED)
    except (OSError, RuntimeError) as problem:
        reason = explain_problem(problem) if isinstance(problem, OSError) else problem
        click.echo(f"no archive is written: {reason}", err=True)
        sys.exit(FAILED)
    click.echo(f"wrote {archive}: {archive.stat().st_size / 1e6:,.0f} MB")


def run_queries(session: RuntimeSession, folder: Path) -> None:
    """Runs one query of each kind over a few rows in the folder."""
    from penstock.compilation import compile

    for name, rows in _ROWS.items():
        path = folder / name
        path.parent.mkdir()
        path.write_text(rows, "utf-8")
    session.run_once(compile(_SCRIPT.format(folder=folder)).program, drain=True)
