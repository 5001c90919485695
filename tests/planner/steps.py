"""Counts the steps of a computation: calls of Python functions, which do not depend on the machine or its load."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


class TooManyStepsError(Exception):
    """The computation takes more steps than a test lets it."""


def count_steps(compute: Callable[[], object], most: int = 5_000_000) -> int:
    """The number of calls. Raises TooManyStepsError, so that a test of exponential work ends."""
    steps = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal steps
        if event == "call":
            steps += 1
            if steps > most:
                raise TooManyStepsError(f"more than {most:,} steps")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        compute()
    finally:
        sys.setprofile(before)
    return steps
