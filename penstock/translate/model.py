"""What a translation is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from penstock.diagnostics import Source


class System(Enum):
    FLINK = "flink"
    KSQLDB = "ksqldb"
    SPARK = "spark"

    @property
    def title(self) -> str:
        return {"flink": "Flink", "ksqldb": "ksqlDB", "spark": "Spark"}[self.value]


class Verdict(Enum):
    SAME = "same"
    CHANGED = "changed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A statement in Penstock's spelling. `changes`: what is written otherwise, and what that changes.

    `checked`: the text that stands in for it when it is checked, where its connector cannot run yet.
    """

    sql: str
    changes: tuple[str, ...] = ()
    checked: str | None = None


class NotTranslatedError(Exception):
    """The statement has no translation; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class TranslatedStatement:
    """What became of one statement. `sql` is empty if it is left out. `text` is what the input has, without secrets.

    `notes`: what is changed and what differs, or why it is refused and what to do.
    """

    line: int
    text: str
    verdict: Verdict
    sql: str
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The beginning of the statement, in one line."""
        words = " ".join(self.text.split())
        return words if len(words) <= 60 else words[:59] + "…"


@dataclass(slots=True)
class Known:
    """What earlier statements have said.

    `processing_times`: names of columns that are computed as PROCTIME(), and that do not exist here. `refused`: the
    lines of refused declarations, by the names in small letters. `digits`: how many digits of seconds the times have
    that were declared. `session_gap`: the gap of the statement at hand, in milliseconds. `source`: the whole text.
    """

    processing_times: set[str] = field(default_factory=set)
    refused: dict[str, int] = field(default_factory=dict)
    digits: set[int] = field(default_factory=set)
    session_gap: int | None = None
    source: Source = field(default_factory=lambda: Source("", ""))
