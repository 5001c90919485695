"""Tables of databases: what the library that writes them is told, here and in ejected programs."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent
from typing import Any

from penstock.codegen.literals import literal, option_literal, sql_literal
from penstock.codegen.program import Input, QueryOutput, RemoteView, SparkQuery
from penstock.planner.plan import SecretOption


@dataclass(frozen=True, slots=True)
class TableArguments:
    """The arguments of `Address`, `TargetTable`, `WritePolicy` and `RowsToTable`, by their names."""

    address: dict[str, Any]
    """`password` is a SecretOption."""
    table: dict[str, Any]
    policy: dict[str, Any]
    changes: dict[str, Any]


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
    return TableArguments(list_address(query.output), _leave_out(table), _leave_out(policy), _leave_out(changes))


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
    return FindArguments(list_address(view), _leave_out(table), _leave_out(policy), rows)


def list_address(place: QueryOutput | RemoteView | Input) -> dict[str, Any]:
    """The arguments of `Address`; `password` is a SecretOption."""
    values = place.values
    return _leave_out(
        {
            "dialect": place.connector,
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


def write(query: SparkQuery) -> str:
    """A call of `change_table`."""
    given = list_arguments(query)
    address = _call("Address", _keywords(given.address))
    table = _call("TargetTable", [address, *_keywords(given.table)])
    writer = _call("TableWriter", [table, literal(query.name), _call("WritePolicy", _keywords(given.policy))])
    changes = _call("RowsToTable", _keywords(given.changes))
    return _call("change_table", ["rows", writer, changes, literal(str(given.table["name"])), "checkpoint"])


def look_up(view: RemoteView) -> str:
    """A call of `remote_view`."""
    given = list_find_arguments(view)
    address = _call("Address", _keywords(given.address))
    table = _call("TargetTable", [address, *_keywords(given.table)])
    policy, rows = _call("FindPolicy", _keywords(given.policy)), _call("LookupRows", _keywords(given.rows))
    names = [literal(view.name), literal(view.source)]
    return _call("remote_view", ["spark", *names, table, policy, rows, sql_literal(view.schema)])


def _leave_out(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value not in (None, False, ())}


def _call(function: str, arguments: list[str]) -> str:
    """A call with each argument in lines of its own."""
    return f"{function}(\n" + indent("".join(f"{each},\n" for each in arguments), "    ") + ")"


def _keywords(arguments: dict[str, Any]) -> list[str]:
    return [f"{name}={_literal(value)}" for name, value in arguments.items()]


def _literal(value: Any) -> str:
    match value:
        case str() if "\n" in value:
            return sql_literal(value)
        case str() | SecretOption():
            return option_literal(value)
        case tuple():
            return f"[{', '.join(map(_literal, value))}]"
        case _:
            return str(value)
