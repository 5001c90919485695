"""What `make test` leaves to `make test-all`: the tests that `slow.txt` names.

A line is a file, a test, or a test with its parameters. A line that begins with `+` keeps such a test in `make test`.
The longest line that fits a test decides. `python -m tests.suite FILE` reads the output of `pytest --durations=0`, and
prints how the time is divided.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("slow.txt")
TAKEN = re.compile(r"^([\d.]+)s (?:call|setup|teardown)\s+(\S.*?)\s*$", re.MULTILINE)


@cache
def read_lines() -> dict[str, bool]:
    """What the file says of tests: whether they are slow."""
    lines = [each.strip() for each in FILE.read_text(encoding="utf-8").splitlines()]
    lines = [each for each in lines if each and not each.startswith("#")]
    return {each.removeprefix("+").strip(): not each.startswith("+") for each in lines}


def find_line(test: str) -> str | None:
    """The line that decides on a test."""
    fitting = [each for each in read_lines() if test == each or test.startswith((f"{each}::", f"{each}["))]
    return max(fitting, key=len, default=None)


def is_slow(test: str) -> bool:
    """Whether `make test` leaves out a test, given by its id."""
    line = find_line(test)
    return line is not None and read_lines()[line]


def find_unused(tests: Iterable[str]) -> list[str]:
    """Lines that decide on none of the tests."""
    return sorted(read_lines().keys() - {find_line(each) for each in tests})


def main(file: str) -> None:
    """Prints the seconds of the quick and the slow tests, and the longest of each."""
    seconds: dict[str, float] = {}
    for taken, test in TAKEN.findall(Path(file).read_text(encoding="utf-8")):
        seconds[test] = seconds.get(test, 0) + float(taken)
    for kind, chosen in (("quick", False), ("slow", True)):
        tests = sorted((each for each in seconds if is_slow(each) is chosen), key=lambda each: -seconds[each])
        print(f"{kind}: {len(tests)} tests, {sum(map(seconds.__getitem__, tests)):,.0f} s")
        for test in tests[:60]:
            print(f"{seconds[test]:8.1f} {test}")


if __name__ == "__main__":
    main(sys.argv[1])
