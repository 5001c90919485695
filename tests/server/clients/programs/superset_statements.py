"""What Superset sends for each text of a list that it reads as JSON: the text, or null if it refuses it."""

from __future__ import annotations

import json
import logging
import sys

from superset.exceptions import SupersetParseError
from superset.sql.parse import SQLScript

logging.disable(logging.CRITICAL)
LIMIT = 101


def send(text: str) -> list[str] | None:
    """The statements that SQL Lab makes of a text, each with the limit that it adds to queries."""
    try:
        script = SQLScript(text, "postgresql")
    except SupersetParseError:
        return None
    for statement in script.statements:
        statement.set_limit_value(LIMIT)
    return [statement.format() for statement in script.statements]


if __name__ == "__main__":
    json.dump([send(text) for text in json.load(sys.stdin)], sys.stdout)
