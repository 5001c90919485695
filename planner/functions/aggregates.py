"""Aggregates. All of them give the same result whatever the order of the rows, but for the last digits of DOUBLE."""

from __future__ import annotations

from decimal import Decimal

from msgspec.structs import replace

from penstock.planner.functions.facts import Collecting, DistinctRule, Framing, Retraction, RowFault
from penstock.planner.functions.function import Function, synonym

EXAMPLE_ROWS = (
    "VALUES (1, 2.50BD, 1.0D, 'a', true), (2, 3.50BD, 2.0D, 'b', false), (4, 6.00BD, 6.0D, 'b', true), "
    "(NULL, NULL, NULL, NULL, NULL) AS t(n, d, x, s, b)"
)
"""What the examples are computed over: n INT, d DECIMAL(3, 2), x DOUBLE, s STRING, b BOOLEAN."""


def _aggregate(
    name: str,
    signatures: tuple[str, ...],
    doc: str,
    example: tuple[str, object],
    framing: Framing | None = None,
    retraction: Retraction | None = None,
    distinct: DistinctRule | None = None,
    raises: tuple[RowFault, ...] = (),
) -> Function:
    return Function(
        name,
        signatures,
        doc,
        example,
        aggregate=True,
        framing=framing,
        retraction=retraction,
        distinct=distinct,
        raises=raises,
    )


_DOUBLES = ("(DOUBLE) -> DOUBLE",)
_PAIRS = ("(DOUBLE, DOUBLE) -> DOUBLE",)
_BOOLEANS = ("(BOOLEAN) -> BOOLEAN",)

_AVG = _aggregate(
    "AVG",
    ("(DECIMAL(p, s)) -> DECIMAL(p + 4, s + 4)", "(N) -> DOUBLE", "(INTERVAL) -> INTERVAL"),
    "the mean; NULL over no rows",
    ("AVG(d)", Decimal("4.000000")),
    Framing.MEAN,
    Retraction.MEAN,
    DistinctRule.MEAN,
)
_STDDEV_SAMP = _aggregate(
    "STDDEV_SAMP",
    _DOUBLES,
    "the standard deviation of a sample (divisor n - 1)",
    ("STDDEV_SAMP(n)", 1.5275252316519468),
    Framing.SAME,
    Retraction.STDDEV_SAMP,
)
_VAR_SAMP = _aggregate(
    "VAR_SAMP",
    _DOUBLES,
    "the variance of a sample (divisor n - 1)",
    ("VAR_SAMP(x)", 7.0),
    Framing.SAME,
    Retraction.VAR_SAMP,
)
_BOOL_AND = _aggregate(
    "BOOL_AND",
    _BOOLEANS,
    "whether it is true in all rows where it is not NULL",
    ("BOOL_AND(b)", False),
    Framing.SAME,
    Retraction.ALL,
    DistinctRule.IDEMPOTENT,
)
_BOOL_OR = _aggregate(
    "BOOL_OR",
    _BOOLEANS,
    "whether it is true in some row",
    ("BOOL_OR(b)", True),
    Framing.SAME,
    Retraction.SOME,
    DistinctRule.IDEMPOTENT,
)


def _collecting(
    name: str, signatures: tuple[str, ...], doc: str, example: tuple[str, object], collecting: Collecting
) -> Function:
    rule = DistinctRule.COLLECT
    entry = _aggregate(name, signatures, doc, example, retraction=Retraction.COLLECT, distinct=rule)
    return replace(entry, collecting=collecting)


_COLLECT_LIST = _collecting(
    "COLLECT_LIST",
    ("(O) -> ARRAY<O>",),
    "the values in order, or as ORDER BY says: COLLECT_LIST(s ORDER BY n DESC)",
    ("COLLECT_LIST(s)", ["a", "b", "b"]),
    Collecting.LIST,
)
_LISTAGG = _collecting(
    "LISTAGG",
    ("(STRING, SEPARATOR) -> STRING",),
    "the texts in order, or as WITHIN GROUP (ORDER BY …) says, with a text between them; NULL over no rows",
    ("LISTAGG(s, ', ')", "a, b, b"),
    Collecting.TEXT,
)
_TOPK = _collecting(
    "TOPK",
    ("(O, TOP) -> ARRAY<O>",),
    "so many of the greatest values, the greatest first",
    ("TOPK(n, 2)", [4, 2]),
    Collecting.TOP,
)

