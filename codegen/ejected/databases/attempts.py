"""A connection that is made anew when it is lost, and transactions that are begun again while that may help."""

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

import sqlalchemy as sa
import tenacity

from penstock.codegen.ejected.databases.address import connect_database, is_replaced
from penstock.codegen.ejected.databases.faults import FAULT_HINTS, DatabaseFault, TableError, find_fault
from penstock.codegen.ejected.databases.table import TargetTable

Result = TypeVar("Result")


class RetryPolicy(Protocol):
    """How often a transaction is tried. The pauses between grow from backoff_ms to max_delay_ms, with jitter."""

    @property
    def attempts(self) -> int: ...

    @property
    def backoff_ms(self) -> int: ...

    @property
    def max_delay_ms(self) -> int: ...


class RetryCounters(Protocol):
    """Repeated attempts, transactions that failed for good, and the time from a first failure to the end."""

    retries: int
    failures: int
    seconds_retrying: float


class TransientError(Exception):
    """A transaction has failed for a reason that may pass."""

    def __init__(self, fault: DatabaseFault) -> None:
        super().__init__(fault.text)
        self.fault = fault


class TableConnection:
    """The connection to the database of a table. To be used by one thread at a time.

    `on_retry` is called before each pause with what has failed; an exception of it ends the attempts. `read_only`:
    nothing is written, so that others are not locked out.
    """

    def __init__(
        self,
        table: TargetTable,
        policy: RetryPolicy,
        counters: RetryCounters,
        on_retry: Callable[[str], None] | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        self._table, self._policy, self._counters = table, policy, counters
        self._on_retry, self._read_only = on_retry, read_only
        self._connection: sa.Connection | None = None

    def run(self, action: Callable[[sa.Connection], Result]) -> Result:
        """What an action gives, in a transaction that is begun again while it fails for reasons that may pass.

        Raises TableError.
        """
        policy, counters, failed_at = self._policy, self._counters, 0.0

        def note(state: tenacity.RetryCallState) -> None:
            nonlocal failed_at
            failed_at = failed_at or time.monotonic()
            counters.retries += 1
            if self._on_retry is not None and state.outcome is not None:
                self._on_retry(f"{self._table.place}: {state.outcome.exception()}")

        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(policy.attempts),
            wait=tenacity.wait_random_exponential(policy.backoff_ms / 1000, max=policy.max_delay_ms / 1000),
            retry=tenacity.retry_if_exception_type(TransientError),
            before_sleep=note,
            reraise=True,
        )
        try:
            result: Result = retrying(self._attempt, action)
            return result
        except TransientError as error:
            counters.failures += 1
            fault = error.fault
            message = f"{self._table.place}: {fault.text} ({policy.attempts} attempts)"
            raise TableError(fault.kind, message, FAULT_HINTS.get(fault.kind)) from None
        except BaseException:
            counters.failures += 1
            raise
        finally:
            if failed_at:
                counters.seconds_retrying += time.monotonic() - failed_at

    def close(self) -> None:
        """Closes the connection."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if self._table.address.dialect == "sqlite" and not connection.invalidated:
                # A statement that an exception's traceback still knows keeps a closed connection, and its lock.
                connection.connection.rollback()
        finally:
            # Not only closed: that would ask a server that may be away to roll back.
            connection.invalidate()
            connection.close()

    def _attempt(self, action: Callable[[sa.Connection], Result]) -> Result:
        address = self._table.address
        try:
            if self._connection is None or is_replaced(address, self._connection):
                self.close()
                create = self._table.create and not self._read_only
                self._connection = connect_database(address, create, read_only=self._read_only)
            # SQLAlchemy commits what it has begun. It does not see what a cursor of the driver begins.
            self._connection.begin()
            result = action(self._connection)
            self._connection.commit()
        except BaseException as error:
            self.close()
            fault = find_fault(address.dialect, error)
            if fault is None:
                raise
            if fault.action == "retry":
                raise TransientError(fault) from None
            message = f"{self._table.place}: {fault.text}"
            raise TableError(fault.kind, message, FAULT_HINTS.get(fault.kind)) from None
        if address.dialect == "duckdb":
            # No other process can open the file meanwhile.
            self.close()
        return result
