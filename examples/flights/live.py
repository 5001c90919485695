"""`make serve`: replays the flights of 2013 into a folder, and serves tables of them to psql, BI tools and browsers."""

from __future__ import annotations

import argparse
import csv
import itertools
import shutil
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

from prepare import DATA, prepare

LIVE = Path("examples/flights/live")
SCRIPT = "examples/flights/live.sql"
PENSTOCK = Path(sys.executable).with_name("penstock")
SLICE = timedelta(minutes=30)


def main() -> None:
    """Starts both, and ends with the server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=2, help="hours of 2013 that pass in a second")
    parser.add_argument("serve", nargs="*", help="options of penstock serve, behind --")
    given = parser.parse_args()
    prepare()
    if not Path("penstock-state").exists():
        shutil.rmtree(LIVE, ignore_errors=True)
    LIVE.mkdir(exist_ok=True)
    stopping = threading.Event()
    replaying = threading.Thread(target=replay, args=(given.hours, stopping))
    replaying.start()
    try:
        ended = subprocess.run([PENSTOCK, "serve", SCRIPT, *given.serve], check=False)
    except KeyboardInterrupt:  # the server stops by itself
        ended = subprocess.CompletedProcess([], 0)
    finally:
        stopping.set()
        replaying.join()
    sys.exit(ended.returncode)


def replay(hours: float, stopping: threading.Event) -> None:
    """Writes a file for each half hour of flights, at so many hours a second. What is there already is left out."""
    pause = SLICE / timedelta(hours=hours)
    for number, rows in enumerate(slices()):
        file = LIVE / f"{number:06}.csv"
        if file.exists():
            continue
        unfinished = file.with_name(f".{file.name}")
        with unfinished.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out, lineterminator="\n").writerows(rows)
        unfinished.rename(file)
        if stopping.wait(pause):
            return


def slices() -> list[list[list[str]]]:
    """The flights in the order in which they became known, by half hours of their scheduled departure."""
    flights = []
    for month in sorted((DATA / "flights").glob("*.csv")):
        with month.open(encoding="utf-8") as file:
            flights += list(csv.reader(file))[1:]
    first = datetime.fromisoformat(min(row[0] for row in flights))

    def half_hour(row: list[str]) -> int:
        return int((datetime.fromisoformat(row[0]) - first) / SLICE)

    return [list(rows) for _, rows in itertools.groupby(sorted(flights, key=half_hour), half_hour)]


if __name__ == "__main__":
    main()
