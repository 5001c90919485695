"""Statements -> what EXPLAIN AST prints: a tree of the nodes, one field per line, scalars as SQL."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec
from sqlglot import exp

from penstock.diagnostics import redact_value
from penstock.parser.ast import Duration, Name, Option, Statement
from penstock.parser.unparse import unparse
from penstock.parser.unparse_queries import duration_text


def ast_text(statement: Statement) -> str:
    """An indented tree. Fields that are not set, and places in the text, are left out."""
    lines: list[str] = []
    # What is still to be printed, the next one last: how deep, after what label, which value.
    open_values: list[tuple[int, str, Any]] = [(0, "", statement)]
    while open_values:
        depth, label, value = open_values.pop()
        leaf = _leaf(value)
        if leaf is not None:
            lines.append("  " * depth + label + leaf)
        elif isinstance(value, tuple):
            lines.append("  " * depth + label.rstrip())
            open_values.extend((depth + 1, "", part) for part in reversed(value))
        else:
            lines.append("  " * depth + label + type(value).__name__)
            shown = [(name, _part(value, name)) for name in value.__struct_fields__ if name != "span"]
            open_values.extend(
                (depth + 1, f"{name}: ", part) for name, part in reversed(shown) if part not in (None, False, ())
            )
    return "\n".join(lines)


def _part(node: Any, field: str) -> Any:
    """A field of a node; the value of an option as it may be shown."""
    part = getattr(node, field)
    return redact_value(node.name.text, unparse(part)) if isinstance(node, Option) and field == "value" else part


def _leaf(value: Any) -> str | None:
    """A value that is printed in one line, or None if it has parts."""
    match value:
        case exp.Expression():
            return unparse(value)
        case Name():
            return value.text
        case Duration():
            return duration_text(value)
        case Enum():
            return str(value.value)
        case True:
            return "true"
        case tuple():
            return None
        case _:
            return None if isinstance(value, msgspec.Struct) else str(value)
