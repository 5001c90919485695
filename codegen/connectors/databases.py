"""Tables of databases: what the library that writes them is told, here and in ejected programs."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent
from typing import Any

from penstock.codegen.literals import literal, option_literal, sql_literal
from penstock.codegen.program import SparkQuery
from penstock.planner.plan import SecretOption


@dataclass(frozen=True, slots=True)
class TableArguments:
    """The arguments of `Address`, `TargetTable`, `WritePolicy` and `RowsToTable`, by their names."""

    address: dict[str, Any]
    """`password` is a SecretOption."""
    table: dict[str, Any]
    policy: dict[str, Any]
    changes: dict[str, Any]


def list_arguments(query: SparkQuery) -> TableArguments:
    """What a query that changes a table says of it; values that are the library's own defaults are left out."""
    values, change = query.output.values, query.change
    assert change is not None, "the planner says how rows change the table"
    address = {
        "dialect": query.output.connector,
        "url": values.get("url", values.get("path")),
        "password": values.get("password"),
        "connect_timeout": to_seconds(query.output.number("connect_timeout")),
        "statement_timeout": to_seconds(query.output.number("statement_timeout")),
    }
    table = {
        "name": values["table"],
        "columns": change.table,
        "key": change.key,
        "create": values["create"] == "if_missing",
    }
    policy = {
        "batch_size": values["batch_size"],
        "attempts": values["retry_attempts"],
        "backoff_ms": values["retry_backoff"],
        "max_delay_ms": values["retry_max_delay"],
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
    return TableArguments(_leave_out(address), _leave_out(table), _leave_out(policy), _leave_out(changes))


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
