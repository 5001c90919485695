"""How much all statements of a script may answer together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.server.engine_protocol import StatementAnswer

_VALUE_BYTES = 16
"""What each value and each row counts beside its text, so that NULLs and empty rows have a limit, too."""


@dataclass(slots=True)
class AnswerRoom:
    """What is left of the limits of a script."""

    rows: int
    size: int
    """In bytes."""

    @property
    def is_used_up(self) -> bool:
        """Whether no further row fits."""
        return self.rows <= 0 or self.size <= 0

    def take_head(self, texts: Sequence[str]) -> None:
        """Counts what stands beside the rows: names of columns, notices. It comes in any case."""
        self.size -= _measure(texts)

    def take_row(self, row: Sequence[str | bytes | None]) -> bool:
        """Counts a row if it fits. False if it does not."""
        measured = _measure(row)
        if self.rows < 1 or measured > self.size:
            return False
        self.rows -= 1
        self.size -= measured
        return True

    def cut(self, answer: StatementAnswer) -> StatementAnswer:
        """An answer of the engine with the rows that fit, and with a notice if there are more."""
        self.take_head((*answer.columns, *answer.notices))
        rows = answer.rows
        count = next((place for place, row in enumerate(rows) if not self.take_row(row)), len(rows))
        if count == len(rows):
            return answer
        return replace(answer, rows=rows[:count], notices=(note_cut(count), *answer.notices))


def note_cut(count: int) -> str:
    """The notice of an answer that does not have all rows."""
    return f"these are the first {count:,} rows; the statement has more"


def _measure(values: Sequence[str | bytes | None]) -> int:
    sizes = (len(value.encode() if isinstance(value, str) else value) for value in values if value is not None)
    return _VALUE_BYTES * (len(values) + 1) + sum(sizes)
