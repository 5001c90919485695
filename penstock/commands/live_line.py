"""What `penstock run` says while it works: that Spark starts, and how far its queries are.

A terminal has one line, which is written anew. Anything else gets a line for the first micro-batch of a query, and then
one in a while.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Lock

from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from penstock.diagnostics import hide_credentials, show_text
from penstock.diagnostics.terminal import output_guarded
from penstock.runtime import PlainConsole, Status, span_text

STARTING = "starting Spark …"
QUIET_SECONDS = 10.0
"""The least time between two lines about a query where there is no terminal."""


class LiveLine:
    """The line. Called with a status after each micro-batch, from several threads."""

    def __init__(self, console: PlainConsole, line: Spinner, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._line, self._clock = console, line, clock
        self._statuses: dict[str, Status] = {}
        self._told: dict[str, float] = {}
        self._lock = Lock()

    @property
    def statuses(self) -> Sequence[Status]:
        """The last status of each query that was told of."""
        return [*self._statuses.values()]

    def say(self, text: str) -> None:
        """Shows a text until there is something else to show."""
        if self._console.is_terminal:
            self._line.update(text=Text(show_text(text)))
        else:
            self._console.print(text, soft_wrap=True)

    def __call__(self, status: Status) -> None:
        """Takes note of how far a query is, and shows it."""
        with self._lock:
            before = self._statuses.get(status.name)
            self._statuses[status.name] = status
            if self._console.is_terminal:
                self._line.update(text=Text(show_text(sum_up(self.statuses, datetime.now(UTC)))))
            elif self._is_news(before, status):
                self._told[status.name] = self._clock()
                self.say(describe(status))

    def _is_news(self, before: Status | None, status: Status) -> bool:
        if before is None or before.retrying != status.retrying:
            return status.batches > 0 or status.retrying is not None
        if before.batches == status.batches:
            return False
        return self._clock() - self._told.get(status.name, -QUIET_SECONDS) >= QUIET_SECONDS


@contextmanager
def progress_shown() -> Iterator[LiveLine]:
    """Gives the line, which is there as long as the body runs."""
    console = PlainConsole(sys.stderr)
    line = Spinner("dots", "")
    # Where both are terminals, what goes to standard output has to be kept out of the moving line.
    with Live(line, console=console, transient=True, redirect_stdout=sys.stdout.isatty()), output_guarded():
        yield LiveLine(console, line)


def describe(status: Status) -> str:
    """How far a query is, in a line of its own."""
    text = f"{status.name}: {status.rows:,} rows in, {status.out:,} out, {_count_left_out([status])}"
    return f"{text}, batch {status.batches}{_tell_retries([status])}"


def sum_up(statuses: Sequence[Status], now: datetime) -> str:
    """How far all queries are, in one line: counts and rates are sums, the lag is the largest one."""
    name = statuses[0].name if len(statuses) == 1 else f"{len(statuses)} queries"
    read, rate, out = (sum(getattr(each, field) for each in statuses) for field in ("rows", "read_rate", "out"))
    lags = [(now - max(each.newest.values())).total_seconds() for each in statuses if each.newest]
    lag = f", lag {span_text(max(lags))}" if lags else ""
    text = f"{name}: {read:,} rows in, {rate:,.0f} rows/s, {out:,} out{lag}, {_count_left_out(statuses)}"
    return text + _tell_retries(statuses)


def _count_left_out(statuses: Sequence[Status]) -> str:
    late, rejected = (sum(getattr(each, field) for each in statuses) for field in ("late", "rejected"))
    return f"{late:,} late, {rejected:,} rejected"


def _tell_retries(statuses: Sequence[Status]) -> str:
    retries = [each for each in statuses if each.retrying is not None]
    told = [f"{each.name} tries again: {hide_credentials(each.retrying or '')}" for each in retries]
    return "".join(f", {each}" for each in told)
