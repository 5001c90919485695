"""Tables of Delta Lake: what the library that writes them is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.codegen.connectors.defaults import leave_out
from penstock.codegen.program import Input, QueryOutput, SparkQuery
from penstock.planner.connectors.delta_place import SECRET_OPTIONS, list_partition_columns, read_storage_options


@dataclass(frozen=True, slots=True)
class DeltaArguments:
    """The arguments of `DeltaTarget`, `DeltaPolicy` and `RowsToDelta`, by their names."""

    target: dict[str, Any]
    """`secret_key` is a SecretOption."""
    policy: dict[str, Any]
    changes: dict[str, Any]


def list_delta_arguments(query: SparkQuery) -> DeltaArguments:
    """What a query that writes a table says of it."""
    values, change = query.output.values, query.change
    columns = tuple((name, type_, True) for name, type_ in query.output.columns)
    changes: dict[str, Any] = {"kind": "append"}
    if change is not None:
        columns = change.table
        changes = {"kind": change.kind, "key": change.key, "order": change.order, "operation": change.operation}
    target = {
        **list_delta_place(query.output),
        "columns": columns,
        "key": () if change is None else change.key,
        "create": values["create"] == "if_missing",
        "partition_by": tuple(list_partition_columns(query.output.options)),
        "change_feed": bool(values["change_feed"]) or change is None,
    }
    policy = {
        "attempts": values["retry_attempts"],
        "backoff_ms": values["retry_backoff"],
        "max_delay_ms": values["retry_max_delay"],
        "max_rejected": values["max_rejected"],
    }
    return DeltaArguments(leave_out(target), policy, leave_out(changes))


def list_delta_place(place: QueryOutput | Input) -> dict[str, Any]:
    """The arguments of `DeltaTarget` that say where it is; `secret_key` is a SecretOption."""
    values = place.values
    path, secret = str(values["path"]), values.get("secret_key")
    options = read_storage_options(str(values.get("storage_options", "{}")))
    scheme = path.partition(":")[0].lower()
    return leave_out(
        {
            "path": path,
            "storage_options": tuple((options or {}).items()),
            "secret_key": secret,
            "secret_option": None if secret is None else SECRET_OPTIONS.get(scheme, "secret_key"),
        }
    )


LEDGER_SINK = "rows"
"""What the ledger calls the table, which it lies in."""
