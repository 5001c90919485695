"""Random scalar expressions, as text, over columns whose types are known. Rows cannot make them fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from sqlglot import exp

from penstock.parser import unparse as written
from penstock.planner.functions import FUNCTIONS, Function
from tests.planner.expressions import expression
from tests.planner.installed import INSTALLED
from tests.properties.script_literals import literal

ORDERED = ("BIGINT", "INT", "DECIMAL", "DOUBLE", "STRING", "BOOLEAN", "DATE", "TIMESTAMP", "TIME")
NUMBERS = ("BIGINT", "INT", "DECIMAL", "DOUBLE")
NESTED = ("ARRAY", "MAP", "STRUCT", "BINARY")
_LITERALS = {
    "BIGINT": ("0", "7", "-3", "CAST(12 AS BIGINT)"),
    "INT": ("1", "2", "-1", "CAST(4 AS INT)"),
    "DECIMAL": ("1.5", "0.25", "CAST(2 AS DECIMAL(5, 1))"),
    "DOUBLE": ("1e0", "CAST('NaN' AS DOUBLE)", "-2.5e-1"),
    "STRING": ("'a'", "''", "'it''s'", "'${env:HOME}'", "'a\\b%_'", "'2026-01-01'"),
    "BOOLEAN": ("TRUE", "FALSE"),
    "DATE": ("DATE '2026-01-02'", "DATE '1999-12-31'"),
    "TIMESTAMP": ("TIMESTAMP '2026-01-01 00:00:07'", "TIMESTAMP '2026-01-01T01:00:00+01:00'"),
    "TIME": ("TIME '10:30:00'", "CAST('23:59:59.999999' AS TIME)"),
    "ARRAY": ("ARRAY('x', 'y')", "ARRAY('z', NULL)"),
    "MAP": ("MAP('x', 1)",),
    "STRUCT": ("NAMED_STRUCT('q', 1, 'r', 'x')",),
    "BINARY": ("CAST('a' AS BINARY)",),
    "NESTED": ("MAP('a', 1)", "ARRAY(NAMED_STRUCT('q', 1, 'r', 'x'))", "ARRAY(ARRAY(1.5), NULL)", "ARRAY(MAP(1, 'b'))"),
}
# Templates of a type: `{DECIMAL}` stands for an expression of that type, `{:ZONE}` for a literal of a kind.
# What data can make fail is guarded.
_FORMS: dict[str, tuple[str, ...]] = {
    "BIGINT": (
        "{BIGINT} % 7",
        "({BIGINT} % 100) + ({BIGINT} % 10)",
        "LENGTH({STRING}) * ({INT} % 5)",
        "UNIX_SECONDS({TIMESTAMP})",
        "TRY_CAST({STRING} AS BIGINT)",
        "({BIGINT} % 9) DIV NULLIFZERO({INT})",
        "ABS({BIGINT} % 11) & 5 | 2 ^ 1",
        "~({BIGINT} % 3)",
        "TIME_TO_MICROS({TIME})",
        "TIME_DIFF({:CLOCK_UNIT}, {TIME}, {TIME})",
        "TIMESTAMPDIFF(MINUTE, {TIMESTAMP}, {TIMESTAMP})",
        "UNIX_MILLIS(TIMESTAMPADD(HOUR, {INT} % 9, {TIMESTAMP}))",
    ),
    "INT": (
        "LENGTH({STRING})",
        "SIZE({ARRAY})",
        "HOUR({TIMESTAMP})",
        "MINUTE({TIME})",
        "CASE {INT} WHEN 1 THEN 2 WHEN NULL THEN 3 END",
        "{STRUCT}.q",
        "FROM_JSON({STRING}, 'q INT').q",
        "ELEMENT_AT({MAP}, 'x')",
        "COALESCE({INT}, 0) % 3",
        "DATEDIFF({DATE}, DATE '2026-01-01')",
        "{MAP}['y']",
        "EXTRACT(DOY FROM {TIMESTAMP})",
        "POSITION({STRING} IN ({STRING}))",
        "ARRAY[{INT}, 1][0]",
        "HASH({NESTED}, {STRING})",
        "REGEXP_COUNT({STRING}, {:REGEX})",
        "SIZE(SPLIT({STRING}, {:REGEX}))",
    ),
    "DECIMAL": (
        "CAST({INT} % 100 AS DECIMAL(8, 2))",
        "ROUND({DECIMAL} % 10, 1)",
        "-({DECIMAL})",
        "NULLIF({DECIMAL}, 0)",
    ),
    "DOUBLE": (
        "({DOUBLE} + 1) / NULLIFZERO({INT})",
        "SQRT(ABS({DOUBLE}))",
        "CAST({DECIMAL} AS DOUBLE)",
        "NANVL({DOUBLE}, {DOUBLE})",
        "GREATEST({DOUBLE}, {DOUBLE}, 0e0)",
    ),
    "STRING": (
        "CONCAT({STRING}, 'x')",
        "{STRING} || {INT} || {DATE}",
        "CONCAT({DECIMAL}, {STRING}, {BOOLEAN})",
        "TRIM(LEADING 'a' FROM {STRING})",
        "OVERLAY({STRING} PLACING 'x' FROM 1 FOR 1)",
        "SPLIT_INDEX({STRING}, '.', 1)",
        "STRUCT(a := {STRING}, b := {INT})->a",
        "{STRING} || {STRING}",
        "UPPER({STRING})",
        "CAST({BIGINT} AS STRING)",
        "CASE WHEN {BOOLEAN} THEN {STRING} WHEN {BOOLEAN} THEN 'b' ELSE {STRING} END",
        "DATE_FORMAT({TIMESTAMP}, 'yyyy-MM-dd HH:mm')",
        "ARRAY_JOIN({ARRAY}, ',')",
        "SUBSTRING({STRING}, 1, 2)",
        "TO_JSON({STRUCT})",
        "TO_JSON({INT})",
        "TO_JSON({STRING})",
        "TO_JSON({MAP})",
        "TO_JSON({TIME})",
        "FROM_JSON(TO_JSON({STRUCT}), 'q INT, r STRING').r",
        "REGEXP_REPLACE({STRING}, '[a-c]+', 'z')",
        "HEX({BINARY})",
        "{STRUCT}.r",
        "TRY_ELEMENT_AT({ARRAY}, 1)",
        "ELEMENT_AT(SPLIT({STRING} || ',', ','), 1)",
        "REGEXP_REPLACE({STRING}, {:REGEX}, {:REPLACEMENT})",
        "REGEXP_SUBSTR({STRING}, {:REGEX})",
        "DATE_FORMAT({TIMESTAMP}, {:TIME_FORMAT})",
        "FROM_UNIXTIME({BIGINT} % 1000, {:TIME_FORMAT})",
        "TO_CHAR({DECIMAL}, {:NUMBER_FORMAT})",
        "PRINTF({:PRINT_FORMAT}, {STRING}, {INT}, {BOOLEAN}, {DOUBLE})",
        "MASK({STRING}, {:LETTER}, {:LETTER})",
        "MASK({STRING}, {:LETTER}, {:LETTER}, {:LETTER}, {:LETTER})",
        "DECODE(ENCODE({STRING}, {:CHARSET}), 'ISO-8859-1')",
        "CAST({NESTED} AS STRING)",
        "CAST({TIME} AS STRING)",
    ),
    "BOOLEAN": (
        "{INT} > {INT}",
        "{STRING} = {STRING}",
        "{DECIMAL} <= {DOUBLE}",
        "{STRING} LIKE 'a%'",
        "{STRING} NOT RLIKE '^b'",
        "{STRING} SIMILAR TO '(a|b)%[^.]_'",
        "{STRING} LIKE 'a!%!_' ESCAPE '!'",
        "({INT}, {STRING}) = ({INT}, {STRING})",
        "({STRING}, {DATE}) < ({STRING}, {DATE})",
        "({INT}, {STRING}) IN ((1, {STRING}), (2, 'b'))",
        "{DECIMAL} NOT BETWEEN SYMMETRIC {INT} AND {BIGINT}",
        "{BOOLEAN} IS NOT UNKNOWN",
        "{INT} LIKE '1%'",
        "{BIGINT} IN ('1', {INT})",
        "{BIGINT} IN (1, 2, {BIGINT})",
        "{TIMESTAMP} BETWEEN {TIMESTAMP} AND {TIMESTAMP} + INTERVAL '1' DAY",
        "{STRING} IS NOT NULL",
        "{DOUBLE} IS DISTINCT FROM {DOUBLE}",
        "{STRING} <=> {STRING}",
        "NOT {BOOLEAN}",
        "({BOOLEAN} AND {BOOLEAN} OR {BOOLEAN})",
        "EXISTS({ARRAY}, e -> e > {STRING})",
        "ARRAY_CONTAINS({ARRAY}, {STRING})",
        "{BOOLEAN} IS NOT TRUE",
        "ISNAN({DOUBLE})",
        "{DATE} < {DATE}",
        "{TIME} BETWEEN {TIME} AND '12:00'",
        "{TIME} IN ({TIME}, '08:00')",
        "{STRING} RLIKE {:REGEX}",
        "{STRING} LIKE {:LIKE}",
        "{NESTED} IN ({NESTED}, {NESTED})",
        "{NESTED} IS NOT DISTINCT FROM {NESTED}",
        "CASE {NESTED} WHEN {NESTED} THEN TRUE END",
        "{NESTED} BETWEEN {NESTED} AND {NESTED}",
        "EQUAL_NULL({NESTED}, {NESTED})",
    ),
    "DATE": (
        "CAST({TIMESTAMP} AS DATE)",
        "DATE_ADD({DATE}, 3)",
        "TRUNC({DATE}, {:DATE_UNIT})",
        "NEXT_DAY({DATE}, {:WEEKDAY})",
    ),
    "TIMESTAMP": (
        "{TIMESTAMP} + INTERVAL '2' MINUTE",
        "DATE_TRUNC({:TIME_UNIT}, {TIMESTAMP})",
        "FROM_UTC_TIMESTAMP({TIMESTAMP}, {:ZONE})",
        "TO_UTC_TIMESTAMP({TIMESTAMP}, {:ZONE})",
        "CAST({DATE} AS TIMESTAMP)",
        "MAKE_TIMESTAMP({DATE}, {TIME})",
        "{TIMESTAMP} - 3 SEC",
        "CEIL({TIMESTAMP} TO HOUR)",
        "FLOOR({TIMESTAMP} TO MONTH)",
        "DATE_BIN(INTERVAL '1:30' MINUTE TO SECOND, {TIMESTAMP}, TIMESTAMP '2026-01-01 00:00:00')",
    ),
    "TIME": (
        "CAST({TIMESTAMP} AS TIME)",
        "TIME_TRUNC({:CLOCK_UNIT}, {TIME})",
        "TRY_CAST({STRING} AS TIME)",
        "TIME_FROM_SECONDS(ABS({INT} % 9))",
    ),
    "ARRAY": (
        "ARRAY({STRING}, {STRING})",
        "TRANSFORM({ARRAY}, e -> CONCAT(e, {STRING}))",
        "FILTER({ARRAY}, (e, i) -> i >= 0 AND e <> 'x')",
        "SPLIT({STRING}, 'a')",
        "MAP_KEYS({MAP})",
        "SORT_ARRAY({ARRAY}, FALSE)",
    ),
    "MAP": ("TRANSFORM_VALUES({MAP}, (k, v) -> v % 5)", "MAP_FILTER({MAP}, (k, v) -> k <> 'y')"),
    "STRUCT": ("NAMED_STRUCT('q', {INT}, 'r', {STRING})",),
    "BINARY": ("UNHEX(HEX({STRING}))", "ENCODE({STRING}, {:CHARSET})"),
    "NESTED": (
        "{MAP}",
        "ARRAY({MAP})",
        "ARRAY({STRUCT}, {STRUCT})",
        "MAP(COALESCE({INT}, 0), {STRUCT})",
        "MAP(COALESCE({STRING}, ''), {MAP})",
        "MAP_FROM_ARRAYS(ARRAY({BOOLEAN} IS TRUE), ARRAY({NESTED}))",
        "NAMED_STRUCT('a', {DATE}, 'b', {NESTED})",
        "ARRAY_DISTINCT(ARRAY({STRUCT}))",
        "FLATTEN(ARRAY({ARRAY}, {ARRAY}))",
        "ARRAY_REPEAT({STRUCT}, 3)",
        "SEQUENCE({INT} % 5, 7)",
        "TRANSFORM_KEYS({MAP}, (k, v) -> NAMED_STRUCT('k', k))",
    ),
}
# Arguments of these functions are no values of a column: a pattern, a format, a part of a date that are not there fail.
_EXAMPLE_ONLY = {
    "FROM_CSV",
    "FROM_JSON",
    "MAKE_DATE",
    "MAKE_TIME",
    "TIME_FROM_MICROS",
    "TIME_FROM_MILLIS",
    "TIME_FROM_SECONDS",
    "TO_TIME",
    "UNHEX",
    "URL_DECODE",
    "UNBASE64",
    "TO_DATE",
    "TO_TIMESTAMP",
    "ELT",
    "TO_BINARY",
    "MAKE_DT_INTERVAL",
    "MAKE_TIMESTAMP",
    "MAKE_TIMESTAMP_LTZ",
}


@dataclass(frozen=True, slots=True)
class Reference:
    """A column as it is written, and its type without sizes."""

    text: str
    type: str


class Scalars:
    """Expressions over some columns."""

    def __init__(self, chance: Random, columns: Sequence[Reference]) -> None:
        self.chance = chance
        self.columns = columns

    def of(self, type_: str, depth: int = 2) -> str:
        """An expression of a type, at most so many levels deep."""
        fitting = [each.text for each in self.columns if each.type == type_]
        if fitting and (depth == 0 or self.chance.random() < 0.55):
            return self.chance.choice(fitting)
        if depth == 0 or self.chance.random() < 0.15:
            return self.chance.choice(_LITERALS[type_])
        return self.filled(self.chance.choice(_FORMS[type_]), depth - 1)

    def filled(self, form: str, depth: int) -> str:
        """The template with an expression for each of its types."""
        head, *rest = form.split("{")
        pieces = [head]
        for piece in rest:
            type_, _, after = piece.partition("}")
            if type_.startswith(":"):
                pieces += [literal(self.chance, type_.removeprefix(":")), after]
                continue
            value = self.of(type_, depth)
            pieces += [value if value.isidentifier() else f"({value})", after]
        return "".join(pieces)

    def column(self, type_: str) -> str | None:
        """A column of a type, if there is one."""
        fitting = [each.text for each in self.columns if each.type == type_]
        return self.chance.choice(fitting) if fitting else None

    def any(self) -> tuple[str, str]:
        """An expression and its type, "" where it is of no account."""
        if self.chance.random() < 0.3:
            return self.call(), ""
        type_ = self.chance.choice((*ORDERED, *NESTED, "NESTED"))
        return self.of(type_), "" if type_ == "NESTED" else type_

    def call(self) -> str:
        """A call of any scalar function of the catalog: its example, mostly over a column."""
        node = _example(self.chance.choice(_SCALARS).name).copy()
        arguments = node.expressions if isinstance(node, exp.Anonymous) else []
        if arguments and node.name not in _EXAMPLE_ONLY and self.chance.random() < 0.7:
            type_ = _type_of(arguments[0])
            if type_ is not None:
                return _replaced(node, self.of(type_, 1))
        return written(node)

    def aggregate(self, *, distinct: bool = True) -> str:
        """A call of an aggregate function."""
        chance = self.chance
        forms = _AGGREGATES if distinct else _AGGREGATES[:-_DISTINCT]
        call = self.filled(chance.choice(forms), 1)
        return f"{call} FILTER (WHERE {self.of('BOOLEAN', 1)})" if chance.random() < 0.2 else call


_DISTINCT = 5
_AGGREGATES = (
    *("COUNT(*)", "COUNT({STRING})", "COUNT({INT}, {STRING})", "COUNT_IF({BOOLEAN})", "SUM({BIGINT} % 1000)"),
    *("SUM({DECIMAL})", "SUM({DOUBLE})", "SUM({INT})", "AVG({DECIMAL})", "AVG({INT})", "MEAN({DOUBLE})"),
    *(f"{name}({{{type_}}})" for name in ("MIN", "MAX") for type_ in ORDERED),
    *("MIN_BY({STRING}, {INT})", "MAX_BY({DECIMAL}, {TIMESTAMP})", "MAX_BY({STRUCT}, {BIGINT})"),
    *("STDDEV({DOUBLE})", "VAR_POP({INT})", "CORR({DOUBLE}, {INT})", "COVAR_POP({DOUBLE}, {DOUBLE})"),
    *("BOOL_AND({BOOLEAN})", "BOOL_OR({BOOLEAN})", "EVERY({BOOLEAN})"),
    *("COUNT(DISTINCT {STRING})", "COUNT(DISTINCT {INT}, {STRING})", "SUM(DISTINCT {DECIMAL})"),
    *("AVG(DISTINCT {INT})", "COUNT(DISTINCT {DOUBLE})"),
)
_SCALARS: tuple[Function, ...] = tuple(each for each in INSTALLED if not each.aggregate and not each.framed)


@cache
def _example(name: str) -> exp.Expression:
    return expression(next(each.example[0] for each in FUNCTIONS if each.name == name))


def _type_of(argument: exp.Expression) -> str | None:
    """The type whose columns may stand where an example has this literal."""
    if not isinstance(argument, exp.Literal):
        return None
    if argument.is_string:
        return "STRING"
    return "INT" if argument.name.isdecimal() else "DOUBLE"


def _replaced(node: exp.Expression, value: str) -> str:
    first, *others = node.expressions
    del first
    return f"{node.name}({', '.join([value, *map(written, others)])})"
