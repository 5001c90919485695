"""What a writer of a table has done."""

from collections import deque
from dataclasses import dataclass, field, fields


@dataclass(slots=True)
class RowCounts:
    """Rows of one batch. `refused` rows are `rejected` rows that the database did not take."""

    puts: int = 0
    updates: int = 0
    deletes: int = 0
    gets: int = 0
    rejected: int = 0
    refused: int = 0


@dataclass(slots=True)
class TableCounters(RowCounts):
    """Since the writer was made: rows, batches, retries, batches that failed for good.

    seconds_retrying: from the first failure of a transaction to its end. batch_seconds: durations of the newest
    batches.
    """

    batches: int = 0
    retries: int = 0
    failures: int = 0
    seconds_retrying: float = 0.0
    batch_seconds: deque[float] = field(default_factory=lambda: deque(maxlen=1000))

    def add_batch(self, counts: RowCounts, seconds: float) -> None:
        """Adds the rows of one more batch."""
        for each in fields(RowCounts):
            setattr(self, each.name, getattr(self, each.name) + getattr(counts, each.name))
        self.batches += 1
        self.batch_seconds.append(seconds)
