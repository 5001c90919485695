"""Random literals for arguments that take only some values. What `check` lets through, Spark has to take."""

from __future__ import annotations

from random import Random

from sqlglot import exp

from penstock.parser import unparse as written

# Pieces of regular expressions of which the compiler knows all; Java alone knows whether \k<n>, && or (?x) fit.
REGEX = [*"ab01*+?|()[]{}^$.-,", *("(?:", "(?i)", "(?=", "(?<=", "(?<n>", "(?P<n>", "[^", "[a-z]", "[z-a]")]
REGEX += ["{2}", "{2,1}", "{,3}", "{1,}", r"\d", r"\Q*\E", r"\p{L}", r"\pL", r"\x41", r"\y", r"\\", r"\."]
TIMES = "GyDMLdQqEFahkKHmsSVzOXxZ"  # other letters are refused
_KNOWN = {
    "REGEX": ("[a-c]+", "^a", r"(\w)(\d*)", "a|b", "", r"[\[\]]", "a{1,2}?"),
    "REPLACEMENT": ("", "z", "$0", r"\$", r"a\\b"),
    "LIKE": ("a%", "_", r"\%", r"\\", "", "%a_"),
    "TIME_FORMAT": ("yyyy-MM-dd HH:mm:ss.SSS", "G y", "'at' h a", "D", "QQQ", "EEEE", "XXX", "VV", "[HH][mm]"),
    "ZONE": ("UTC", "Asia/Seoul", "America/New_York", "+9", "-03:30", "GMT+5", "EST", "Z", "UTC-18:00"),
    "CHARSET": ("UTF-8", "utf-16", "ISO-8859-1", "us-ascii", "UTF-32"),
    "NUMBER_FORMAT": ("999,999,999.99", "S0000000000.00", "$99999999999.9", "MI99999999999999D99"),
    "TIME_UNIT": ("MICROSECOND", "second", "Hour", "DD", "WEEK", "mon", "QUARTER", "YYYY"),
    "CLOCK_UNIT": ("HOUR", "minute", "Second", "MILLISECOND", "MICROSECOND"),
    "DATE_UNIT": ("WEEK", "mm", "quarter", "YEAR"),
    "WEEKDAY": ("MO", "tue", "Saturday"),
    "PRINT_FORMAT": ("%s|%05d|%b|%.2f", "%4$e %1$10s", "%%%n%s", "%s %x %s %g"),
    "LETTER": ("X", "é", "'"),
}
_PIECES = {
    "REGEX": REGEX,
    "REPLACEMENT": ["$", "\\", "1", "0", "a", "{"],
    "LIKE": ["%", "_", "\\", "a"],
    "TIME_FORMAT": [*TIMES, "yyyy", "MM", "HH", "SSS", "'", "[", "]", "{", "-", "YYYY", "w", "n", "yyyyyyy"],
    "ZONE": ["+", "-", "1", "9", ":", "00", "UTC", "GMT", "Z", "Mars"],
    "NUMBER_FORMAT": ["9", "0", ",", ".", "S", "MI", "$", "x", "G", "PR", "D"],
    "PRINT_FORMAT": ["%s", "%d", "%f", "%", "%5$s", "%y", "%%", "%2$d"],
}


def literal(chance: Random, kind: str) -> str:
    """A text of a kind, in quotes: mostly one that is right."""
    pieces = _PIECES.get(kind)
    if pieces is None or chance.random() < 0.75:
        value = chance.choice(_KNOWN[kind])
    else:
        value = "".join(chance.choice(pieces) for _ in range(chance.randint(1, 4)))
    return written(exp.Literal.string(value))
