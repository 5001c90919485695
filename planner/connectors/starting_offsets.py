"""The option `starting` of topics -> where a new query begins. It needs nothing else of the planner."""

from __future__ import annotations

import json
from datetime import UTC, datetime


def read_time(value: str) -> int | None:
    """The milliseconds since 1970 of a time by ISO 8601, in UTC unless it says otherwise; None if it is none."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def read_offsets(value: str) -> dict[int, int] | None:
    """The offsets by partition that a JSON object names, None if the text is something else."""
    try:
        given = json.loads(value)
        found = {int(partition): offset for partition, offset in given.items()}
    except (ValueError, AttributeError):
        return None
    valid = all(type(offset) is int and offset >= 0 and partition >= 0 for partition, offset in found.items())
    return found if found and valid else None
