"""What programs print for the tests: a line of JSON for each probe."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any


def report(name: str, value: object) -> None:
    """Prints what a probe found."""
    print(json.dumps([name, value], default=str), flush=True)


def listed(rows: Iterable[Iterable[Any]]) -> list[list[Any]]:
    """Rows as lists."""
    return [list(row) for row in rows]


def run_chosen(**parts: Callable[[], None]) -> None:
    """Runs the part of a program that its argument names."""
    parts[sys.argv[1]]()
