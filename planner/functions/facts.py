"""Facts about functions that are one of several choices: how they are computed over frames, retracted, evaluated."""

from __future__ import annotations

from enum import Enum, auto
from typing import assert_never

import msgspec


class FrameReading(Enum):
    """What a function reads of a frame."""

    ALL = auto()
    """All rows, in whatever order."""
    BEST = auto()
    """The least or greatest value."""
    BEST_BY = auto()
    """A value of the row with the least or greatest other value."""
    EDGE = auto()
    """The first or the last row."""
    AWAY = auto()
    """The row that is a number of rows away."""
    PLACE = auto()
    """The place of the row among the others."""


class Framing(Enum):
    """How a function is computed over the rows of a frame."""

    SAME = auto()
    """DuckDB's function of the same name gives the same values."""
    COUNT = auto()
    COUNT_IF = auto()
    SUM = auto()
    MEAN = auto()
    MIN = auto()
    MAX = auto()
    VAR_POP = auto()
    STDDEV_POP = auto()
    MIN_BY = auto()
    MAX_BY = auto()
    FIRST = auto()
    """The argument in the first row of the frame."""
    LAST = auto()
    LAG = auto()
    LEAD = auto()
    ROW_NUMBER = auto()
    RANK = auto()
    DENSE_RANK = auto()

    @property
    def reading(self) -> FrameReading:
        """What it reads of the frame."""
        match self:
            case Framing.SAME | Framing.COUNT | Framing.COUNT_IF | Framing.SUM | Framing.MEAN:
                return FrameReading.ALL
            case Framing.VAR_POP | Framing.STDDEV_POP:
                return FrameReading.ALL
            case Framing.MIN | Framing.MAX:
                return FrameReading.BEST
            case Framing.MIN_BY | Framing.MAX_BY:
                return FrameReading.BEST_BY
            case Framing.FIRST | Framing.LAST:
                return FrameReading.EDGE
            case Framing.LAG | Framing.LEAD:
                return FrameReading.AWAY
            case Framing.ROW_NUMBER | Framing.RANK | Framing.DENSE_RANK:
                return FrameReading.PLACE
            case _:
                assert_never(self)

    @property
    def is_place(self) -> bool:
        """Whether the value is the place of the row among the frame's rows."""
        return self.reading is FrameReading.PLACE

    @property
    def looks_away(self) -> bool:
        """Whether the value is taken of the row that is a number of rows away."""
        return self.reading is FrameReading.AWAY

    @property
    def is_ordered(self) -> bool:
        """Whether the value depends on the order of the frame's rows."""
        return self.reading in (FrameReading.EDGE, FrameReading.AWAY, FrameReading.PLACE)

    @property
    def takes_filter(self) -> bool:
        """True if FILTER can leave rows out first. False if the value belongs to one row at a known distance."""
        return self.reading not in (FrameReading.AWAY, FrameReading.PLACE)

    @property
    def takes_distinct(self) -> bool:
        """Whether rows that come again can be left out."""
        return self.reading in (FrameReading.ALL, FrameReading.BEST)

    @property
    def compares(self) -> int | None:
        """The place of the argument whose values are compared, None if none are."""
        return {FrameReading.BEST: 0, FrameReading.BEST_BY: 1}.get(self.reading)


class Basis(Enum):
    """What is kept of the rows of a group that rows can leave."""

    COUNTS = auto()
    """How many rows there are, and for how many of them the argument is true."""
    SUM = auto()
    """A count and a sum."""
    SQUARES = auto()
    """A count, a sum and a sum of squares."""
    VALUES = auto()
    """The different values, each with the number of its rows."""


class Retraction(Enum):
    """What an aggregate follows from, so that a row can be taken out of its group again.

    That is counts of rows, or a count, a sum and a sum of squares. All are exact for whole numbers and decimals. The
    last ones follow from the different values alone, each with the number of its rows.
    """

    COUNT = auto()
    COUNT_IF = auto()
    ALL = auto()
    """Whether the count of rows that are true is the count of rows."""
    SOME = auto()
    SUM = auto()
    MEAN = auto()
    VAR_POP = auto()
    VAR_SAMP = auto()
    STDDEV_POP = auto()
    STDDEV_SAMP = auto()
    MIN = auto()
    MAX = auto()
    MIN_BY = auto()
    MAX_BY = auto()
    BITS = auto()
    """The bits of the different values."""
    PARITY = auto()
    """The bits of the values that an odd number of rows has."""
    COLLECT = auto()

    @property
    def basis(self) -> Basis:
        """What it follows from, where that is exact."""
        match self:
            case Retraction.COUNT | Retraction.COUNT_IF | Retraction.ALL | Retraction.SOME:
                return Basis.COUNTS
            case Retraction.SUM | Retraction.MEAN:
                return Basis.SUM
            case Retraction.VAR_POP | Retraction.VAR_SAMP | Retraction.STDDEV_POP | Retraction.STDDEV_SAMP:
                return Basis.SQUARES
            case Retraction.MIN | Retraction.MAX | Retraction.MIN_BY | Retraction.MAX_BY:
                return Basis.VALUES
            case Retraction.BITS | Retraction.PARITY | Retraction.COLLECT:
                return Basis.VALUES
            case _:
                assert_never(self)

    @property
    def is_counted(self) -> bool:
        """Whether counts of rows decide it."""
        return self.basis is Basis.COUNTS

    @property
    def adds_squares(self) -> bool:
        """Whether it needs the sum of squares."""
        return self.basis is Basis.SQUARES

    @property
    def needs_values(self) -> bool:
        """Whether it follows from the values, of whatever type they are."""
        return self.basis is Basis.VALUES

    @property
    def is_of_sample(self) -> bool:
        """Whether the divisor is one less than the count."""
        return self in (Retraction.VAR_SAMP, Retraction.STDDEV_SAMP)


