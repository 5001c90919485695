"""The micro-batches of a run -> the record of the run in the checkpoint of its query."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

import msgspec

from penstock.codegen.run_record import RECORD_FILE, RunRecord
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.failure.errors import RunError
from penstock.runtime.failure.failures import SPARK_ERRORS
from penstock.runtime.progress.query_account import QueryAccount
from penstock.runtime.progress.spark_listener import BatchProgress
from penstock.runtime.progress.status import InputAccount

_EVERY = 60
"""A run that is killed leaves a record that is at most so many seconds old."""
_SHORTEST = 1.0
"""Rows of less event time, in seconds, say nothing about a rate."""


class RunRecorder:
    """Follows a query with state. Records are for people, so what fails in writing one is left alone."""

    def __init__(self, storage: Storage, place: str, account: QueryAccount) -> None:
        self._storage = storage
        self._path = f"{place}/{RECORD_FILE}"
        self._account = account
        self._entries = self._bytes = 0
        self._written = time.monotonic()
        self._first: dict[str, tuple[datetime, int]] = {}
        """By input, the newest event time and the rows after the first micro-batch that had any."""
        self._is_closed = False

    def follow(self, progress: BatchProgress) -> None:
        """A micro-batch has ended, and the account has it."""
        for each in self._account.inputs({}):
            if each.name in self._account.newest:
                self._first.setdefault(each.name, (self._account.newest[each.name], _count_used(each)))
        self._entries = max(self._entries, sum(each.num_rows_total for each in progress.state_operators))
        self._bytes = max(self._bytes, sum(each.memory_used_bytes for each in progress.state_operators))
        if time.monotonic() - self._written > _EVERY:
            self._written = time.monotonic()
            # The follower waits for this call, and a store may take minutes to answer.
            threading.Thread(target=self.write, daemon=True).start()

    def close(self) -> None:
        """The checkpoint may belong to another process now."""
        self._is_closed = True

    def write(self) -> None:
        """Writes the record, unless the run has kept nothing."""
        self._written = time.monotonic()
        if self._entries and not self._is_closed:
            with suppress(*SPARK_ERRORS, RunError):
                self._storage.publish(self._path, msgspec.json.encode(self.record()).decode() + "\n")

    def record(self) -> RunRecord:
        """The run up to now."""
        rates, longest = {}, 0.0
        for name, (rows, seconds) in self._list_spans():
            longest = max(longest, seconds)
            if seconds >= _SHORTEST:
                rates[name] = round(rows / seconds, 3)
        return RunRecord(rates, longest, self._entries, self._bytes)

    def _list_spans(self) -> Iterator[tuple[str, tuple[int, float]]]:
        """By input, rows and the seconds of event time in which they lie: from the first micro-batch to the last.

        For a single micro-batch the oldest time is known for all inputs together, late rows included.
        """
        account = self._account
        inputs = account.inputs({})
        is_alone = len(inputs) == 1 and not inputs[0].late
        for each in inputs:
            newest, first = account.newest.get(each.name), self._first.get(each.name)
            if newest is None or first is None:
                continue
            since, before = first
            if newest > since:
                yield each.name, (_count_used(each) - before, (newest - since).total_seconds())
            elif is_alone and account.oldest is not None:
                # The seconds lie between the rows, and there is one row more.
                yield each.name, (max(before - 1, 0), (newest - account.oldest).total_seconds())


def _count_used(report: InputAccount) -> int:
    """The rows that may reach an operator, or are filtered out before."""
    return report.read - report.rejected - report.late
