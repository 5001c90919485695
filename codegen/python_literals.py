"""Texts -> literals and comments of an ejected program."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.planner.plan import SecretOption, Value


def literal(value: str) -> str:
    """A Python literal in double quotes where that needs no escapes."""
    plain = value.isprintable() and not any(char in value for char in '"\\')
    return f'"{value}"' if plain else repr(value)


def comment_text(value: str) -> str:
    """The text without what could end a comment."""
    return "".join(char if char.isprintable() and char not in '"\\' else "?" for char in value)


def sql_literal(sql: str) -> str:
    """A raw triple-quoted text, or a plain literal where the SQL cannot stand in one."""
    if '"""' in sql or sql.endswith(("\\", '"')) or not all(char.isprintable() or char == "\n" for char in sql):
        return literal(sql)
    return f'r"""\n{sql}\n"""'


def sql_in_line(sql: str) -> str:
    """The same as a literal of one line."""
    return literal(sql) if "\\" not in sql or '"' in sql or not sql.isprintable() else f'r"{sql}"'


def keywords(options: Iterable[tuple[str, Value]]) -> list[str]:
    """Options as keyword arguments."""
    return [f"{name}={option_literal(value)}" for name, value in options]


def option_literal(value: Value) -> str:
    """The value of an option as Python. A secret is read by the program, where it connects."""
    if isinstance(value, SecretOption):
        return f"SecretRef({literal(value.kind)}, {literal(value.name)})"
    return literal(value) if isinstance(value, str) else str(value)
