"""Calls and literals of Python as text, in lines that people read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.planner.plan import SecretOption

WIDTH = 120


@dataclass(frozen=True, slots=True)
class Brackets:
    """What stands between two brackets, divided by commas. `fills`: as many items in a line as there is room for."""

    opening: str
    items: tuple[str | Brackets, ...]
    closing: str
    fills: bool = True

    def __str__(self) -> str:
        return f"{self.opening}{', '.join(map(str, self.items))}{self.closing}"


def lay_out(node: str | Brackets, indent: int = 0, room: int = 0) -> str:
    """The text. It stands `indent` spaces from the left; `room`: how many characters follow in its last line."""
    flat = str(node)
    if isinstance(node, str) or indent + len(flat) + room <= WIDTH:
        return flat
    inner = indent + 4
    lines: list[str] = []
    for each in node.items:
        text = lay_out(each, inner, 1)
        is_short = node.fills and "\n" not in text
        if lines and is_short and "\n" not in lines[-1] and inner + len(f"{lines[-1]} {text},") <= WIDTH:
            lines[-1] += f" {text},"
        else:
            lines.append(f"{text},")
    return "\n".join([node.opening, *(" " * inner + each for each in lines), " " * indent + node.closing])


def write_call(function: str, arguments: Sequence[str | Brackets], **keywords: Any) -> str:
    """A call. `keywords`: by their names the values of further arguments."""
    named = [name_value(name, value) for name, value in keywords.items()]
    return lay_out(Brackets(f"{function}(", (*arguments, *named), ")"))


def name_value(name: str, value: Any) -> str | Brackets:
    """An argument with its name."""
    written = write_value(value)
    if isinstance(written, str):
        return f"{name}={written}"
    return Brackets(f"{name}={written.opening}", written.items, written.closing, written.fills)


def write_value(value: Any) -> str | Brackets:
    """A value as a literal. A secret is named: it is read where a connection is made."""
    match value:
        case str():
            return write_text(value)
        case SecretOption():
            return f"SecretOption({write_text(value.kind)}, {write_text(value.name)})"
        case Mapping():
            items = (prefix_value(f"{write_text(str(key))}: ", each) for key, each in value.items())
            return Brackets("{", tuple(items), "}")
        case tuple() | list():
            return Brackets("[", tuple(map(write_value, value)), "]")
        case _:
            return repr(value)


def prefix_value(prefix: str, value: Any) -> str | Brackets:
    """A value behind a text."""
    written = write_value(value)
    if isinstance(written, str):
        return prefix + written
    return Brackets(prefix + written.opening, written.items, written.closing, written.fills)


def write_text(value: str) -> str:
    """A literal in double quotes where that needs no escapes."""
    plain = value.isprintable() and not any(char in value for char in '"\\')
    return f'"{value}"' if plain else ascii(value)
