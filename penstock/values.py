"""Values of rows -> what JSON and CSV have for them."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any


def to_json(value: Any) -> Any:
    """The value as JSON has it. DECIMAL is text, so that no digit is lost; times are in UTC, as in files."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value).replace("nan", "NaN").replace("inf", "Infinity")
        case datetime():
            return value.strftime("%Y-%m-%dT%H:%M:%S.%f") + ("" if value.tzinfo is None else "Z")
        case bytes():
            return base64.b64encode(value).decode()
        case Mapping():
            return {str(to_json(key)): to_json(each) for key, each in value.items()}
        case list() | tuple():
            return [to_json(each) for each in value]
        case _:
            return str(value)


def to_csv(value: Any) -> Any:
    """The value as CSV has it: NULL is empty, what has parts is JSON."""
    simple = to_json(value)
    if isinstance(simple, bool | dict | list):
        return json.dumps(simple, ensure_ascii=False)
    return simple
