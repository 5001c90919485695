"""Functions of times of the day, which have no date and no zone."""

from __future__ import annotations

from datetime import time
from decimal import Decimal

from penstock.planner.functions.facts import Failing, NullForm, RowFault
from penstock.planner.functions.function import Function

_T = "TIME '06:07:08.25'"

CLOCK = (
    Function(
        "MAKE_TIME",
        ("(INT, INT, DECIMAL(p, s)) -> TIME", "(INT, INT, INT) -> TIME"),
        "the time of hour, minute, second",
        ("MAKE_TIME(6, 7, 8.25)", time(6, 7, 8, 250000)),
        failing=Failing(),
        raises=(RowFault.TIME_PARTS,),
    ),
    Function(
        "TO_TIME",
        ("(STRING) -> TIME",),
        "a text as time of the day",
        ("TO_TIME('06:07:08')", time(6, 7, 8)),
        failing=Failing(null_form=NullForm("TRY_TO_TIME", "R025")),
        raises=(RowFault.TIME_TEXT,),
    ),
    Function(
        "TRY_TO_TIME",
        ("(STRING) -> TIME",),
        "as TO_TIME, but NULL for a text that is no time",
        ("TRY_TO_TIME('25:00:00')", None),
    ),
    Function(
        "TIME_TRUNC",
        ("(CLOCK_UNIT, TIME) -> TIME",),
        "the beginning of its 'HOUR', 'MINUTE', 'SECOND' and so on",
        (f"TIME_TRUNC('HOUR', {_T})", time(6)),
        failing=Failing(literals=(0,)),
        raises=(RowFault.ARGUMENT,),
    ),
    Function(
        "TIME_DIFF",
        ("(CLOCK_UNIT, TIME, TIME) -> BIGINT",),
        "the whole 'HOUR', 'MINUTE', 'SECOND' and so on from the first to the second",
        (f"TIME_DIFF('MINUTE', {_T}, TIME '07:00:00')", 52),
        failing=Failing(literals=(0,)),
        raises=(RowFault.ARGUMENT,),
    ),
    Function(
        "TIME_FROM_SECONDS",
        ("(BIGINT) -> TIME",),
        "seconds since midnight as time of the day",
        ("TIME_FROM_SECONDS(3661)", time(1, 1, 1)),
        failing=Failing(),
        raises=(RowFault.TIME_PARTS,),
    ),
    Function(
        "TIME_FROM_MILLIS",
        ("(BIGINT) -> TIME",),
        "milliseconds since midnight as time of the day",
        ("TIME_FROM_MILLIS(3661500)", time(1, 1, 1, 500000)),
        failing=Failing(),
        raises=(RowFault.TIME_PARTS,),
    ),
    Function(
        "TIME_FROM_MICROS",
        ("(BIGINT) -> TIME",),
        "microseconds since midnight as time of the day",
        ("TIME_FROM_MICROS(3661000001)", time(1, 1, 1, 1)),
        failing=Failing(),
        raises=(RowFault.TIME_PARTS,),
    ),
    Function(
        "TIME_TO_SECONDS",
        ("(TIME) -> DECIMAL(14, 6)",),
        "seconds since midnight",
        (f"TIME_TO_SECONDS({_T})", Decimal("22028.250000")),
    ),
    Function(
        "TIME_TO_MILLIS", ("(TIME) -> BIGINT",), "milliseconds since midnight", (f"TIME_TO_MILLIS({_T})", 22028250)
    ),
    Function(
        "TIME_TO_MICROS", ("(TIME) -> BIGINT",), "microseconds since midnight", (f"TIME_TO_MICROS({_T})", 22028250000)
    ),
)
