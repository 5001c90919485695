"""Functions of numbers."""

from __future__ import annotations

from decimal import Decimal as Number

from sqlglot import exp

from penstock.planner.functions.facts import Failing, NullForm, RowFault
from penstock.planner.functions.function import Function
from penstock.planner.types import BIGINT, Decimal, Type

_D = ("(DOUBLE) -> DOUBLE",)
_WHOLE = ("(DECIMAL(p, s)) -> DECIMAL(p - s + 1, 0)", "(I) -> BIGINT", "(DOUBLE) -> BIGINT")


def _whole(arguments: tuple[exp.Expression, ...], types: tuple[Type, ...]) -> Type | None:
    """A DECIMAL without its scale, and with one more digit if it had one; BIGINT of anything else."""
    number = types[0]
    if not isinstance(number, Decimal):
        return BIGINT
    return number if number.scale == 0 else Decimal(number.precision - number.scale + 1, 0)


def _rounded(arguments: tuple[exp.Expression, ...], types: tuple[Type, ...]) -> Type | None:
    """ROUND keeps the type, but the digits that a DECIMAL keeps depend on the literal second argument."""
    digits = 0
    if len(arguments) == 2:
        literal = arguments[1]
        negative = isinstance(literal, exp.Neg)
        literal = literal.this if negative else literal
        if not isinstance(literal, exp.Literal):
            return None
        digits = -int(literal.name) if negative else int(literal.name)
    number = types[0]
    if not isinstance(number, Decimal):
        return number
    whole = number.precision - number.scale + 1
    if digits < 0:
        return Decimal(min(38, max(whole, 1 - digits)), 0)
    scale = min(number.scale, digits)
    return Decimal(min(38, whole + scale), scale)


_ROUND = ("(N) -> N", "(N, INT) -> N")
_OPERATOR = ("(N, N) -> N",)
_SHIFT = ("(INT, INT) -> INT", "(BIGINT, INT) -> BIGINT")

