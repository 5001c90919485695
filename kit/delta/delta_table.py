"""Tables of Delta Lake, through delta-rs: opening, making and checking them, and reading their newest version."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, QueryBuilder, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from penstock.kit.databases.faults import DatabaseFault, TableError
from penstock.kit.databases.retries import TransientError
from penstock.kit.databases.secret_refs import SecretRef
from penstock.kit.databases.spark_types import arrow_type

CHANGE_FEED = "delta.enableChangeDataFeed"
"""The property of a table that keeps what each version inserts and deletes."""
DELTA_HINTS = {
    "missing_table": "create the table, or set create = 'if_missing'",
    "permission": "let the user of this process read and write the folder of the table",
    "full": "free some space",
    "connect": "check the path and the storage_options, and that the store can be reached from here",
}


@dataclass(frozen=True, slots=True)
class DeltaTarget:
    """A table of Delta Lake as a script declares it. There is no secret in it.

    columns: the name of each, the Spark type as text, and whether it may be NULL. key: empty for a table of one row,
    and for rows that are only appended. create: whether a missing table is made, by these partitions. change_feed:
    whether it then keeps a feed of its changes. storage_options: options of an object store. `secret_option` is the
    name of the option that has the secret.
    """

    path: str
    columns: Sequence[tuple[str, str, bool]]
    key: Sequence[str] = ()
    create: bool = False
    partition_by: Sequence[str] = ()
    storage_options: Sequence[tuple[str, str]] = ()
    secret_key: SecretRef | None = None
    secret_option: str = ""
    change_feed: bool = False

    @property
    def uri(self) -> str:
        """The path as delta-rs takes it."""
        local = re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", self.path) is None
        return os.path.abspath(self.path) if local else self.path

    @property
    def place(self) -> str:
        """The table as messages name it."""
        return f"table {self.path} (Delta Lake)"

    def arrow_schema(self) -> pa.Schema:
        """The declared columns as Arrow has them."""
        return pa.schema([pa.field(name, arrow_type(type_), nullable) for name, type_, nullable in self.columns])

    def read_options(self) -> dict[str, str]:
        """The options of the store, with its secret.

        Raises TableError (password) if the secret is not there.
        """
        options = dict(self.storage_options)
        if self.secret_key is not None:
            options[self.secret_option] = self.secret_key.read()
        return options


@contextmanager
def delta_faults(target: DeltaTarget) -> Iterator[None]:
    """Raises TableError or TransientError in place of the errors of delta-rs and of files."""
    try:
        yield
    except (DeltaError, OSError, pa.ArrowInvalid) as error:
        fault = find_delta_fault(error)
        text = hide_secret(target, fault.text)
        if fault.action == "retry":
            raise TransientError(DatabaseFault(fault.kind, text, "retry")) from None
        raise TableError(fault.kind, f"{target.place}: {text}", DELTA_HINTS.get(fault.kind)) from None


def find_delta_fault(error: Exception) -> DatabaseFault:
    """What an error of delta-rs means."""
    plain = re.sub(r"\x1b\[[0-9;]*m|↳", " ", str(error))  # delta-rs writes for terminals
    text = " ".join(plain.partition("Preview of")[0].split())
    if isinstance(error, CommitFailedError):
        return DatabaseFault("conflict", text, "retry")
    known = (
        (r"No space left|os error 28|Disk quota", "full"),
        (r"Permission denied|Read-only file system|os error (13|30)|AccessDenied|Forbidden", "permission"),
        (r"failed validation|Invariant", "rejected"),
        (r"NoSuchBucket|error sending request|\(Connect\)|timed out", "connect"),
    )
    kind = next((kind for pattern, kind in known if re.search(pattern, text)), None)
    kind = kind or ("missing_table" if isinstance(error, TableNotFoundError) else "other")
    return DatabaseFault(kind, text, "stop")


def hide_secret(target: DeltaTarget, text: str) -> str:
    """The text of an error without the secret of the store, should it be there."""
    secret = None if target.secret_key is None else target.secret_key.read()
    return text.replace(secret, "******") if secret else text


def open_delta(target: DeltaTarget) -> DeltaTable | None:
    """The newest version of the table, None if it is missing.

    Raises TableError: it cannot be read.
    """
    options = target.read_options()
    with delta_faults(target):
        if not DeltaTable.is_deltatable(target.uri, options):
            return None
        return DeltaTable(target.uri, storage_options=options)


def provide_delta(target: DeltaTarget) -> DeltaTable:
    """The newest version of the table, which is made if it is missing and `create` says so.

    Raises TableError.
    """
    found = open_delta(target)
    if found is None and target.create:
        with delta_faults(target):
            schema = Schema.from_arrow(target.arrow_schema())
            partitions = list(target.partition_by)
            options = target.read_options()
            properties = {CHANGE_FEED: "true"} if target.change_feed else None
            DeltaTable.create(
                target.uri,
                schema,
                mode="ignore",
                partition_by=partitions,
                configuration=properties,
                storage_options=options,
            )
        found = open_delta(target)
    if found is None:
        raise TableError("missing_table", f"there is no {target.place}", DELTA_HINTS["missing_table"])
    return found


def require_delta(target: DeltaTarget) -> DeltaTable:
    """The newest version of the table. Raises TableError: it is missing, or cannot be read."""
    found = open_delta(target)
    if found is None:
        raise TableError("missing_table", f"there is no {target.place}")
    return found


def check_delta_columns(found: DeltaTable, target: DeltaTarget) -> None:
    """Compares the declared columns with the columns of the table.

    Raises TableError (columns, types) at the first difference.
    """
    fields = {field.name: field for field in found.schema().fields}
    for declared in Schema.from_arrow(target.arrow_schema()).fields:
        field = fields.get(declared.name)
        if field is None:
            raise TableError("columns", f"{target.place} has no column {declared.name}; it has {', '.join(fields)}")
        if field.type != declared.type:
            message = f"column {declared.name} of {target.place} is {field.type}, and it is declared as {declared.type}"
            raise TableError("types", message)


def check_delta(found: DeltaTable, target: DeltaTarget) -> None:
    """Compares the declaration with a table that is written.

    Raises TableError (columns, types, key) at the first difference that would lose or change values.
    """
    check_delta_columns(found, target)
    names = {name for name, _, _ in target.columns}
    for field in found.schema().fields:
        if not field.nullable and field.name not in names:
            message = f"column {field.name} of {target.place} is NOT NULL and is not declared"
            raise TableError("columns", message, f"declare the column {field.name}")
    partitions = found.metadata().partition_columns
    if target.partition_by and partitions != list(target.partition_by):
        raise TableError("columns", f"{target.place} has the partition columns {', '.join(partitions) or 'none'}")


def check_delta_rows(found: DeltaTable, target: DeltaTarget) -> None:
    """Whether a table that is changed by its key can be, and has each key once. It reads the keys.

    Raises TableError (key).
    """
    if found.metadata().configuration.get("delta.appendOnly") == "true":
        raise TableError("key", f"{target.place} takes new rows only: it has the property delta.appendOnly")
    key = ", ".join('"' + name.replace('"', '""') + '"' for name in target.key)
    having = f"GROUP BY {key} HAVING count(*) > 1" if key else "HAVING count(*) > 1"
    with delta_faults(target):
        asked = f"SELECT count(*) AS n FROM t {having} LIMIT 1"
        if pa.table(QueryBuilder().register("t", found).execute(asked)).num_rows:
            what = f"several rows of one key ({', '.join(target.key)})" if key else "more than one row"
            raise TableError("key", f"{target.place} has {what}")


def read_delta(target: DeltaTarget) -> tuple[pa.Table, int]:
    """The declared columns of the rows of the newest version, and the number of that version.

    Raises TableError: it is missing, or not as it is declared, or cannot be read.
    """
    found = require_delta(target)
    check_delta_columns(found, target)
    schema = pa.schema([field.with_nullable(True) for field in target.arrow_schema()])
    with delta_faults(target):
        return pa.table(found.scan(columns=schema.names)).select(schema.names).cast(schema), found.version()


def describe_commit(numbers: dict[str, int], notes: dict[str, object]) -> CommitProperties:
    """What a commit has beside the rows: application transactions by their identifiers, and notes for people."""
    transactions = [Transaction(name, number) for name, number in numbers.items()]
    return CommitProperties(custom_metadata={"penstock": notes}, app_transactions=transactions)
