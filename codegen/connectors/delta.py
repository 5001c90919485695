"""Tables of Delta Lake: what the library that writes them is told, here and in ejected programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.codegen.connectors.call_texts import leave_out, write_call, write_keywords
from penstock.codegen.program import Input, QueryOutput, SparkQuery
from penstock.codegen.python_literals import literal
from penstock.planner.connectors.delta import SECRET_OPTIONS, list_partition_columns, read_storage_options


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


def write(query: SparkQuery) -> str:
    """A call of `change_table`."""
    given = list_delta_arguments(query)
    target = write_call("DeltaTarget", write_keywords(given.target))
    policy = write_call("DeltaPolicy", write_keywords(given.policy))
    by_key = [] if query.change is None else ["by_key=True"]
    writer = write_call("DeltaWriter", [target, literal(query.name), policy, *by_key])
    changes = write_call("RowsToDelta", write_keywords(given.changes))
    return write_call("change_table", ["rows", writer, changes, literal(LEDGER_SINK), "checkpoint"])


LEDGER_SINK = "rows"
"""What the ledger calls the table, which it lies in."""
