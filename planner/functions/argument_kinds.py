"""Kinds of arguments. A signature names a kind in the place of a type, so that literals are checked."""

from __future__ import annotations

import msgspec

from penstock.planner.types import BOOLEAN, INT, STRING, Simple


class Kind(msgspec.Struct, frozen=True):
    """A type whose values have a special meaning, such as the format of a time."""

    name: str
    type: Simple
    noun: str
    """Its name in messages."""
    literal: bool = False
    """Whether Spark accepts only a constant."""


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("REGEX", STRING, "a regular expression"),
        Kind("GROUPED_REGEX", STRING, "a regular expression with a group"),
        Kind("REPLACEMENT", STRING, "the replacement of a match"),
        Kind("GROUP", INT, "the number of a group"),
        Kind("LIKE", STRING, "a pattern"),
        Kind("TIME_FORMAT", STRING, "the format of a time"),
        Kind("TIME_PATTERN", STRING, "the pattern of a time"),
        Kind("NUMBER_FORMAT", STRING, "the format of a number", literal=True),
        Kind("PRINT_FORMAT", STRING, "a format"),
        Kind("ZONE", STRING, "a time zone"),
        Kind("CHARSET", STRING, "a character set"),
        Kind("TIME_UNIT", STRING, "a unit of time"),
        Kind("CLOCK_UNIT", STRING, "a unit of a time of the day", literal=True),
        Kind("DATE_UNIT", STRING, "a unit of dates"),
        Kind("TIME_PART", STRING, "a part of a time", literal=True),
        Kind("SCHEMA", STRING, "a schema", literal=True),
        Kind("FLAT_SCHEMA", STRING, "a schema of columns", literal=True),
        Kind("WEEKDAY", STRING, "a weekday"),
        Kind("LETTER", STRING, "one character", literal=True),
        Kind("FLAG", BOOLEAN, "a direction", literal=True),
        Kind("POSITION", INT, "a position"),
        Kind("SEPARATOR", STRING, "a separator", literal=True),
        Kind("TOP", INT, "a number of values", literal=True),
    )
}
