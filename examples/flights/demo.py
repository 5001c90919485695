"""`make demo`: data, proof, refusal, run, and what was found: tables of a few rows and one picture."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import duckdb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MultipleLocator
from prepare import prepare
from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table

FLIGHTS = "examples/flights/flights.sql"
REFUSED = "examples/flights/refused.sql"
MENDED = "examples/flights/mended.sql"
OUT = Path("examples/flights/out")
PICTURE = OUT / "delay_by_hour.png"
PENSTOCK = Path(sys.executable).with_name("penstock")

RESULTS = f"""
SET TimeZone = 'UTC';
CREATE MACRO new_york(t) AS t::TIMESTAMPTZ AT TIME ZONE 'America/New_York';
CREATE VIEW departures_per_hour AS
  SELECT *, new_york(window_start) AS local FROM '{OUT}/departures_per_hour/*.parquet';
CREATE VIEW departures_with_weather AS
  SELECT *, new_york(time) AS local FROM '{OUT}/departures_with_weather/*.parquet';
CREATE VIEW recent_delay AS
  SELECT *, new_york(time) AS local FROM '{OUT}/recent_delay/*.parquet';
CREATE VIEW week_against_week AS
  SELECT * REPLACE (day AT TIME ZONE 'UTC' AS day) FROM '{OUT}/week_against_week/*.parquet';
