"""Scalar expressions, case by case."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from itertools import product

import pytest
from sqlglot import exp

from penstock.evaluator.expression_values import evaluate_scalar, like
from penstock.evaluator.typed_values import QueryFailure, Row, Types, Unsupported, Value, cast
from penstock.planner import types as t
from tests.model.plans import call, column

TYPES: Types = {
    "i": t.INT, "l": t.BIGINT, "d": t.Decimal(10, 2), "e": t.Decimal(20, 5), "wide": t.Decimal(38, 10), "f": t.DOUBLE,
    "s": t.STRING, "b": t.BOOLEAN, "ts": t.TIMESTAMP, "none": t.BIGINT,
}  # fmt: skip
ROW: Row = {
    "i": 7, "l": -3, "d": Decimal("12.35"), "e": Decimal("3.14159"), "wide": Decimal("1.0000000000"), "f": 2.5,
    "s": " Hello_World ", "b": True, "ts": datetime(2026, 5, 17, 13, 45, 59, 123000), "none": None,
}  # fmt: skip
NULL, TRUE, FALSE = exp.Null(), exp.Boolean(this=True), exp.Boolean(this=False)


def number(text: str) -> exp.Expression:
    return exp.Literal.number(text)


def text(value: str) -> exp.Expression:
    return exp.Literal.string(value)


def value(node: exp.Expression, **changed: Value) -> Value:
    return evaluate_scalar(node, ROW | changed, TYPES)


def binary(kind: type[exp.Expression], left: str | exp.Expression, right: str | exp.Expression) -> exp.Expression:
    left, right = (column(each) if isinstance(each, str) else each for each in (left, right))
    return kind(this=left, expression=right)


@pytest.mark.parametrize(
    ("kind", "left", "right", "expected"),
    [
        (exp.Add, "d", "e", "15.49159"),
        (exp.Mul, "d", "e", "38.7986365"),
        (exp.Div, "d", "e", "3.93113041485362507520077"),
        (exp.Div, "d", number("3"), "4.116667"),
        (exp.Mod, "d", "e", "2.92523"),
        (exp.Mul, number("1.5"), number("2.25"), "3.375"),
        (exp.Mul, "wide", "wide", "1.000000"),
        (exp.IntDiv, "i", "l", "-2"),
        (exp.Mod, "i", "l", "1"),
        (exp.Div, "i", number("2"), "3.5"),
        (exp.Add, "i", "none", "None"),
    ],
)
def test_arithmetic(kind: type[exp.Expression], left: str, right: str, expected: str) -> None:
    assert str(value(binary(kind, left, right))) == expected


def test_a_quotient_in_between_is_rounded_as_well() -> None:
    quotient = binary(exp.Div, "d", number("3"))
    assert str(value(binary(exp.Mul, exp.Paren(this=quotient), number("3")))) == "12.350001"


@pytest.mark.parametrize(
    ("node", "changed"),
    [
        (binary(exp.Add, "i", number("1")), {"i": 2**31 - 1}),
        (binary(exp.Mul, "l", "l"), {"l": 2**32}),
        (exp.Neg(this=column("l")), {"l": -(2**63)}),
        (binary(exp.Div, "d", number("0")), {}),
        (binary(exp.IntDiv, "i", number("0")), {}),
        (binary(exp.Mod, "f", "f"), {"f": 0.0}),
        (exp.Cast(this=column("s"), to=exp.DataType.build("INT")), {}),
        (exp.Cast(this=column("l"), to=exp.DataType.build("TINYINT")), {"l": 128}),
    ],
)
def test_what_ansi_sql_fails_on_fails(node: exp.Expression, changed: Row) -> None:
    with pytest.raises(QueryFailure):
        value(node, **changed)


def test_three_valued_logic() -> None:
    truths = {True: TRUE, False: FALSE, None: NULL}
    for a, b in product(truths, truths):
        both, either = (value(binary(kind, truths[a], truths[b])) for kind in (exp.And, exp.Or))
        assert both is (False if False in (a, b) else None if None in (a, b) else True)
        assert either is (True if True in (a, b) else None if None in (a, b) else False)
    assert value(exp.Not(this=NULL)) is None


def test_null_in_comparisons() -> None:
    assert value(binary(exp.EQ, "none", "none")) is None
    assert value(binary(exp.NullSafeEQ, "none", "none")) is True
    assert value(binary(exp.NullSafeNEQ, "none", "l")) is True
    assert value(exp.Is(this=column("none"), expression=NULL)) is True
    assert value(exp.In(this=column("i"), expressions=[number("7"), NULL])) is True
    assert value(exp.In(this=column("i"), expressions=[number("8"), NULL])) is None
    assert value(exp.Not(this=exp.In(this=column("i"), expressions=[number("8"), number("9")]))) is True
    assert value(exp.Between(this=column("i"), low=number("8"), high=NULL)) is False
    assert value(exp.Between(this=column("i"), low=number("7"), high=number("7"))) is True


def test_what_is_not_needed_is_not_computed() -> None:
    failing = binary(exp.IntDiv, "i", number("0"))
    assert value(call("COALESCE", column("i"), failing)) == 7
    assert value(binary(exp.And, FALSE, binary(exp.EQ, failing, "i"))) is False
    assert value(call("IF", FALSE, failing, number("1"))) == 1
    branches = [exp.If(this=TRUE, true=number("1")), exp.If(this=binary(exp.EQ, failing, "i"), true=number("2"))]
    assert value(exp.Case(ifs=branches)) == 1


def test_case() -> None:
    searched = exp.Case(ifs=[exp.If(this=NULL, true=number("1"))], default=number("2"))
    simple = exp.Case(this=column("i"), ifs=[exp.If(this=number("7"), true=text("seven"))])
    assert (value(searched), value(simple), value(simple, i=8)) == (2, "seven", None)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (call("SUBSTRING", column("s"), number("2"), number("3")), "Hel"),
        (call("SUBSTRING", column("s"), exp.Neg(this=number("3")), number("2")), "ld"),
        (call("SUBSTRING", column("s"), exp.Neg(this=number("20")), number("10")), " He"),
        (call("TRIM", column("s")), "Hello_World"),
        (call("INSTR", column("s"), text("o")), 6),
        (call("LPAD", text("abc"), number("5"), text("xy")), "xyabc"),
        (call("CONCAT_WS", text("-"), text("a"), NULL, text("b")), "a-b"),
        (call("CONCAT", text("a"), NULL), None),
        (call("GREATEST", column("i"), NULL, column("l")), 7),
        (call("NULLIF", column("i"), number("7")), None),
        (call("ROUND", column("d"), number("1")), Decimal("12.4")),
        (call("PMOD", column("l"), column("i")), 4),
        (call("DATE_TRUNC", text("week"), column("ts")), datetime(2026, 5, 11)),
        (call("DAYOFWEEK", column("ts")), 1),
        (call("UNIX_MILLIS", column("ts")), 1779025559123),
        (binary(exp.DPipe, "s", text("!")), " Hello_World !"),
        (binary(exp.Sub, "ts", exp.Interval(this=text("1"), unit=exp.Var(this="DAY"))), ROW["ts"].replace(day=16)),
        (exp.RegexpLike(this=column("s"), expression=text("o.W")), True),
        (exp.ILike(this=column("s"), expression=text("%hello%")), True),
    ],
)  # fmt: skip
def test_functions_and_operators(node: exp.Expression, expected: Value) -> None:
    assert value(node) == expected


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_of_38_digits_keep_them(sign: int) -> None:
    widest = Decimal(f"{'-' if sign < 0 else ''}{'9' * 28}.{'9' * 10}")
    assert cast(widest, t.Decimal(38, 10)) == widest
    assert value(exp.Neg(this=column("wide")), wide=widest) == widest.copy_negate()
    assert value(call("NEGATIVE", column("wide")), wide=widest) == widest.copy_negate()
    assert value(call("ABS", column("wide")), wide=widest) == widest.copy_abs()
    assert value(call("MOD", column("wide"), number("1")), wide=widest) == widest - int(widest)
    assert value(call("PMOD", column("wide"), number("7.0")), wide=widest) == widest % 7


def test_like() -> None:
    assert like("a%b", r"a\%b")
    assert not like("axb", r"a\%b")
    assert like("a\nb", "a_b")
    assert not like("ab", "a_b")


@pytest.mark.parametrize(
    ("source", "to", "expected"),
    [
        ("1.555", t.Decimal(5, 2), Decimal("1.56")),
        (Decimal("12.99"), t.INT, 12),
        (-2.5, t.BIGINT, -2),
        (True, t.INT, 1),
        ("yes", t.BOOLEAN, True),
        (Decimal("1.50"), t.STRING, "1.50"),
        (datetime(2026, 1, 1, 2, 3, 4, 500000), t.STRING, "2026-01-01 02:03:04.5"),
        (datetime(2026, 1, 1, 10, 20, 30), t.STRING, "2026-01-01 10:20:30"),
        ("2026-01-01 01:02:03", t.TIMESTAMP, datetime(2026, 1, 1, 1, 2, 3)),
        ("2026-01-01T01:00:00+02:00", t.TIMESTAMP, datetime(2025, 12, 31, 23)),
        (datetime(2026, 1, 1, 1), t.DATE, date(2026, 1, 1)),
        (date(2026, 1, 1), t.TIMESTAMP, datetime(2026, 1, 1)),
        ("10:30", t.TIME, time(10, 30)),
        ("1:2:3.5", t.TIME, time(1, 2, 3, 500_000)),
        (datetime(2026, 1, 1, 1, 2, 3, 4), t.TIME, time(1, 2, 3, 4)),
        (time(10, 30), t.STRING, "10:30:00"),
        (time(10, 30, 0, 120_000), t.STRING, "10:30:00.12"),
        (None, t.INT, None),
    ],
)
def test_cast(source: Value, to: t.Type, expected: Value) -> None:
    assert cast(source, to) == expected


def test_try_cast_gives_null() -> None:
    assert value(exp.TryCast(this=column("s"), to=exp.DataType.build("INT"))) is None


@pytest.mark.parametrize("node", [call("SOUNDEX", column("s")), exp.Lambda(this=column("i"), expressions=[])])
def test_what_is_unknown_is_not_guessed(node: exp.Expression) -> None:
    with pytest.raises(Unsupported):
        value(node)
