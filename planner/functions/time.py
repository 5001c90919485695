"""Functions of dates and times. Times are in UTC."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from sqlglot import exp

from penstock.planner.functions.facts import Failing, NullForm, RowFault
from penstock.planner.functions.function import Function
from penstock.planner.types import INT, Decimal, Type
from penstock.planner.types import TIME as TIME_OF_DAY


def _part(arguments: tuple[exp.Expression, ...], types: tuple[Type, ...]) -> Type | None:
    """Seconds have a fraction; the other parts are whole. The first argument is a literal."""
    name = arguments[0].name.upper() if isinstance(arguments[0], exp.Literal) else ""
    if name in ("SECOND", "SECONDS"):
        return Decimal(8, 6)
    whole = _CLOCK_PARTS if types[1] == TIME_OF_DAY else _WHOLE_PARTS
    return INT if name in whole else None


_WHOLE_PARTS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "DAYOFWEEK", "DOY", "HOUR", "MINUTE")
_CLOCK_PARTS = ("HOUR", "MINUTE")
_PART = ("(DATE) -> INT", "(TIMESTAMP) -> INT")
_PARTS = (
    "(INT, INT, INT, INT, INT, INT) -> TIMESTAMP",
    "(INT, INT, INT, INT, INT, DECIMAL(p, s)) -> TIMESTAMP",
)
_WHOLE = (*_PARTS, "(DATE, TIME) -> TIMESTAMP")
_CLOCK = ("(TIMESTAMP) -> INT", "(TIME) -> INT")
_T = "TIMESTAMP '2024-03-05 06:07:08'"

TIME = (
    Function(
        "ADD_MONTHS",
        ("(DATE, INT) -> DATE",),
        "n months later, at most the last day of the month",
        ("ADD_MONTHS(DATE '2024-01-31', 1)", date(2024, 2, 29)),
        failing=Failing(),
        raises=(RowFault.OVERFLOW, RowFault.TIME_RANGE),
    ),
    Function(
        "CURRENT_DATE",
        ("() -> DATE",),
        "the day on which the micro-batch is processed",
        ("CURRENT_DATE() > DATE '2024-01-01'", True),
        clock=True,
        bare=True,
    ),
    Function(
        "CURDATE", ("() -> DATE",), "the same as CURRENT_DATE", ("CURDATE() > DATE '2024-01-01'", True), clock=True
    ),
    Function(
        "CURRENT_TIMESTAMP",
        ("() -> TIMESTAMP",),
        "when the micro-batch is processed",
        ("CURRENT_TIMESTAMP() > TIMESTAMP '2024-01-01'", True),
        clock=True,
        bare=True,
    ),
    Function(
        "LOCALTIMESTAMP",
        ("() -> TIMESTAMP",),
        "the same as CURRENT_TIMESTAMP, since times are in UTC",
        ("LOCALTIMESTAMP() > TIMESTAMP '2024-01-01'", True),
        clock=True,
        bare=True,
        stands_for="CURRENT_TIMESTAMP",
    ),
    Function(
        "NOW",
        ("() -> TIMESTAMP",),
        "the same as CURRENT_TIMESTAMP",
        ("NOW() > TIMESTAMP '2024-01-01'", True),
        clock=True,
    ),
    Function(
        "DATEDIFF",
        ("(DATE, DATE) -> INT",),
        "days from the second to the first",
        ("DATEDIFF(DATE '2024-03-01', DATE '2024-02-28')", 2),
    ),
    Function(
        "DATE_ADD", ("(DATE, INT) -> DATE",), "n days later", ("DATE_ADD(DATE '2024-02-28', 2)", date(2024, 3, 1))
    ),
    Function(
        "DATEADD",
        ("(DATE, INT) -> DATE",),
        "the same as DATE_ADD",
        ("DATEADD(DATE '2024-02-28', 2)", date(2024, 3, 1)),
    ),
    Function(
        "DATE_DIFF",
        ("(DATE, DATE) -> INT",),
        "the same as DATEDIFF",
        ("DATE_DIFF(DATE '2024-03-01', DATE '2024-02-28')", 2),
    ),
    Function(
        "DATE_FORMAT",
        ("(TIMESTAMP, TIME_FORMAT) -> STRING",),
        "in a format such as 'yyyy-MM-dd HH:mm'",
        (f"DATE_FORMAT({_T}, 'HH:mm')", "06:07"),
        failing=Failing(literals=(1,)),
        raises=(RowFault.TIME_FORMAT,),
    ),
    Function(
        "DATE_FROM_UNIX_DATE",
        ("(INT) -> DATE",),
        "n days after 1970-01-01",
        ("DATE_FROM_UNIX_DATE(1)", date(1970, 1, 2)),
    ),
    Function(
        "DATE_PART",
        ("(TIME_PART, TIMESTAMP) -> INT", "(TIME_PART, TIME) -> INT"),
        "the part that a literal names: 'YEAR', 'MONTH', 'DOY' and so on",
        (f"DATE_PART('DOY', {_T})", 65),
        result=_part,
    ),
    Function(
        "DATEPART",
        ("(TIME_PART, TIMESTAMP) -> INT", "(TIME_PART, TIME) -> INT"),
        "the same as DATE_PART",
        (f"DATEPART('DOY', {_T})", 65),
        result=_part,
    ),
    Function(
        "DATE_SUB", ("(DATE, INT) -> DATE",), "n days earlier", ("DATE_SUB(DATE '2024-03-01', 1)", date(2024, 2, 29))
    ),
    Function(
        "DATE_TRUNC",
        ("(TIME_UNIT, TIMESTAMP) -> TIMESTAMP",),
        "the beginning of its 'HOUR', 'DAY', 'WEEK', 'MONTH' and so on",
        (f"DATE_TRUNC('HOUR', {_T})", datetime(2024, 3, 5, 6)),
    ),
    Function("DAY", _PART, "the day of the month", (f"DAY({_T})", 5)),
    Function(
        "DAYNAME", ("(DATE) -> STRING",), "the short English name of the weekday", ("DAYNAME(DATE '2024-03-05')", "Tue")
    ),
    Function("DAYOFMONTH", _PART, "the same as DAY", (f"DAYOFMONTH({_T})", 5)),
    Function("DAYOFWEEK", _PART, "1 for Sunday to 7 for Saturday", (f"DAYOFWEEK({_T})", 3)),
    Function("DAYOFYEAR", _PART, "the day of the year", (f"DAYOFYEAR({_T})", 65)),
    Function(
        "FROM_UNIXTIME",
        ("(BIGINT) -> STRING", "(BIGINT, TIME_FORMAT) -> STRING"),
        "seconds since 1970 as text, in a format",
        ("FROM_UNIXTIME(0, 'yyyy-MM-dd HH:mm:ss')", "1970-01-01 00:00:00"),
        failing=Failing(literals=(1,)),
        raises=(RowFault.TIME_FORMAT,),
    ),
    Function(
        "FROM_UTC_TIMESTAMP",
        ("(TIMESTAMP, ZONE) -> TIMESTAMP",),
        "what the clocks of a time zone show",
        (f"FROM_UTC_TIMESTAMP({_T}, 'Asia/Seoul')", datetime(2024, 3, 5, 15, 7, 8)),
        failing=Failing(literals=(1,)),
        raises=(RowFault.TIME_ZONE,),
    ),
    Function("HOUR", _CLOCK, "the hour of the day", (f"HOUR({_T})", 6)),
    Function(
        "LAST_DAY", ("(DATE) -> DATE",), "the last day of the month", ("LAST_DAY(DATE '2024-02-01')", date(2024, 2, 29))
    ),
    Function(
        "MAKE_DATE",
        ("(INT, INT, INT) -> DATE",),
        "the date of year, month, day",
        ("MAKE_DATE(2024, 2, 29)", date(2024, 2, 29)),
        failing=Failing(),
        raises=(RowFault.TIME_PARTS,),
    ),
    Function(
        "MAKE_DT_INTERVAL",
        (
            "() -> INTERVAL",
            "(INT) -> INTERVAL",
            "(INT, INT) -> INTERVAL",
            "(INT, INT, INT) -> INTERVAL",
            "(INT, INT, INT, INT) -> INTERVAL",
            "(INT, INT, INT, DECIMAL(p, s)) -> INTERVAL",
        ),
        "the interval of days, hours, minutes, seconds",
        ("MAKE_DT_INTERVAL(1, 12, 30, 1.5)", timedelta(days=1, hours=12, minutes=30, seconds=1.5)),
        failing=Failing(least_arguments=1),
        raises=(RowFault.OVERFLOW,),
    ),
    Function(
        "MAKE_TIMESTAMP_LTZ",
        _PARTS,
        "the same as MAKE_TIMESTAMP",
        ("MAKE_TIMESTAMP_LTZ(2024, 2, 29, 12, 30, 15.5)", datetime(2024, 2, 29, 12, 30, 15, 500000)),
        failing=Failing(null_form=NullForm("TRY_MAKE_TIMESTAMP_LTZ", "R028")),
        raises=(RowFault.TIME_PARTS,),
    ),
    Function(
        "TRY_MAKE_TIMESTAMP_LTZ",
        _PARTS,
        "the same as TRY_MAKE_TIMESTAMP",
        ("TRY_MAKE_TIMESTAMP_LTZ(2023, 2, 29, 12, 30, 15)", None),
    ),
    Function(
        "MAKE_TIMESTAMP",
        _WHOLE,
        "the time of year, month, day, hour, minute, second, or of a day and its time",
        ("MAKE_TIMESTAMP(2024, 2, 29, 12, 30, 15.5)", datetime(2024, 2, 29, 12, 30, 15, 500000)),
        failing=Failing(null_form=NullForm("TRY_MAKE_TIMESTAMP", "R028")),
        raises=(RowFault.TIME_PARTS,),
    ),
    Function("MINUTE", _CLOCK, "the minute of the hour", (f"MINUTE({_T})", 7)),
    Function("MONTH", _PART, "the month of the year", (f"MONTH({_T})", 3)),
    Function(
        "MONTHNAME",
        ("(DATE) -> STRING",),
        "the short English name of the month",
        ("MONTHNAME(DATE '2024-03-05')", "Mar"),
    ),
    Function(
        "MONTHS_BETWEEN",
        ("(TIMESTAMP, TIMESTAMP) -> DOUBLE",),
        "months from the second to the first, 31 days each for the rest",
        ("MONTHS_BETWEEN(DATE '2024-03-01', DATE '2024-01-01')", 2.0),
    ),
    Function(
        "NEXT_DAY",
        ("(DATE, WEEKDAY) -> DATE",),
        "the first such weekday after it",
        ("NEXT_DAY(DATE '2024-03-05', 'MON')", date(2024, 3, 11)),
        failing=Failing(literals=(1,)),
        raises=(RowFault.WEEKDAY,),
    ),
    Function("QUARTER", _PART, "the quarter of the year", (f"QUARTER({_T})", 1)),
    Function("SECOND", _CLOCK, "the second of the minute", (f"SECOND({_T})", 8)),
    Function(
        "TIMESTAMP_MICROS",
        ("(BIGINT) -> TIMESTAMP",),
        "microseconds since 1970 as time",
        ("TIMESTAMP_MICROS(1000000)", datetime(1970, 1, 1, 0, 0, 1)),
    ),
    Function(
        "TIMESTAMP_MILLIS",
        ("(BIGINT) -> TIMESTAMP",),
        "milliseconds since 1970 as time",
        ("TIMESTAMP_MILLIS(1000)", datetime(1970, 1, 1, 0, 0, 1)),
        failing=Failing(),
        raises=(RowFault.TIME_RANGE,),
    ),
    Function(
        "TIMESTAMP_SECONDS",
        ("(BIGINT) -> TIMESTAMP", "(DOUBLE) -> TIMESTAMP"),
        "seconds since 1970 as time",
        ("TIMESTAMP_SECONDS(60)", datetime(1970, 1, 1, 0, 1)),
        failing=Failing(),
        raises=(RowFault.TIME_RANGE,),
    ),
    Function(
        "TO_DATE",
        ("(STRING) -> DATE", "(STRING, TIME_PATTERN) -> DATE", "(TIMESTAMP) -> DATE"),
        "a text as date, in a format",
        ("TO_DATE('05.03.2024', 'dd.MM.yyyy')", date(2024, 3, 5)),
        failing=Failing(literals=(1,), null_form=NullForm("TRY_TO_DATE", "R025", cast_code="R021")),
        raises=(RowFault.TIME_TEXT, RowFault.TIME_FORMAT),
    ),
    Function(
        "TO_TIMESTAMP",
        ("(STRING) -> TIMESTAMP", "(STRING, TIME_PATTERN) -> TIMESTAMP"),
        "a text as time, in a format",
        ("TO_TIMESTAMP('05.03.2024 06', 'dd.MM.yyyy HH')", datetime(2024, 3, 5, 6)),
        failing=Failing(literals=(1,), null_form=NullForm("TRY_TO_TIMESTAMP", "R025", cast_code="R021")),
        raises=(RowFault.TIME_TEXT, RowFault.TIME_FORMAT),
    ),
    Function(
        "TO_UNIX_TIMESTAMP",
        ("(TIMESTAMP) -> BIGINT", "(STRING, TIME_PATTERN) -> BIGINT"),
        "seconds since 1970",
        (f"TO_UNIX_TIMESTAMP({_T})", 1709618828),
        failing=Failing(least_arguments=2),
        raises=(RowFault.TIME_TEXT, RowFault.TIME_FORMAT),
    ),
    Function(
        "TO_UTC_TIMESTAMP",
        ("(TIMESTAMP, ZONE) -> TIMESTAMP",),
        "the time when the clocks of a time zone show this",
        (f"TO_UTC_TIMESTAMP({_T}, 'Asia/Seoul')", datetime(2024, 3, 4, 21, 7, 8)),
        failing=Failing(literals=(1,)),
        raises=(RowFault.TIME_ZONE,),
    ),
    Function(
        "TRUNC",
        ("(DATE, DATE_UNIT) -> DATE",),
        "the first day of its 'WEEK', 'MONTH', 'QUARTER' or 'YEAR'",
        ("TRUNC(DATE '2024-03-05', 'MONTH')", date(2024, 3, 1)),
    ),
    Function(
        "TRY_MAKE_TIMESTAMP",
        _WHOLE,
        "as MAKE_TIMESTAMP, but NULL if there is no such time",
        ("TRY_MAKE_TIMESTAMP(2023, 2, 29, 12, 30, 15)", None),
    ),
    Function(
        "TRY_TO_DATE",
        ("(STRING) -> DATE", "(STRING, TIME_PATTERN) -> DATE"),
        "as TO_DATE, but NULL for a text that is no date",
        ("TRY_TO_DATE('30.02.2024', 'dd.MM.yyyy')", None),
        failing=Failing(literals=(1,)),
        raises=(RowFault.TIME_FORMAT,),
    ),
    Function(
        "TRY_TO_TIMESTAMP",
        ("(STRING) -> TIMESTAMP", "(STRING, TIME_PATTERN) -> TIMESTAMP"),
        "as TO_TIMESTAMP, but NULL for a text that is no time",
        ("TRY_TO_TIMESTAMP('05.03.2024 06', 'dd.MM.yyyy HH')", datetime(2024, 3, 5, 6)),
        failing=Failing(literals=(1,)),
        raises=(RowFault.TIME_FORMAT,),
    ),
    Function("UNIX_DATE", ("(DATE) -> INT",), "days since 1970-01-01", ("UNIX_DATE(DATE '1970-01-02')", 1)),
    Function(
        "UNIX_MICROS",
        ("(TIMESTAMP) -> BIGINT",),
        "microseconds since 1970",
        ("UNIX_MICROS(TIMESTAMP '1970-01-01 00:00:01')", 1000000),
    ),
    Function(
        "UNIX_MILLIS",
        ("(TIMESTAMP) -> BIGINT",),
        "milliseconds since 1970",
        ("UNIX_MILLIS(TIMESTAMP '1970-01-01 00:00:01')", 1000),
    ),
    Function(
        "UNIX_SECONDS",
        ("(TIMESTAMP) -> BIGINT",),
        "seconds since 1970",
        ("UNIX_SECONDS(TIMESTAMP '1970-01-01 00:00:01')", 1),
    ),
    Function(
        "UNIX_TIMESTAMP",
        ("(TIMESTAMP) -> BIGINT", "(STRING, TIME_PATTERN) -> BIGINT"),
        "the same as TO_UNIX_TIMESTAMP",
        ("UNIX_TIMESTAMP('1970-01-02', 'yyyy-MM-dd')", 86400),
        failing=Failing(least_arguments=2),
        raises=(RowFault.TIME_TEXT, RowFault.TIME_FORMAT),
    ),
    Function("WEEKDAY", _PART, "0 for Monday to 6 for Sunday", (f"WEEKDAY({_T})", 1)),
    Function("WEEKOFYEAR", _PART, "the ISO week", (f"WEEKOFYEAR({_T})", 10)),
    Function("YEAR", _PART, "the year", (f"YEAR({_T})", 2024)),
)
