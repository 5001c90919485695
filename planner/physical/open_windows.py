"""How many seconds of event time open windows hold, added up, right before one closes. All times are in seconds."""

from __future__ import annotations

_TRIED = 200
"""How many moments are tried to find the one at which growing windows hold most."""


def sum_windows(length: float, step: float, lag: float, *, begin: float = 0, own: float | None = None) -> float:
    """The seconds of rows in all windows that are open right before one closes, added up. `lag`: how far the watermark
    is behind the newest row.

    A new window begins every `step`. It holds rows from `begin` behind its start on, for `own` seconds.
    """
    own = length if own is None else own
    newest = lag + length - begin
    full = max(int((newest - own) // step) + 1, 0)
    last = int(newest // step)
    rest = last - full + 1
    return full * own + rest * newest - step * (full + last) * rest / 2


def sum_growing_windows(size: float, step: float, lag: float) -> float:
    """The same of windows that grow by a step until they have the size. All of one stretch begin together."""
    count = round(size / step)

    def add_up(first: int, age: float) -> float:
        """The windows from the `first` on of a stretch that began so long before the newest row."""
        whole = max(min(int(age // step), count), first - 1)
        return step * (first + whole) * (whole - first + 1) / 2 + (count - whole) * max(age, 0)

    peak = 0.0
    for first in range(1, count + 1, -(-count // _TRIED)):
        newest = first * step + lag
        complete = max(int(newest // size) - 1, 0)
        later = newest - (complete + 1) * size
        peak = max(peak, add_up(first, newest) + complete * add_up(1, size) + add_up(1, max(later, 0)))
    return peak
