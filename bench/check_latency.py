"""How long `penstock check` takes from a shell, beside a Python that does nothing: seconds over ten runs of each.

    python bench/check_latency.py [FILE...]

The two take turns, so that a busy machine slows down both. The first run of each is not counted: it compiles bytecode
and fills the disk cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean, median

RUNS = 10
FLIGHTS = Path(__file__).parents[1] / "examples" / "flights" / "flights.sql"
# As after an install: with bytecode on disk.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main() -> None:
    """Measure, and print a line for each command."""
    files = sys.argv[1:] or [str(FLIGHTS)]
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "penstock check": [sys.executable, "-m", "penstock", "check", *files],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(RUNS + 1):
        for name, command in commands.items():
            taken[name].append(seconds(command))
    for name, times in taken.items():
        counted = times[1:]
        print(f"{name:15} mean {mean(counted):.3f} s, median {median(counted):.3f} s, best {min(counted):.3f} s")


def seconds(command: list[str]) -> float:
    """The time from the start of a command to its end, which must be a good one."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, env=ENVIRONMENT, check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
