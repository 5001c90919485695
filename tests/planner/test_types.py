"""Types as written and as printed, and what types have in common."""

from __future__ import annotations

import pytest
from sqlglot import exp

from penstock.diagnostics import Diagnostic
from penstock.planner.scalars import cast, common_type, data_type, is_lossless, type_of
from penstock.planner.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTERVAL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    VOID,
    Array,
    Decimal,
    Map,
    Struct,
    Type,
)
from tests.planner.expressions import COLUMNS, expression


def declared(text: str) -> tuple[Type | None, list[Diagnostic]]:
    node, report = expression(f"CAST(NULL AS {text})"), list[Diagnostic]()
    assert isinstance(node, exp.Cast)
    return type_of(node.to, report), report


@pytest.mark.parametrize("type_", [type_ for _, type_ in COLUMNS], ids=str)
def test_what_is_printed_is_read_back(type_: Type) -> None:
    assert declared(data_type(type_).sql("spark")) == (type_, [])


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("VARCHAR", STRING),
        ("DECIMAL", Decimal(10, 0)),
        ("DECIMAL(7)", Decimal(7, 0)),
        ("TIMESTAMP", TIMESTAMP),
        ("STRUCT<a: ARRAY<INT>, B: MAP<STRING, DATE>>", Struct((("a", Array(INT)), ("B", Map(STRING, DATE))))),
    ],
)
def test_types_as_written(text: str, type_: Type) -> None:
    assert declared(text) == (type_, [])


@pytest.mark.parametrize("text", ["DECIMAL(39, 2)", "DECIMAL(5, 6)", "DECIMAL(0)", "VARCHAR(10)", "ARRAY<DECIMAL(50)>"])
def test_types_that_there_are_not(text: str) -> None:
    type_, report = declared(text)
    assert type_ is None
    assert [problem.code for problem in report] == ["T009"]
    assert report[0].labels


def test_an_interval_is_printed_with_its_units() -> None:
    assert data_type(INTERVAL).sql("spark") == "INTERVAL DAY TO SECOND"


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        (TINYINT, SMALLINT, SMALLINT),
        (INT, BIGINT, BIGINT),
        (INT, FLOAT, DOUBLE),
        (FLOAT, DOUBLE, DOUBLE),
        (Decimal(10, 2), DOUBLE, DOUBLE),
        (Decimal(10, 2), INT, Decimal(12, 2)),
        (Decimal(10, 2), Decimal(5, 4), Decimal(12, 4)),
        (Decimal(38, 10), BIGINT, Decimal(38, 10)),
        (Decimal(38, 0), Decimal(38, 10), Decimal(38, 0)),
        (DATE, TIMESTAMP, TIMESTAMP),
        (VOID, DATE, DATE),
        (Array(INT), Array(BIGINT), Array(BIGINT)),
        (Map(STRING, INT), Map(STRING, DOUBLE), Map(STRING, DOUBLE)),
        (Struct((("a", INT),)), Struct((("A", BIGINT),)), Struct((("a", BIGINT),))),
        (Struct((("a", INT),)), Struct((("b", INT),)), None),
        (STRING, INT, None),
        (STRING, DATE, None),
        (BOOLEAN, INT, None),
        (Array(INT), Array(STRING), None),
    ],
)
def test_common_types(left: Type, right: Type, common: Type | None) -> None:
    assert common_type(left, right) == common
    if not isinstance(left, Struct):  # the field names are those of the first
        assert common_type(right, left) == common


@pytest.mark.parametrize(
    ("source", "target", "lossless"),
    [
        (INT, BIGINT, True),
        (BIGINT, INT, False),
        (INT, DOUBLE, True),
        (BIGINT, DOUBLE, False),
        (INT, FLOAT, False),
        (SMALLINT, FLOAT, True),
        (FLOAT, DOUBLE, True),
        (INT, Decimal(10, 0), True),
        (INT, Decimal(10, 2), False),
        (BIGINT, Decimal(20, 0), True),
        (Decimal(5, 2), Decimal(7, 4), True),
        (Decimal(5, 2), Decimal(6, 4), False),
        (Decimal(5, 0), INT, False),
        (Decimal(5, 2), DOUBLE, False),
        (DATE, TIMESTAMP, True),
        (TIMESTAMP, DATE, False),
        (INT, STRING, False),
        (VOID, STRING, True),
        (Array(INT), Array(BIGINT), True),
        (Map(INT, INT), Map(INT, TINYINT), False),
        (Struct((("a", INT),)), Struct((("A", BIGINT),)), True),
        (Struct((("a", INT),)), Struct((("b", INT),)), False),
    ],
)
def test_lossless_conversions(source: Type, target: Type, lossless: bool) -> None:
    assert is_lossless(source, target) is lossless


def test_a_cast_between_equal_types_is_none() -> None:
    node = expression("i")
    assert cast(node, INT, INT) is node
    assert cast(node, INT, BIGINT).sql("spark") == "CAST(i AS BIGINT)"
    assert cast(node, INT, BIGINT).meta["span"] is node.meta["span"]
