"""Times and stretches of time as messages write them."""

from __future__ import annotations

from datetime import datetime, timedelta

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def moment_text(moment: datetime) -> str:
    """`2026-01-01 10:00:00`, in UTC; with milliseconds where there are any."""
    moment += timedelta(microseconds=500 if moment.microsecond % 1000 else 0)
    if moment.microsecond >= 999_000:  # a watermark that is held back a little
        moment = moment.replace(microsecond=0) + timedelta(seconds=1)
    text = f"{moment:%Y-%m-%d %H:%M:%S}"
    return f"{text}.{moment.microsecond // 1000:03d}" if moment.microsecond >= 1000 else text


def span_text(seconds: float) -> str:
    """`3 h 20 min`: the two largest units."""
    if seconds < 1:
        return f"{max(0, round(seconds * 1000))} ms"
    left = int(seconds)
    parts = []
    for unit, size in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])
