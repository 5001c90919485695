"""What `make test` leaves to `make test-all`, and what both leave to `make campaign`: the tests that `slow.txt` names.

A line is a file, a test, or a test with its parameters. A line that begins with `+` keeps such a test in `make test`,
and one that begins with `!` leaves it to the campaign. The longest line that fits a test decides.
`python -m tests.suite FILE` reads the output of `pytest --durations=0`, and prints how the time is divided.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from enum import Enum
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("slow.txt")
TAKEN = re.compile(r"^([\d.]+)s (?:call|setup|teardown)\s+(\S.*?)\s*$", re.MULTILINE)


class Tier(Enum):
    """Where a test runs; the value is the sign of its line."""

    QUICK = "+"
    SLOW = ""
    CAMPAIGN = "!"


@cache
def read_lines() -> dict[str, Tier]:
    """The tier of each test that the file names."""
    lines = [each.strip() for each in FILE.read_text(encoding="utf-8").splitlines()]
    lines = [each for each in lines if each and not each.startswith("#")]
    return {each.lstrip("+! "): Tier(each[0] if each[0] in "+!" else "") for each in lines}


def find_line(test: str) -> str | None:
    """The line that decides on a test."""
    lines, name = read_lines(), test
    while name not in lines:
        parameters = name.find("[")
        name = name[:parameters] if parameters >= 0 else name.rpartition("::")[0]
        if not name:
            return None
    return name


def find_tier(test: str) -> Tier:
    """Where a test runs, given by its id."""
    line = find_line(test)
    return Tier.QUICK if line is None else read_lines()[line]


def find_unused(tests: Iterable[str]) -> list[str]:
    """Lines that decide on none of the tests."""
    return sorted(read_lines().keys() - {find_line(each) for each in tests})


def main(file: str) -> None:
    """Prints the seconds of the quick and the slow tests, and the longest of each."""
    seconds: dict[str, float] = {}
    for taken, test in TAKEN.findall(Path(file).read_text(encoding="utf-8")):
        seconds[test] = seconds.get(test, 0) + float(taken)
    for tier in Tier:
        tests = sorted((each for each in seconds if find_tier(each) is tier), key=lambda each: -seconds[each])
        print(f"{tier.name.lower()}: {len(tests)} tests, {sum(map(seconds.__getitem__, tests)):,.0f} s")
        for test in tests[:60]:
            print(f"{seconds[test]:8.1f} {test}")


if __name__ == "__main__":
    main(sys.argv[1])
