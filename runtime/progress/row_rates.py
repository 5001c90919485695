"""How many rows a second come in and go out, of the last half minute."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

SECONDS = 30.0


class RowRates:
    """Rates over the last SECONDS. They are 0 when nothing has come for so long.

    Spark's rates are about one micro-batch, and stay what they are when no other one follows.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._marks: deque[tuple[float, int, int]] = deque([(self._began, 0, 0)])

    def add(self, read: int, written: int) -> None:
        """A micro-batch has ended. `read`, `written`: rows so far, in all."""
        self._marks.append((self._clock(), read, written))
        self._forget()

    def find(self) -> tuple[float, float]:
        """Rows a second that were read, and that were written."""
        self._forget()
        (_, read, written), (_, all_read, all_written) = self._marks[0], self._marks[-1]
        seconds = max(1.0, min(SECONDS, self._clock() - self._began))
        return (all_read - read) / seconds, (all_written - written) / seconds

    def _forget(self) -> None:
        """The first mark that stays is the last one from before the time that counts."""
        while len(self._marks) > 1 and self._marks[1][0] <= self._clock() - SECONDS:
            self._marks.popleft()
