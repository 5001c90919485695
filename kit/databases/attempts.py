"""A connection that is made anew when it is lost, and transactions on it."""

from collections.abc import Callable
from dataclasses import replace

import sqlalchemy as sa

from penstock.kit.databases.address import connect_database
from penstock.kit.databases.faults import FAULT_HINTS, TableError
from penstock.kit.databases.operations import raw_cursor
from penstock.kit.databases.retries import (
    Result,
    RetryCounters,
    RetryPolicy,
    TransientError,
    run_attempts,
)
from penstock.kit.databases.spark_types import quote_identifier
from penstock.kit.databases.target_table import TargetTable


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
        return run_attempts(
            lambda: self._attempt(action), self._table.place, self._policy, self._counters, self._on_retry
        )

    def close(self) -> None:
        """Closes the connection."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            self._table.address.engine.release(connection)
        finally:
            # Not only closed: that would ask a server that may be away to roll back.
            connection.invalidate()
            connection.close()

    def _attempt(self, action: Callable[[sa.Connection], Result]) -> Result:
        address = self._table.address
        try:
            if self._connection is None or address.engine.is_replaced(address, self._connection):
                self.close()
                create = self._table.create and not self._read_only
                self._connection = connect_database(address, create, read_only=self._read_only)
            # SQLAlchemy commits what it has begun. It does not see what a cursor of the driver begins.
            self._connection.begin()
            result = action(self._connection)
            self._connection.commit()
        except BaseException as error:
            self.close()
            fault = address.engine.find_fault(error)
            if fault is None:
                raise
            if fault.is_lock:
                fault = replace(fault, text=f"{fault.text}{self._name_holders()}")
            if fault.action == "retry":
                raise TransientError(fault) from None
            message = f"{self._table.place}: {fault.text}"
            raise TableError(fault.kind, message, FAULT_HINTS.get(fault.kind)) from None
        if not address.engine.keeps_connections:
            self.close()
        return result

    def _name_holders(self) -> str:
        """Who holds locks on the tables that a transaction writes, behind a colon; empty if unknown."""
        table = self._table
        schema = f"{quote_identifier(table.schema)}." if table.schema else ""
        try:
            connection = connect_database(table.address, False, read_only=True)
        except (sa.exc.SQLAlchemyError, TableError):
            return ""
        try:
            tables = [table.quoted_name, f"{schema}penstock_ledger"]
            held = table.address.engine.describe_holders(raw_cursor(connection), tables)
        finally:
            connection.invalidate()
            connection.close()
        return f": {held}" if held else ""
