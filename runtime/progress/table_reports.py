"""What queries have done to tables of databases, and asked of them, since they were started in this process."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TableReport:
    """The changes of a table by a query.

    `rejected`: rows that were set aside, because their row is missing or the database refuses them. `retries`: attempts
    that failed and were repeated, `failures`: micro-batches that failed for good. `p50_ms` and `p99_ms` are percentiles
    of the milliseconds of the newest 1,000 micro-batches, None before the first one.
    """

    name: str
    """What the database calls the table."""
    puts: int
    updates: int
    deletes: int
    rejected: int
    batches: int
    retries: int
    failures: int
    seconds_retrying: float
    p50_ms: float | None
    p99_ms: float | None


@dataclass(frozen=True, slots=True)
class LookupReport:
    """The lookups of a query in a table: `gets == hits + misses`.

    `gets`: keys that were looked up. `cache_hits`: keys among them that a cache answered. `batches`: statements that
    the database answered, `retries`: statements that failed and were repeated. `failures` is 1 if the query ended
    because the table could not be read. `p50_ms` and `p99_ms` are percentiles of the milliseconds of the newest 1,000
    statements, with their repeated attempts; None before the first one.
    """

    name: str
    """What the script calls the table."""
    gets: int
    hits: int
    misses: int
    cache_hits: int
    batches: int
    retries: int
    failures: int
    seconds_retrying: float
    p50_ms: float | None
    p99_ms: float | None


def find_percentile_ms(seconds: Iterable[float], percent: int) -> float | None:
    """The time in milliseconds that so many percent of the times do not exceed; None without times."""
    ordered = sorted(seconds)
    return ordered[len(ordered) * percent // 100] * 1000 if ordered else None


class LookupCounters:
    """The sums of the lookups of one query in one table."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._counts: Counter[str] = Counter()
        self._seconds_retrying = 0.0
        self._batch_seconds: deque[float] = deque(maxlen=1000)

    def add(self, observed: Mapping[str, Any]) -> None:
        """Adds what was observed of a micro-batch, as `remote_view` says; sums are None if no task asked."""
        known = {name: value for name, value in observed.items() if value is not None}
        self._batch_seconds.extend(known.pop("batch_seconds", ()))
        self._seconds_retrying += known.pop("seconds_retrying", 0.0)
        self._counts.update(known)

    def fail(self, retries: int, seconds_retrying: float) -> None:
        """Notes that the query ended because the table could not be read. May be called again for the same failure."""
        if not self._counts["failures"]:
            self.add({"failures": 1, "retries": retries, "seconds_retrying": seconds_retrying})

    @property
    def report(self) -> LookupReport:
        """The sums so far."""
        counts = ("gets", "hits", "misses", "cache_hits", "batches", "retries", "failures")
        return LookupReport(
            self._name,
            **{name: self._counts[name] for name in counts},
            seconds_retrying=self._seconds_retrying,
            p50_ms=find_percentile_ms(self._batch_seconds, 50),
            p99_ms=find_percentile_ms(self._batch_seconds, 99),
        )