class DistinctRule(Enum):
    """What DISTINCT makes of an aggregate over a group."""

    IDEMPOTENT = auto()
    """Nothing: a value that comes again does not change the result."""
    COUNT = auto()
    """The count of the set of the values."""
    SUM = auto()
    MEAN = auto()
    COLLECT = auto()
    """The values in order, each once."""


class Collecting(Enum):
    """What an aggregate makes of the values of a group, which it puts into an order. NULLs are left out."""

    LIST = auto()
    TEXT = auto()
    """They are joined by the second argument."""
    TOP = auto()
    """The greatest ones, as many as the second argument says."""

    @property
    def keeps_all(self) -> bool:
        """Whether each row adds a value."""
        return self is not Collecting.TOP

    @property
    def takes_order(self) -> bool:
        """Whether ORDER BY can choose the order."""
        return self is not Collecting.TOP


class Laziness(Enum):
    """Which arguments are evaluated for a row: not all of them."""

    CONDITION = auto()
    """The first, a condition, and the one that it chooses: IF."""
    KNOWN = auto()
    """The arguments up to the first one that is not NULL: COALESCE."""


class RowFault(Enum):
    """What a function or an operator may fail with for a row. Spark names the error, but not always who raised it."""

    ZERO_DIVISOR = auto()
    OVERFLOW = auto()
    ARITHMETIC = auto()
    """An overflow of an operator. Spark names its place, except for dates, times and intervals."""
    INDEX = auto()
    ZERO_INDEX = auto()
    MAP_KEYS = auto()
    """Keys that are NULL, or there twice, or not as many as values."""
    TIME_TEXT = auto()
    """A text that is no time of the format."""
    NUMBER_TEXT = auto()
    ENCODED_TEXT = auto()
    """A text that is no code of bytes."""
    BASE64_TEXT = auto()
    URL_TEXT = auto()
    """A text that is not part of a URL."""
    URL = auto()
    CHARACTERS = auto()
    """Characters or bytes that the character set does not have."""
    PATTERN = auto()
    """A regular expression, or its replacement."""
    LIKE_PATTERN = auto()
    TIME_FORMAT = auto()
    NUMBER_FORMAT = auto()
    PRINT_FORMAT = auto()
    ARGUMENT = auto()
    """An argument that the function does not take, such as a number of bits."""
    WEEKDAY = auto()
    TIME_ZONE = auto()
    STEPS = auto()
    """Steps that do not lead from the first value to the last."""
    TIME_PARTS = auto()
    """Numbers that are no day or no time of day."""
    TIME_RANGE = auto()
    """A result that no time type holds."""
    LONG_TEXT = auto()
    LONG_ARRAY = auto()


class NullForm(msgspec.Struct, frozen=True):
    """`function` takes the same arguments and is NULL, over arguments that are not, where the other one fails.

    `code` is the code of the error. With `cast_code` the function is a cast where it has no format: it fails for a
    STRING alone, and with that code.
    """

    function: str
    code: str
    cast_code: str | None = None


class Failing(msgspec.Struct, frozen=True):
    """For which rows a function fails.

    `literals`: for some values of the arguments at these places alone. Where literals stand there, it fails for all
    rows or none. Without them and without a `null_form` no condition tells for which rows it fails.
    `least_arguments`: only where it is called with as many.
    `tried`: errors for which TRY_<name> gives NULL, where that may fail with others and so is no `null_form`.
    A text or array that is too large fails in no row by itself, so memory has no part in this.
    """

    literals: tuple[int, ...] | None = None
    null_form: NullForm | None = None
    least_arguments: int = 0
    tried: tuple[str, ...] = ()


class Size(msgspec.Struct, frozen=True):
    """How long a text or an array literal arguments make, by their places.

    As long as the number `count` says, times the size of the argument `of`. `count` None: as many as the numbers from
    the first argument to the second are, by steps of the third.
    """

    things: str
    count: int | None
    of: int | None = None
