"""Flights from topics to topics and PostgreSQL, compared with the batch answer: `python -m examples.kafka.demo`."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import duckdb
import psycopg
import pyarrow as pa
from rich.console import Console
from rich.rule import Rule
from rich.table import Table

from examples.flights.prepare import prepare
from examples.kafka.broker import Broker, fetch_broker, fetch_jars
from examples.profiles.demo import serve_postgres

HERE = Path("examples/kafka")
SCRIPT = HERE / "flights.sql"
SERVERS = "localhost:9092"
"""What stands for the brokers in the script. The demo's broker has a port that is free."""
PENSTOCK = Path(sys.executable).with_name("penstock")
RETIRED = 1985
"""Planes that were built before are deleted from their table."""
FLIGHTS = ("time", "origin", "dest", "carrier", "flight", "tailnum", "dep_delay")
WEATHER = ("time", "origin", "temp", "wind_speed", "visib")
NUMBERS = {"flight": int, "dep_delay": int, "temp": float, "wind_speed": float, "visib": float}
RESULTS = {
    "departures_per_hour": "origin, hour::TIMESTAMP AS hour, flights, departed, delay",
    "departures_with_weather": "tailnum, time::TIMESTAMP AS time, origin, carrier, flight, dep_delay, "
    "reading::TIMESTAMP AS reading, temp, wind_speed, visib",
    "carriers": "carrier, flights, departed, worst",
    "manufacturers": "manufacturer, flights, departed, seats",
}
"""The results, and their columns as the batch answer has them."""
SHOWN = """SELECT manufacturer, flights, departed, seats FROM written_manufacturers
  ORDER BY flights DESC, manufacturer LIMIT 5"""


@click.command()
@click.option("--months", default=13, show_default=True, help="files of flights to send; 13 is the year")
def main(months: int) -> None:
    """Runs every step in order; ends with exit code 1 as soon as one does not do what it should."""
    console = Console()
    started = time.monotonic()
    reason = fetch_broker() or fetch_jars()
    if reason is not None:
        sys.exit(reason)
    with ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        data, root = folder / "data", folder / "broker"
        root.mkdir()

        console.print(Rule("1. A broker of Kafka, and a PostgreSQL"))
        broker = Broker.start(root)
        running.callback(broker.stop)
        url = running.enter_context(serve_postgres(folder, "flights"))
        console.print(f"broker: {broker.servers}")

        console.print(Rule("2. Topics: flights as they became known, the weather, and planes"))
        prepare(data)
        keep_months(data, months)
        for topic, sent in send_all(broker, data).items():
            console.print(f"{topic}: {sent:,} messages")

        console.print(Rule("3. Run: windows, joins and tables"))
        script = folder / SCRIPT.name
        script.write_text(SCRIPT.read_text(encoding="utf-8").replace(SERVERS, broker.servers), encoding="utf-8")
        penstock(console, "check", str(script))
        penstock(console, "run", "--once", "--drain", "--checkpoint", str(folder / "state"), str(script))

        console.print(Rule("4. What was written, beside the batch answer of DuckDB"))
        with duckdb.connect() as results:
            results.execute(f"SET file_search_path = '{data}'")
            results.execute((HERE / "batch.sql").read_text(encoding="utf-8"))
            for name in RESULTS:
                rows = read_rows(url, name) if name == "manufacturers" else read_topic(broker, name)
                console.print(compare(results, name, rows))
            console.print(show(results.sql(SHOWN)))
    console.print(f"broker and server are stopped; done in {time.monotonic() - started:.0f} s")


def keep_months(data: Path, months: int) -> None:
    """Deletes the files of later months."""
    for stream in ("flights", "weather"):
        for file in sorted((data / stream).iterdir())[months:]:
            file.unlink()


