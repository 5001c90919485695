"""Tables of databases: what the library that writes them is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from penstock.codegen.connectors.defaults import leave_out
from penstock.codegen.program import Input, QueryOutput, RemoteView, SparkQuery


@dataclass(frozen=True, slots=True)
class TableArguments:
    """The arguments of `Address`, `TargetTable`, `WritePolicy` and `RowsToTable`, by their names."""

    address: dict[str, Any]
    """`password` is a SecretOption."""
    table: dict[str, Any]
    policy: dict[str, Any]
    changes: dict[str, Any]
    sums: dict[str, Any]
    """The arguments of `UpdateSums`, empty if the change adds nothing."""


@dataclass(frozen=True, slots=True)
class FindArguments:
    """The arguments of `Address`, `TargetTable`, `FindPolicy` and `LookupRows`, by their names."""

    address: dict[str, Any]
    table: dict[str, Any]
    policy: dict[str, Any]
    rows: dict[str, Any]


def list_arguments(query: SparkQuery) -> TableArguments:
    """What a query that changes a table says of it; values that are the library's own defaults are left out."""
    values, change = query.output.values, query.change
    assert change is not None, "the planner says how rows change the table"
    table = {
        "name": values["table"],
        "columns": change.table,
        "key": change.key,
        "create": values["create"] == "if_missing",
    }
    policy = {
        **list_tries(query.output),
        "rate_limit": values.get("rate_limit"),
        "max_rejected": values["max_rejected"],
    }
    changes = {
        "kind": change.kind,
        "key": change.key,
        "order": change.order,
        "operation": change.operation,
        "assigned": change.assigned,
        "inserted": change.inserted,
        "current": change.current,
        "fold": change.fold,
        "view": f"{query.name}_updates" if change.fold is not None else None,
        "complete": values.get("batch_mode") == "complete",
        "fails": values["on_missing"] == "fail",
    }
    sums = {} if change.sums is None else leave_out(msgspec.structs.asdict(change.sums))
    return TableArguments(list_address(query.output), leave_out(table), leave_out(policy), leave_out(changes), sums)


def list_find_arguments(view: RemoteView) -> FindArguments:
    """What a view that looks rows up says of the table."""
    values = view.values
    table = {
        "name": values["table"],
        "columns": view.columns,
        "key": tuple(column for column, _ in view.key),
        "create": values["create"] == "if_missing",
    }
    policy = {**list_tries(view), "cache_ttl_ms": values.get("cache_ttl"), "cache_size": values["cache_size"]}
    rows = {"key": view.key, "picked": view.picked, "outer": view.outer}
    if view.any_row is not None:
        rows["any_row"] = view.any_row
    return FindArguments(list_address(view), leave_out(table), leave_out(policy), rows)


def list_address(place: QueryOutput | RemoteView | Input, dialect: str | None = None) -> dict[str, Any]:
    """The arguments of `Address`; `password` is a SecretOption. `dialect`: the connector's name unless given."""
    values = place.values
    return leave_out(
        {
            "dialect": dialect or place.connector,
            "url": values.get("url", values.get("path")),
            "password": values.get("password"),
            "connect_timeout": to_seconds(place.number("connect_timeout")),
            "statement_timeout": to_seconds(place.number("statement_timeout")),
        }
    )


def list_tries(place: QueryOutput | RemoteView | Input) -> dict[str, Any]:
    """How many rows a statement has, and how often it is tried."""
    values = place.values
    return {
        "batch_size": values["batch_size"],
        "attempts": values["retry_attempts"],
        "backoff_ms": values["retry_backoff"],
        "max_delay_ms": values["retry_max_delay"],
    }


def to_seconds(milliseconds: int) -> int:
    """The time in whole seconds, at least one."""
    return max(1, -(-milliseconds // 1000))
