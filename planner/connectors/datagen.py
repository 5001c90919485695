"""Random rows that a seed decides."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

from penstock.diagnostics import CompileError, Diagnostic, Span, nearest
from penstock.diagnostics.codes.connectors import C002, C003, C028
from penstock.planner.connectors.option import (
    INTEGER,
    INTERVAL,
    NAME,
    NUMBER,
    Connector,
    ConnectorOption,
    OptionType,
)
from penstock.planner.plan import Column, Options
from penstock.planner.plan.generated_columns import (
    FIELDS,
    MOST_DAYS,
    FieldOptionError,
    GeneratedColumn,
    NoGeneratorError,
    count_rows,
    read_generated,
)

_RATE = 10_000
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2500, 1, 1, tzinfo=UTC)


def check(
    options: Options, columns: Sequence[Column], span: Span, *, key: Collection[str], table: bool, written: bool
) -> None:
    """Raises CompileError for columns whose values are not made, and for options that do not fit their columns."""
    given = dict(options)
    try:
        made = read_generated([(each.name, str(each.type)) for each in columns], given)
    except NoGeneratorError as error:
        found = C028.at(span, "", column=error.name, type=error.type)
        found = found.because("It makes numbers, STRING, BOOLEAN, DATE and TIMESTAMP values.")
        raise CompileError([found.with_hint(f"{error.name} AS …: compute the column from others")]) from None
    except FieldOptionError as error:
        if error.expected is None:
            found = C002.at(span, "", connector="datagen", name=error.option)
            name, _, last = error.option.removeprefix(f"{FIELDS}.").rpartition(".")
            guess = nearest(name, [each.name for each in columns])
            if guess and guess.lower() != name.lower():
                found = found.with_hint(f"did you mean {FIELDS}.{guess}.{last}?")
        else:
            found = C003.at(span, "", name=error.option, expected=error.expected)
        raise CompileError([found.because(error.reason) if error.reason else found]) from None
    nullable = {each.name for each in columns if each.nullable}
    for column in made:
        if column.nulls and column.name not in nullable:
            option = f"{FIELDS}.{column.name}.null_rate"
            found = C003.at(span, "", name=option, expected="0").because(f"{column.name} is NOT NULL.")
            raise CompileError([found.with_hint(f"leave NOT NULL or {option} out")])
    problem = _check_end(made, given, span)
    if problem is not None:
        raise CompileError([problem])


def _check_end(columns: Sequence[GeneratedColumn], given: Mapping[str, object], span: Span) -> Diagnostic | None:
    """What is wrong with an end that comes too late. Times of rows go back from now by all rows that there will be."""
    longest = MOST_DAYS * 86_400 * int(str(given.get("rows_per_second", _RATE)))
    declared = given.get("number_of_rows")
    rows = count_rows(columns, None if declared is None else int(str(declared))).rows
    if rows is None or rows <= longest:
        return None
    column = min((each for each in columns if each.is_sequence), key=lambda each: each.high - each.low)
    option = f"{FIELDS}.{column.name}.end"
    expected = f"a number that the stream reaches within {MOST_DAYS} days"
    return C003.at(span, "", name=option, expected=expected).with_hint(f"leave {option} out: the stream goes on")


def check_start(text: str, span: Span) -> Diagnostic | None:
    """What is wrong with the time of the first row."""
    try:
        start = datetime.fromisoformat(text)
    except ValueError:
        start = None
    if start is not None and _FIRST <= (start if start.tzinfo else start.replace(tzinfo=UTC)) < _LAST:
        return None
    found = C003.at(span, "", name="start_time", expected="a time from 1970 to 2499 such as '2026-01-01 08:00:00'")
    return found.with_sql("'2026-01-01 08:00:00'", before="start_time = ")


DATAGEN = Connector(
    "datagen",
    "generated rows, random or in sequence, which a seed decides",
    reads_stream=True,
    has_partitions=True,
    rate_option="rows_per_second",
    check=check,
    own_options=(
        ConnectorOption("rows_per_second", INTEGER, "how many rows a second", default=_RATE, identifies=True),
        ConnectorOption("number_of_rows", INTEGER, "after how many rows the stream ends; never unless set"),
        ConnectorOption("seed", INTEGER, "decides the random values", default=1, identifies=True),
        ConnectorOption(
            "start_time",
            NAME,
            "time of the first row, in UTC unless it has an offset; unless set, the time of the first read",
            identifies=True,
            check=check_start,
        ),
    ),
    column_options=(
        ConnectorOption(
            "kind",
            OptionType("STRING", ("random", "sequence")),
            "whether values are drawn, or counted from `start`",
            default="random",
            identifies=True,
        ),
        ConnectorOption(
            "min",
            NUMBER,
            "random numbers: the least; 0 for FLOAT and DOUBLE, else the least of the type",
            identifies=True,
        ),
        ConnectorOption(
            "max",
            NUMBER,
            "random numbers: the greatest; 1 for FLOAT and DOUBLE, else the greatest of the type",
            identifies=True,
        ),
        ConnectorOption(
            "length", INTEGER, "random STRING: the number of hex digits, at most 1000000", default=100, identifies=True
        ),
        ConnectorOption("start", NUMBER, "sequence: the first number; 1 unless set", identifies=True),
        ConnectorOption(
            "end",
            NUMBER,
            "sequence: the last number, with which the stream ends; unless set, it goes on",
            identifies=True,
        ),
        ConnectorOption("null_rate", NUMBER, "part of the values that are NULL, from 0 to 1", identifies=True),
        ConnectorOption(
            "max_past",
            INTERVAL,
            "TIMESTAMP and DATE: how far a value may be before the time of its row, at most 365000 days",
            identifies=True,
        ),
    ),
)