AGGREGATES = (
    _aggregate(
        "COUNT",
        ("(ANY...) -> BIGINT",),
        "the rows in which no argument is NULL; COUNT(*): all rows",
        ("COUNT(n)", 3),
        Framing.COUNT,
        Retraction.COUNT,
        DistinctRule.COUNT,
    ),
    _aggregate(
        "COUNT_IF",
        ("(BOOLEAN) -> BIGINT",),
        "the rows for which it is true",
        ("COUNT_IF(b)", 2),
        Framing.COUNT_IF,
        Retraction.COUNT_IF,
    ),
    _aggregate(
        "SUM",
        ("(I) -> BIGINT", "(DECIMAL(p, s)) -> DECIMAL(p + 10, s)", "(F) -> DOUBLE", "(INTERVAL) -> INTERVAL"),
        "the sum; NULL over no rows",
        ("SUM(d)", Decimal("12.00")),
        Framing.SUM,
        Retraction.SUM,
        DistinctRule.SUM,
        raises=(RowFault.OVERFLOW,),
    ),
    _AVG,
    synonym("MEAN", _AVG, ("MEAN(x)", 3.0)),
    _aggregate(
        "MIN",
        ("(O) -> O",),
        "the least value",
        ("MIN(n)", 1),
        Framing.MIN,
        Retraction.MIN,
        DistinctRule.IDEMPOTENT,
    ),
    _aggregate(
        "MAX",
        ("(O) -> O",),
        "the greatest value",
        ("MAX(s)", "b"),
        Framing.MAX,
        Retraction.MAX,
        DistinctRule.IDEMPOTENT,
    ),
    _aggregate(
        "MIN_BY",
        ("(T, O) -> T",),
        "the first argument of the row where the second is least; the least one of several rows",
        ("MIN_BY(s, x)", "a"),
        Framing.MIN_BY,
        Retraction.MIN_BY,
        DistinctRule.IDEMPOTENT,
    ),
    _aggregate(
        "MAX_BY",
        ("(T, O) -> T",),
        "the first argument of the row where the second is greatest; the greatest one of several rows",
        ("MAX_BY(n, x)", 4),
        Framing.MAX_BY,
        Retraction.MAX_BY,
        DistinctRule.IDEMPOTENT,
    ),
    synonym("STDDEV", _STDDEV_SAMP, ("STDDEV(n)", 1.5275252316519468)),
    _STDDEV_SAMP,
    _aggregate(
        "STDDEV_POP",
        _DOUBLES,
        "the standard deviation of a population (divisor n)",
        ("STDDEV_POP(n)", 1.247219128924647),
        Framing.STDDEV_POP,
        Retraction.STDDEV_POP,
    ),
    synonym("STD", _STDDEV_SAMP, ("STD(n)", 1.5275252316519468)),
    synonym("VARIANCE", _VAR_SAMP, ("VARIANCE(x)", 7.0)),
    _VAR_SAMP,
    _aggregate(
        "VAR_POP",
        _DOUBLES,
        "the variance of a population (divisor n)",
        ("VAR_POP(n)", 1.5555555555555556),
        Framing.VAR_POP,
        Retraction.VAR_POP,
    ),
    _aggregate("SKEWNESS", _DOUBLES, "how lopsided the distribution is", ("SKEWNESS(x)", 0.5951700641394974)),
    _aggregate("KURTOSIS", _DOUBLES, "how heavy the tails are, minus 3", ("KURTOSIS(x)", -1.5)),
    _aggregate("CORR", _PAIRS, "Pearson's correlation", ("CORR(x, x)", 1.0)),
    _aggregate(
        "COVAR_POP", _PAIRS, "the covariance of a population (divisor n)", ("COVAR_POP(n, n)", 1.5555555555555556)
    ),
    _aggregate("COVAR_SAMP", _PAIRS, "the covariance of a sample (divisor n - 1)", ("COVAR_SAMP(x, x)", 7.0)),
    _aggregate("REGR_AVGX", _PAIRS, "the mean of the second argument", ("REGR_AVGX(n, x)", 3.0)),
    _aggregate("REGR_AVGY", _PAIRS, "the mean of the first argument", ("REGR_AVGY(x, x)", 3.0)),
    _aggregate(
        "REGR_COUNT", ("(DOUBLE, DOUBLE) -> BIGINT",), "the rows in which neither is NULL", ("REGR_COUNT(n, x)", 3)
    ),
    _aggregate(
        "REGR_INTERCEPT",
        _PAIRS,
        "where the line of least squares, first argument over second, meets 0",
        ("REGR_INTERCEPT(x, x)", 0.0),
    ),
    _aggregate("REGR_R2", _PAIRS, "the coefficient of determination of that line", ("REGR_R2(x, x)", 1.0)),
    _aggregate("REGR_SLOPE", _PAIRS, "the slope of that line", ("REGR_SLOPE(x, x)", 1.0)),
    _aggregate(
        "REGR_SXX", _PAIRS, "the sum of squared differences of the second from its mean", ("REGR_SXX(n, x)", 14.0)
    ),
    _aggregate("REGR_SXY", _PAIRS, "the sum of products of both differences", ("REGR_SXY(n, x)", 8.0)),
    _aggregate(
        "REGR_SYY", _PAIRS, "the sum of squared differences of the first from its mean", ("REGR_SYY(x, n)", 14.0)
    ),
    _aggregate(
        "TRY_AVG",
        ("(DECIMAL(p, s)) -> DECIMAL(p + 4, s + 4)", "(N) -> DOUBLE", "(INTERVAL) -> INTERVAL"),
        "as AVG, but NULL where that overflows",
        ("TRY_AVG(d)", Decimal("4.000000")),
    ),
    _aggregate(
        "TRY_SUM",
        ("(I) -> BIGINT", "(DECIMAL(p, s)) -> DECIMAL(p + 10, s)", "(F) -> DOUBLE", "(INTERVAL) -> INTERVAL"),
        "as SUM, but NULL where that overflows",
        ("TRY_SUM(n)", 7),
    ),
    _BOOL_AND,
    synonym("EVERY", _BOOL_AND, ("EVERY(n > 0)", True)),
    _BOOL_OR,
    synonym("ANY", _BOOL_OR, ("ANY(n > 3)", True)),
    synonym("SOME", _BOOL_OR, ("SOME(n > 4)", False)),
    _aggregate(
        "BIT_AND",
        ("(I) -> I",),
        "the bits set in all values",
        ("BIT_AND(n)", 0),
        Framing.SAME,
        Retraction.BITS,
        DistinctRule.IDEMPOTENT,
    ),
    _aggregate(
        "BIT_OR",
        ("(I) -> I",),
        "the bits set in some value",
        ("BIT_OR(n)", 7),
        Framing.SAME,
        Retraction.BITS,
        DistinctRule.IDEMPOTENT,
    ),
    _aggregate(
        "BIT_XOR",
        ("(I) -> I",),
        "the bits set in an odd number of values",
        ("BIT_XOR(n)", 7),
        Framing.SAME,
        Retraction.PARITY,
    ),
    replace(
        _aggregate(
            "APPROX_COUNT_DISTINCT",
            ("(ORDERED) -> BIGINT",),
            "about how many different values there are (standard error 5 %), in bounded memory",
            ("APPROX_COUNT_DISTINCT(s)", 2),
        ),
        sketch_bytes=416,
    ),
    _COLLECT_LIST,
    synonym("ARRAY_AGG", _COLLECT_LIST, ("ARRAY_AGG(n)", [1, 2, 4])),
    replace(
        _COLLECT_LIST,
        name="COLLECT_SET",
        doc="the different values in order",
        example=("COLLECT_SET(s)", ["a", "b"]),
        is_distinct=True,
    ),
    _LISTAGG,
    synonym("STRING_AGG", _LISTAGG, ("STRING_AGG(s, '-')", "a-b-b")),
    _TOPK,
    replace(
        _TOPK,
        name="TOPKDISTINCT",
        doc="so many of the greatest different values, the greatest first",
        example=("TOPKDISTINCT(s, 2)", ["b", "a"]),
        is_distinct=True,
    ),
)