MATH = (
    Function(
        "ABS",
        ("(N) -> N", "(INTERVAL) -> INTERVAL"),
        "the absolute value",
        ("ABS(-2.5)", Number("2.5")),
        failing=Failing(),
        raises=(RowFault.OVERFLOW,),
    ),
    Function("ACOS", _D, "the arc cosine", ("ACOS(1)", 0.0)),
    Function("ACOSH", _D, "the inverse hyperbolic cosine", ("ACOSH(1)", 0.0)),
    Function("ASIN", _D, "the arc sine", ("ASIN(0)", 0.0)),
    Function("ASINH", _D, "the inverse hyperbolic sine", ("ASINH(0)", 0.0)),
    Function("ATAN", _D, "the arc tangent", ("ATAN(0)", 0.0)),
    Function("ATAN2", ("(DOUBLE, DOUBLE) -> DOUBLE",), "the angle of the point (second, first)", ("ATAN2(0, 1)", 0.0)),
    Function("ATANH", _D, "the inverse hyperbolic tangent", ("ATANH(0)", 0.0)),
    Function("BIN", ("(BIGINT) -> STRING",), "a whole number in binary digits", ("BIN(13)", "1101")),
    Function("BIT_COUNT", ("(I) -> INT", "(BOOLEAN) -> INT"), "how many bits are set", ("BIT_COUNT(7)", 3)),
    Function(
        "BIT_GET",
        ("(I, INT) -> TINYINT",),
        "one bit, counted from 0 at the right",
        ("BIT_GET(11, 0)", 1),
        failing=Failing(literals=(1,)),
        raises=(RowFault.ARGUMENT,),
        spark_name="GETBIT",
    ),
    Function(
        "BROUND",
        _ROUND,
        "rounded to n digits, halves to the even digit",
        ("BROUND(2.5, 0)", Number("2")),
        result=_rounded,
        failing=Failing(),
        raises=(RowFault.OVERFLOW,),
    ),
    Function("CBRT", _D, "the cube root", ("CBRT(27)", 3.0)),
    Function(
        "CEIL", _WHOLE, "the next whole number upwards", ("CEIL(-0.1)", Number("0")), result=_whole, failing=Failing()
    ),
    Function("CEILING", _WHOLE, "the same as CEIL", ("CEILING(1.2)", Number("2")), result=_whole, failing=Failing()),
    Function(
        "CONV",
        ("(STRING, INT, INT) -> STRING",),
        "a number from one base to another",
        ("CONV('100', 2, 10)", "4"),
        failing=Failing(),
        raises=(RowFault.OVERFLOW,),
    ),
    Function("COS", _D, "the cosine of an angle in radians", ("COS(0)", 1.0)),
    Function("COSH", _D, "the hyperbolic cosine", ("COSH(0)", 1.0)),
    Function("COT", _D, "the cotangent", ("COT(1)", 0.6420926159343306)),
    Function("CSC", _D, "the cosecant", ("CSC(1)", 1.1883951057781212)),
    Function("DEGREES", _D, "radians in degrees", ("DEGREES(3.141592653589793)", 180.0)),
    Function("E", ("() -> DOUBLE",), "Euler's number", ("E()", 2.718281828459045)),
    Function("EXP", _D, "e to the power of the argument", ("EXP(0)", 1.0)),
    Function("EXPM1", _D, "EXP(x) - 1", ("EXPM1(0)", 0.0)),
    Function("FACTORIAL", ("(INT) -> BIGINT",), "n!, NULL outside 0 to 20", ("FACTORIAL(5)", 120)),
    Function(
        "FLOOR",
        _WHOLE,
        "the next whole number downwards",
        ("FLOOR(-0.1)", Number("-1")),
        result=_whole,
        failing=Failing(),
    ),
    Function(
        "GETBIT",
        ("(I, INT) -> TINYINT",),
        "the same as BIT_GET",
        ("GETBIT(11, 2)", 0),
        failing=Failing(literals=(1,)),
        raises=(RowFault.ARGUMENT,),
    ),
    Function("HYPOT", ("(DOUBLE, DOUBLE) -> DOUBLE",), "the length of the hypotenuse", ("HYPOT(3, 4)", 5.0)),
    Function("ISNAN", ("(F) -> BOOLEAN",), "whether it is not a number", ("ISNAN(CAST('NaN' AS DOUBLE))", True)),
    Function("LN", _D, "the natural logarithm, NULL if not positive", ("LN(1)", 0.0)),
    Function(
        "LOG",
        ("(DOUBLE) -> DOUBLE", "(DOUBLE, DOUBLE) -> DOUBLE"),
        "the logarithm, first argument the base",
        ("LOG(2, 8)", 3.0),
    ),
    Function("LOG10", _D, "the logarithm to base 10", ("LOG10(1000)", 3.0)),
    Function("LOG1P", _D, "LN(1 + x)", ("LOG1P(0)", 0.0)),
    Function("LOG2", _D, "the logarithm to base 2", ("LOG2(8)", 3.0)),
    Function(
        "MOD",
        ("(I, I) -> I",),
        "the remainder, with the sign of the first",
        ("MOD(-7, 3)", -1),
        failing=Failing(null_form=NullForm("TRY_MOD", "R020")),
        raises=(RowFault.ZERO_DIVISOR,),
    ),
    Function(
        "NANVL",
        ("(F, F) -> F", "(DOUBLE, DOUBLE) -> DOUBLE"),
        "the second argument if the first is NaN",
        ("NANVL(CAST('NaN' AS DOUBLE), 1)", 1.0),
    ),
    Function(
        "NEGATIVE",
        ("(N) -> N", "(INTERVAL) -> INTERVAL"),
        "the number with the other sign",
        ("NEGATIVE(2)", -2),
        failing=Failing(),
        raises=(RowFault.OVERFLOW,),
    ),
    Function("PI", ("() -> DOUBLE",), "the ratio of circumference and diameter", ("PI()", 3.141592653589793)),
    Function(
        "PMOD",
        ("(I, I) -> I",),
        "the remainder, never negative for a positive divisor",
        ("PMOD(-7, 3)", 2),
        failing=Failing(),
        raises=(RowFault.ZERO_DIVISOR,),
    ),
    Function("POSITIVE", ("(N) -> N", "(INTERVAL) -> INTERVAL"), "the number itself", ("POSITIVE(2)", 2)),
    Function("POW", ("(DOUBLE, DOUBLE) -> DOUBLE",), "the same as POWER", ("POW(2, 10)", 1024.0)),
    Function("POWER", ("(DOUBLE, DOUBLE) -> DOUBLE",), "the first to the power of the second", ("POWER(2, 3)", 8.0)),
    Function("RADIANS", _D, "degrees in radians", ("RADIANS(180)", 3.141592653589793)),
    Function("RINT", _D, "the nearest whole number, halves to the even one", ("RINT(2.5)", 2.0)),
    Function(
        "ROUND",
        _ROUND,
        "rounded to n digits, halves away from 0",
        ("ROUND(2.345, 2)", Number("2.35")),
        result=_rounded,
        failing=Failing(),
        raises=(RowFault.OVERFLOW,),
    ),
    Function("SEC", _D, "the secant", ("SEC(0)", 1.0)),
    Function("SHIFTLEFT", _SHIFT, "the bits moved left", ("SHIFTLEFT(1, 3)", 8)),
    Function("SHIFTRIGHT", _SHIFT, "the bits moved right, the sign kept", ("SHIFTRIGHT(-8, 1)", -4)),
    Function(
        "SHIFTRIGHTUNSIGNED",
        _SHIFT,
        "the bits moved right, zeros at the left",
        ("SHIFTRIGHTUNSIGNED(-8, 1)", 2147483644),
    ),
    Function("SIGN", _D, "-1, 0 or 1", ("SIGN(-3)", -1.0)),
    Function("SIGNUM", _D, "the same as SIGN", ("SIGNUM(3)", 1.0)),
    Function("SIN", _D, "the sine of an angle in radians", ("SIN(0)", 0.0)),
    Function("SINH", _D, "the hyperbolic sine", ("SINH(0)", 0.0)),
    Function("SQRT", _D, "the square root", ("SQRT(16)", 4.0)),
    Function("TAN", _D, "the tangent of an angle in radians", ("TAN(0)", 0.0)),
    Function("TANH", _D, "the hyperbolic tangent", ("TANH(0)", 0.0)),
    Function("TRY_ADD", _OPERATOR, "a + b, NULL where that fails", ("TRY_ADD(2147483647, 1)", None), operator=exp.Add),
    Function("TRY_DIVIDE", _OPERATOR, "a / b, NULL where that fails", ("TRY_DIVIDE(1, 0)", None), operator=exp.Div),
    Function("TRY_MOD", _OPERATOR, "a % b, NULL where that fails", ("TRY_MOD(-7, 3)", -1), operator=exp.Mod),
    Function(
        "TRY_MULTIPLY",
        _OPERATOR,
        "a * b, NULL where that fails",
        ("TRY_MULTIPLY(2.5, 2)", Number("5.0")),
        operator=exp.Mul,
    ),
    Function("TRY_SUBTRACT", _OPERATOR, "a - b, NULL where that fails", ("TRY_SUBTRACT(1, 2)", -1), operator=exp.Sub),
    Function(
        "WIDTH_BUCKET",
        ("(DOUBLE, DOUBLE, DOUBLE, BIGINT) -> BIGINT",),
        "which of n equal parts of a range it falls in",
        ("WIDTH_BUCKET(5.3, 0.2, 10.6, 5)", 3),
    ),
)
