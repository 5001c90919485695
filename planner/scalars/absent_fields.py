"""Fields and elements of values that have none -> the function that reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from penstock.parser import string_text
from penstock.planner.scalars.literals import bare, whole_number
from penstock.planner.scalars.typed import Typed
from penstock.planner.types import DATE, STRING, TIMESTAMP

_PARTS = ("YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def propose_field(node: exp.Expression, value: Typed, fields: Sequence[str]) -> str | None:
    """What reads a field of a text of JSON, or a part of a time; None for other values.

    `fields`: the names that stand behind the value. It does not have the first one.
    """
    whole = node.meta["span"].text if "span" in node.meta else ""
    names = whole.split(".")
    written = ".".join(names[: -len(fields)])
    if [each.strip('`"') for each in names[-len(fields) :]] != [*fields] or not written:
        return None
    if value.type == STRING:
        return f"GET_JSON_OBJECT({written}, {string_text('$' + ''.join(map(_step, fields)))})"
    is_part = value.type in (DATE, TIMESTAMP) and len(fields) == 1 and fields[0].upper() in _PARTS
    return f"{fields[0].upper()}({written})" if is_part else None


def propose_element(container: Typed, indices: Sequence[Typed]) -> str | None:
    """What reads a field or an element of a text of JSON by a literal; None for other values."""
    index = bare(indices[0].expression) if len(indices) == 1 else None
    if container.type != STRING or container.span is None or not isinstance(index, exp.Literal):
        return None
    number = whole_number(index)
    if not index.is_string and number is None:
        return None
    path = _step(index.name) if index.is_string else f"[{number}]"
    return f"GET_JSON_OBJECT({container.span.text}, {string_text('$' + path)})"


def _step(name: str) -> str:
    return f".{name}" if _PLAIN.fullmatch(name) else f"['{name}']"
