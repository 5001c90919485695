"""What beginners type instead of a right script: one slip each, drawn by chance."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

Change = Callable[[re.Match[str], Random], str]

_WORDS = ("group", "from", "select", "where", "order", "join", "on")
_TYPES = ("datetime", "int64", "float64", "varchar2(10)", "number(10, 2)", "json", "object", "str", "uint32", "list")
_CALLS = (
    "STRFTIME",
    "JSON_EXTRACT",
    "IIF",
    "GETDATE",
    "ISNULL",
    "TO_CHAR",
    "CONVERT",
    "LEN",
    "DATEPART",
    "SUMIF",
    "RLIKE",
)
_QUOTES = ('"{}"', "`{}`", "\u2018{}\u2019", "\u201c{}\u201d", "{}", "'{}\u2019")
_UNITS = ("{} {}s", "{}{}", "{} {}")
_SIGNS = {"-": "\u2013", ">=": "\u2265", "<>": "\u2260", ",": "\uff0c", ";": "\uff1b", "(": "\uff08"}

# Where a slip may be made, and what it makes of it.
SLIPS: tuple[tuple[str, Change], ...] = (
    (r";(?=\s*\w)", lambda found, chance: " "),
    (r"\s+(?=FROM\b|WHERE\b|HAVING\b|GROUP BY\b|ORDER BY\b)", lambda found, chance: ", "),
    (r"\s*(?=\)|;|$)", lambda found, chance: ","),
    (r",", lambda found, chance: chance.choice(("", ",,"))),
    (r"'([^'\n]*)'", lambda found, chance: chance.choice(_QUOTES).format(found[1])),
    (r"INTERVAL '(\d+)' (\w+)", lambda found, chance: f"'{chance.choice(_UNITS).format(found[1], found[2].lower())}'"),
    (r"INTERVAL '(\d+)' \w+", lambda found, chance: found[1]),
    (r"WATERMARK FOR", lambda found, chance: chance.choice(("WATERMARK", "WATERMARK ON", "WATERMARK OF"))),
    (r"(WATERMARK FOR \w+) AS (\w+)", lambda found, chance: chance.choice((found[1], f"{found[1]} DELAY", found[2]))),
    (r"WATERMARK FOR \w+ AS", lambda found, chance: "WATERMARK AS"),
    (r"\b(ARRAY|MAP|STRUCT)<([^<>]+)>", lambda found, chance: f"{found[1]}({found[2]})"),
    (r"\bAS \w+", lambda found, chance: f"AS {chance.choice(_WORDS)}"),
    (r"\bHAVING\b", lambda found, chance: "WHERE"),
    (r"\bWHERE\b", lambda found, chance: chance.choice(("HAVING", "WHERE COUNT(*) > 1 AND", "FROM orders WHERE"))),
    (r"\b(STRING|BIGINT|INT|DOUBLE|TIMESTAMP|DECIMAL\(\d+, \d+\))", lambda found, chance: chance.choice(_TYPES)),
    (r"\b(STRING|BIGINT|INT|DOUBLE|TIMESTAMP)\b", lambda found, chance: chance.choice(("STRING", "BIGINT", "DATE"))),
    (r"\b[A-Z_]{3,}(?=\()", lambda found, chance: chance.choice(_CALLS)),
    (r"\bFROM (\w+)(?=\s*(;|WHERE|GROUP|$))", lambda found, chance: f"FROM {found[1]} o"),
    (r"\bGROUP BY [^,;()]+,", lambda found, chance: "GROUP BY"),
    (r"\bSELECT( STREAM)?", lambda found, chance: f"{found[0]} {chance.choice(('TOP 10', ',', 'id,'))}"),
    (r"(?<= )(\w+)\.(\w+)", lambda found, chance: f"{found[1]}.{found[2]}.{chance.choice(('user', 'hour', 'a[0]'))}"),
    (r"(?<=[a-z]) (?=[=<>])", lambda found, chance: chance.choice((" = lamp AND a ", " > 'abc' AND a ", "->>'a' "))),
    (r">=|<>|[-,;(]", lambda found, chance: _SIGNS[found[0]]),
)


def make_slip(text: str, chance: Random) -> str:
    """The text with one slip, or as it is where it has no place for it."""
    pattern, change = chance.choice(SLIPS)
    places = [*re.finditer(pattern, text)]
    if not places:
        return text
    found = chance.choice(places)
    return text[: found.start()] + change(found, chance) + text[found.end() :]
