"""The micro-batches of a run -> the record of the run in the checkpoint of its query."""

from __future__ import annotations

import time
from contextlib import suppress

import msgspec

from penstock.codegen import RECORD_FILE, RunRecord
from penstock.runtime.errors import RunError
from penstock.runtime.failures import SPARK_ERRORS
from penstock.runtime.ledger import Account
from penstock.runtime.spark_listener import BatchProgress
from penstock.runtime.storage import Storage

_EVERY = 60
"""A run that is killed leaves a record that is at most so many seconds old."""
_SHORTEST = 1.0
"""Rows of less event time, in seconds, say nothing about a rate."""


class RunRecorder:
    """Follows a query with state. Records are for people, so what fails in writing one is left alone."""

    def __init__(self, storage: Storage, place: str, account: Account) -> None:
        self._storage = storage
        self._path = f"{place}/{RECORD_FILE}"
        self._account = account
        self._entries = self._bytes = 0
        self._written = time.monotonic()
        self._is_closed = False

    def follow(self, progress: BatchProgress) -> None:
        """A micro-batch has ended, and the account has it."""
        self._entries = max(self._entries, sum(each.num_rows_total for each in progress.state_operators))
        self._bytes = max(self._bytes, sum(each.memory_used_bytes for each in progress.state_operators))
        if time.monotonic() - self._written > _EVERY:
            self.write()

    def close(self) -> None:
        """The checkpoint may be that of another process now."""
        self._is_closed = True

    def write(self) -> None:
        """Writes the record, unless the run has kept nothing."""
        self._written = time.monotonic()
        if self._entries and not self._is_closed:
            with suppress(*SPARK_ERRORS, RunError):
                self._storage.publish(self._path, msgspec.json.encode(self.record()).decode() + "\n")

    def record(self) -> RunRecord:
        """The run up to now."""
        account, rates, longest = self._account, {}, 0.0
        for each in account.inputs({}):
            newest = account.newest.get(each.name)
            if newest is None or account.oldest is None:
                continue
            seconds = (newest - account.oldest).total_seconds()
            longest = max(longest, seconds)
            if seconds >= _SHORTEST:
                # The seconds lie between the rows, of which there is one more.
                rates[each.name] = round(max(each.read - each.rejected - 1, 0) / seconds, 3)
        return RunRecord(rates, longest, self._entries, self._bytes)