def send_all(broker: Broker, data: Path) -> dict[str, int]:
    """Makes all topics, and sends what the files hold. Returns the number of messages by topic."""
    broker.create_topic("planes", 2, cleanup_policy="compact")
    broker.create_topic("flights", 4)
    broker.create_topic("weather", 3)
    broker.create_topic("departures_per_hour", 3)
    broker.create_topic("departures_with_weather", 4)
    broker.create_topic("carriers", 2, cleanup_policy="compact")
    flights = (message(row, FLIGHTS, "tailnum") for row in read_rows_of(data / "flights"))
    weather = (message(row, WEATHER, "origin") for row in read_rows_of(data / "weather"))
    return {
        "planes": broker.send("planes", list_planes(data)),
        "flights": broker.send("flights", flights),
        "weather": broker.send("weather", weather),
    }


def read_rows_of(folder: Path) -> Iterator[dict[str, str]]:
    """The rows of the files of all months, in the order in which they became known."""
    for path in sorted(folder.iterdir()):
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)


def message(row: dict[str, str], columns: Iterable[str], key: str) -> dict[str, str]:
    """A row as a message in JSON. What is unknown is NULL in its value, and an empty key."""
    value = {name: None if row[name] == "NA" else NUMBERS.get(name, str)(row[name]) for name in columns}
    return {"key": value[key] or "", "value": json.dumps(value)}


def list_planes(data: Path) -> Iterator[dict[str, str | None]]:
    """All planes without their seats, then as they are, then the end of those that are old."""
    with (data / "planes.csv").open(encoding="utf-8", newline="") as file:
        planes = list(csv.DictReader(file))
    for known in (False, True):
        for row in planes:
            value = {"manufacturer": row["manufacturer"], "seats": int(row["seats"]) if known else None}
            yield {"key": row["tailnum"], "value": json.dumps(value)}
    for row in planes:
        if row["year"] != "NA" and int(row["year"]) < RETIRED:
            yield {"key": row["tailnum"], "value": None}


def penstock(console: Console, *arguments: str) -> None:
    """Calls the command as a user would, its output on this terminal; stops the demo if it fails."""
    console.print(f"[bold]$ penstock {' '.join(arguments)}")
    ended = subprocess.run([PENSTOCK, *arguments], check=False)
    if ended.returncode != 0:
        sys.exit(f"penstock {arguments[0]} ended with {ended.returncode}")


def read_topic(broker: Broker, topic: str) -> list[dict[str, Any]]:
    """The rows that a topic holds for a reader of committed messages. A table is the newest message of each key."""
    rows: list[tuple[str | None, Any]] = []
    for found in broker.read(topic):
        key, value = found.key(), found.value()
        rows.append((None if key is None else key.decode(), None if value is None else json.loads(value)))
    match topic:
        case "carriers":
            return [{"carrier": key, **value} for key, value in dict(rows).items() if value is not None]
        case "departures_per_hour":
            return [{"origin": key, **value} for key, value in rows]
        case _:
            return [value for _, value in rows]


def read_rows(url: str, table: str) -> list[dict[str, Any]]:
    """The rows of a table of PostgreSQL."""
    with psycopg.connect(url) as connection:
        found = connection.execute(f"SELECT * FROM {table}")
        names = [column.name for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found]


def compare(results: duckdb.DuckDBPyConnection, name: str, rows: list[dict[str, Any]]) -> str:
    """Compares the rows with the batch answer of the same name; stops the demo if they differ."""
    results.register(f"rows_{name}", pa.Table.from_pylist(rows))
    results.execute(f"CREATE TABLE written_{name} AS SELECT {RESULTS[name]} FROM rows_{name}")
    for one, other, what in ((name, f"written_{name}", "missing"), (f"written_{name}", name, "wrong")):
        differing = results.sql(f"SELECT * FROM {one} EXCEPT ALL SELECT * FROM {other}").fetchall()
        if differing:
            sys.exit(f"{name}: {len(differing):,} rows are {what}, such as {differing[0]}")
    return f"{name}: {len(rows):,} rows, all equal"


def show(rows: duckdb.DuckDBPyRelation) -> Table:
    """A terminal table of the rows."""
    shown = Table(*rows.columns)
    for row in rows.fetchall():
        shown.add_row(*(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row))
    return shown


if __name__ == "__main__":
    main()
