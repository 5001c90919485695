"""Names that mean something to SQL, URLs, formats, terminals or pages, drawn from a seed."""

from __future__ import annotations

import random

PIECES = (
    *("%", "%%", "%s", "%(x)s", "%d", "{}", "{0}", "{x", "$1", "$$", "$penstock$", ":x", "::", "?", "@p"),
    *("'", "''", '"', '""', "\\", "\\\\", "\\n", "\\N", "\\u0041", "`", "``", "[", "]"),
    *(" ", "  ", "\t", "\n", "\r\n", "\x01", "\x1b[31m", "\x07", "\x7f", "\u0085", "\u2028", "\u202e", "\ufeff"),
    *("é", "e\u0301", "ß", "İ", "ǅ", "日本", "🙂", "Ω", "a", "B", "_", "0"),
    *(";", "--", "/*", "*/", "<script>", "&amp;", "&", "=", "+", "#", "/", "~", "*", "(", ")", ",", "|"),
    *("select", "order", "user", "table", "null", "true", "x", "n", "key", "penstock_row"),
)
LONGEST = 63
"""Bytes of a name in PostgreSQL."""


def draw_name(draw: random.Random, longest: int = LONGEST) -> str:
    """A name of one to five pieces, sometimes as long as it may be."""
    count = 40 if draw.random() < 0.1 else draw.randint(1, 5)
    name = ""
    for piece in draw.choices(PIECES, k=count):
        if len((name + piece).encode()) <= longest:
            name += piece
    return name or "%"


def draw_names(draw: random.Random, count: int, longest: int = LONGEST) -> list[str]:
    """Names that differ without regard to case."""
    found: dict[str, str] = {}
    while len(found) < count:
        name = draw_name(draw, longest)
        found.setdefault(name.lower().casefold(), name)
    return list(found.values())