"""

# Each table: its title and the query of its rows. Times are New York's.
TABLES = {
    "The busiest hour of each airport": """
        SELECT origin AS airport, strftime(local, '%a %d %b %H:%M') AS hour, flights,
          round(mean_delay, 1) AS "mean delay, min"
        FROM departures_per_hour
        QUALIFY row_number() OVER (PARTITION BY origin ORDER BY flights DESC, local) = 1 ORDER BY 1""",
    "The worst hour of each airport (10 departures or more)": """
        SELECT origin AS airport, strftime(local, '%a %d %b %H:%M') AS hour, departed, flights - departed AS cancelled,
          round(mean_delay, 1) AS "mean delay, min"
        FROM departures_per_hour WHERE departed >= 10
        QUALIFY row_number() OVER (PARTITION BY origin ORDER BY mean_delay DESC, local) = 1 ORDER BY 1""",
    "Departures without a weather reading in the hour before": """
        SELECT origin AS airport, count(*) AS flights, count(*) - count(reading) AS "without reading",
          round(100 * (1 - count(reading) / count(*)), 2) AS "share, %"
        FROM departures_with_weather GROUP BY 1 ORDER BY 1""",
    "Delay by visibility at the airport": """
        SELECT CASE WHEN visib < 1 THEN 'under 1 mile' WHEN visib < 5 THEN '1 to 5 miles'
            WHEN visib < 10 THEN '5 to 10 miles' ELSE '10 miles' END AS visibility,
          count(*) AS flights, round(avg(dep_delay), 1) AS "mean delay, min",
          round(100 * (1 - count(dep_delay) / count(*)), 1) AS "cancelled, %"
        FROM departures_with_weather WHERE reading IS NOT NULL GROUP BY 1 ORDER BY min(visib)""",
    "The worst three hours of each airport (mean over 20 departures or more)": """
        SELECT origin AS airport, strftime(local, '%a %d %b %H:%M') AS until, round(mean_3h, 1) AS "mean delay, min"
        FROM recent_delay WHERE departed_3h >= 20
        QUALIFY row_number() OVER (PARTITION BY origin ORDER BY mean_3h DESC, local, flight) = 1 ORDER BY 1""",
    "The day of each airport that lost most departures against the week before (UTC's days, without the last)": """
        SELECT origin AS airport, strftime(day, '%a %d %b') AS day, flights, departed,
          departed_week_before AS "departed a week before"
        FROM week_against_week WHERE departed_week_before IS NOT NULL AND day < '2014-01-01'
        QUALIFY row_number() OVER (PARTITION BY origin ORDER BY departed - departed_week_before, day) = 1 ORDER BY 1""",
}

DELAY_BY_HOUR = """
    SELECT hour(local) AS hour, sum(mean_delay * departed) / sum(departed) AS delay
    FROM departures_per_hour WHERE origin = ? GROUP BY 1 HAVING sum(departed) >= 500 ORDER BY 1"""


def main() -> None:
    """Run every step in order; ends with exit code 1 as soon as one does not do what it should."""
    console = Console()
    started = time.monotonic()

    console.print(Rule("1. Data: all flights from New York in 2013, and the weather"))
    with console.status("writing one file per month"):
        for name, written in prepare().items():
            console.print(f"{name}: {written.rows:,} rows in {written.files} files, disorder {written.disorder}")

    console.print(Rule("2. Proof: every query is sound and its state bounded"))
    penstock(console, "check", FLIGHTS)

    console.print(Rule("3. Refusal: a join that would keep both streams forever"))
    penstock(console, "check", FLIGHTS, REFUSED, expect=1)
    console.print(Syntax.from_path(MENDED, background_color="default"))
    penstock(console, "check", FLIGHTS, MENDED)

    console.print(Rule("4. Run: the whole year through Spark, as streams"))
    shutil.rmtree(OUT, ignore_errors=True)
    penstock(console, "run", "--once", FLIGHTS)

    console.print(Rule("5. What was found (times are New York's)"))
    with duckdb.connect() as results:
        results.execute(RESULTS)
        for title, sql in TABLES.items():
            console.print(f"\n[bold]{title}")
            console.print(table(results.sql(sql)))
        draw(results)
    console.print(f"picture: {PICTURE}")
    console.print(f"done in {time.monotonic() - started:.0f} s")


def penstock(console: Console, *arguments: str, expect: int = 0) -> None:
    """Call the command as a user would, its output on this terminal; stop the demo if it does not end as expected."""
    console.print(f"[bold]$ penstock {' '.join(arguments)}")
    ended = subprocess.run([PENSTOCK, *arguments], check=False)
    if ended.returncode != expect:
        sys.exit(f"penstock {arguments[0]} ended with {ended.returncode}, not {expect}")


def table(rows: duckdb.DuckDBPyRelation) -> Table:
    """A terminal table of the rows, numbers to the right."""
    shown = Table()
    for name, type_ in zip(rows.columns, rows.types, strict=True):
        shown.add_column(name, justify="left" if type_ == "VARCHAR" else "right")
    for row in rows.fetchall():
        shown.add_row(*(f"{value:,}" if isinstance(value, int) else str(value) for value in row))
    return shown


def draw(results: duckdb.DuckDBPyConnection) -> None:
    """Mean departure delay against the scheduled hour of departure in New York, a line per airport."""
    figure = Figure(figsize=(9, 5), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    for airport, name, colour in (
        ("EWR", "Newark", "#0072B2"),
        ("JFK", "Kennedy", "#D55E00"),
        ("LGA", "LaGuardia", "#009E73"),
    ):
        hours, delays = zip(*results.execute(DELAY_BY_HOUR, [airport]).fetchall(), strict=True)
        axes.plot(hours, delays, color=colour, marker="o", markersize=4, linewidth=2, label=f"{name} ({airport})")
    axes.set_title("Delay builds up over the day: flights from New York, 2013", loc="left", fontweight="bold")
    axes.set_xlabel("scheduled hour of departure, New York time (hours with 500 departures or more)")
    axes.set_ylabel("mean departure delay, minutes")
    axes.xaxis.set_major_locator(MultipleLocator(2))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda hour, _: f"{hour:02.0f}:00"))
    axes.axhline(0, color="black", linewidth=0.8)
    axes.grid(axis="y", color="#dddddd")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left")
    figure.savefig(PICTURE)


if __name__ == "__main__":
    main()
