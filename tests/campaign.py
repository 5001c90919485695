"""How much an ordinary run of the tests leaves to the campaign."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

IS_RUNNING = os.environ.get("PENSTOCK_CAMPAIGN") == "1"
T = TypeVar("T")


def take_some(items: Sequence[T], every: int, first: int = 0) -> Sequence[T]:
    """All items in a campaign; otherwise the one at the place `first` and each n-th after it, n being `every`."""
    return items if IS_RUNNING else items[first::every]
