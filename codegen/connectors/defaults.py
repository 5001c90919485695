"""Arguments that may be left out."""

from __future__ import annotations

from typing import Any


def leave_out(arguments: dict[str, Any]) -> dict[str, Any]:
    """Drops arguments that are equal to their defaults."""
    return {name: value for name, value in arguments.items() if value not in (None, False, ())}
