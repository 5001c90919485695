"""Names and values that break what is printed, quoted or formatted carelessly."""

from __future__ import annotations

from random import Random

PIECES = (
    *("a", "Z", "0", "_", " ", "  ", "é", "e\u0301", "水", "\U0001f600", "\u00df", "\ufe0f"),
    *("%", "%s", "%(a)s", "%d", "%%", "{", "}", "{0}", "{name}", "$1", "${a}", "#", "&", "<b>", "[bold]", "[/]", ":x:"),
    *("'", '"', "`", "''", '""', "``", "\\", "\\n", "\\x1b", "--", "/*", "*/", ";", ",", ".", "(", ")", "|", "?", "="),
    *("\n", "\r", "\t", "\x00", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\x1b[2J", "\x1b]0;t\x07", "\x7f", "\x85"),
    *("\x9b", "\x9b2J", "\xad", "\u200b", "\u200d", "\u200e", "\u2028", "\u2029", "\u202a", "\u202e", "\u2066"),
    *("\u2069", "\ufeff", "\u061c", "\u180e", "\u3164", "\U000e0041", "\U0001d173"),
)


def draw_text(random: Random, longest: int = 6) -> str:
    """A text of a few pieces."""
    return "".join(random.choice(PIECES) for _ in range(random.randint(1, longest)))


def draw_names(random: Random, count: int) -> list[str]:
    """Names of columns or relations, which differ also if case does not count."""
    names: dict[str, str] = {}
    while len(names) < count:
        name = f"c{len(names)}" + draw_text(random, 4) + random.choice("xyz")
        names.setdefault(name.casefold(), name)
    return [*names.values()]


def quote(name: str) -> str:
    """A name as SQL has it."""
    return f"`{name.replace('`', '``')}`"


def literal(value: str) -> str:
    """A text as SQL has it."""
    return "'" + value.replace("'", "''") + "'"
