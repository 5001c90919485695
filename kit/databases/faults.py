"""What is wrong with a database, and what to do about it: try again, set the row aside, or stop."""

from dataclasses import dataclass
from typing import Literal


class TableError(Exception):
    """A table cannot be read or written. The message names the table or the place, and never a secret.

    `kind` is one of: connect, password, missing_database, missing_table, columns, types, key, permission, full,
    timeout, conflict, rejected, other. `hint` says what helps, if that is known.
    """

    def __init__(self, kind: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.kind, self.hint = kind, hint


TABLE_ERROR = "table error "
"""What the text of a LookupError begins with that has a TableError as JSON."""


class FencedError(Exception):
    """Another writer of the same query has taken over. Nothing of the batch was written."""


class DivergedError(Exception):
    """The ledger knows another history than the checkpoint has. Nothing of the batch was written."""


class ConflictError(Exception):
    """Another writer has changed rows since this transaction read them."""


@dataclass(frozen=True, slots=True)
class DatabaseFault:
    """An error of a database: the kind of a TableError, what the database says, and what to do.

    retry: the same transaction may succeed later. refuse: the rows are at fault. stop: neither. is_lock: others hold a
    lock that the transaction needs.
    """

    kind: str
    text: str
    action: Literal["retry", "refuse", "stop"]
    is_lock: bool = False


FAULT_HINTS = {
    "password": "check the user of the URL and the secret that `password` names",
    "missing_database": "create the database, or correct its name in the URL",
    "missing_table": "create the table, or set create = 'if_missing'",
    "permission": "grant SELECT, INSERT, UPDATE and DELETE on the table, and CREATE on its schema for the ledger",
    "full": "free some space",
    "connect": "check that the database runs and can be reached from here",
}
