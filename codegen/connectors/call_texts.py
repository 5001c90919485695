"""Calls of functions and classes with many arguments, as text of Python."""

from __future__ import annotations

from textwrap import indent
from typing import Any

from penstock.codegen.python_literals import option_literal, sql_literal
from penstock.planner.plan import SecretOption


def leave_out(arguments: dict[str, Any]) -> dict[str, Any]:
    """Drops arguments that are equal to their defaults."""
    return {name: value for name, value in arguments.items() if value not in (None, False, ())}


def write_call(function: str, arguments: list[str]) -> str:
    """A call with each argument in lines of its own."""
    return f"{function}(\n" + indent("".join(f"{each},\n" for each in arguments), "    ") + ")"


def write_keywords(arguments: dict[str, Any]) -> list[str]:
    """The arguments of a call by their names."""
    return [f"{name}={write_literal(value)}" for name, value in arguments.items()]


def write_literal(value: Any) -> str:
    """A value as Python writes it."""
    match value:
        case str() if "\n" in value:
            return sql_literal(value)
        case str() | SecretOption():
            return option_literal(value)
        case tuple():
            return f"[{', '.join(map(write_literal, value))}]"
        case _:
            return str(value)
