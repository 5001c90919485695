"""The evaluator gives the value of each function's example, as Spark does, or says that it does not know it."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

import penstock
from penstock.evaluator import Unsupported, evaluate, evaluate_scalar
from penstock.planner.functions import FUNCTIONS, Function
from penstock.planner.scalars import Typed
from penstock.planner.types import INTEGERS
from penstock.planner.types import Decimal as DecimalType
from tests.planner.expressions import SCOPE, resolved

CLOCK = {each.name for each in FUNCTIONS if each.clock}
"""The clock of the machine, which tests do not set."""
UNKNOWN = {
    *CLOCK,
    *("APPROX_COUNT_DISTINCT", "HASH", "XXHASH64"),  # hashes of Spark's own
    *("FROM_CSV", "FROM_JSON", "TO_CSV"),  # the parsers of Spark, with their leniency
    *("PARSE_URL", "TRY_PARSE_URL"),  # the parser of Java
    *("TO_CHAR", "TO_NUMBER", "TO_VARCHAR", "TRY_TO_NUMBER"),  # formats of numbers
    *("JARO_WINKLER_SIMILARITY", "SENTENCES", "SOUNDEX"),
    *("VECTOR_COSINE_SIMILARITY", "VECTOR_INNER_PRODUCT", "VECTOR_L2_DISTANCE"),  # sums in single precision
    *("VECTOR_NORM", "VECTOR_NORMALIZE"),
}
"""All functions of the catalog that a test of a script needs Spark for."""
SCALARS = [each for each in FUNCTIONS if not each.aggregate and not each.framed]
AGGREGATES = [each for each in FUNCTIONS if each.aggregate]
ROWS: tuple[tuple[Any, ...], ...] = (
    (1, Decimal("2.50"), 1.0, "a", True),
    (2, Decimal("3.50"), 2.0, "b", False),
    (4, Decimal("6.00"), 6.0, "b", True),
    (None, None, None, None, None),
)
"""The rows of EXAMPLE_ROWS."""
DECLARED = """CREATE STREAM t (n INT, d DECIMAL(3, 2), x DOUBLE, s STRING, b BOOLEAN, time TIMESTAMP,
WATERMARK FOR time AS time) WITH (connector = 'files', path = 'p', format = 'json');"""


@pytest.mark.parametrize("function", SCALARS, ids=lambda function: function.name)
def test_the_example_has_its_value(function: Function) -> None:
    typed = resolved(function.example[0], SCOPE)
    assert isinstance(typed, Typed)
    if function.name in UNKNOWN:
        with pytest.raises(Unsupported, match="the clock" if function.clock else f"function {function.name}"):
            evaluate_scalar(typed.expression, {}, {})
        return
    value: Any = evaluate_scalar(typed.expression, {}, {})
    expected = function.example[1]
    assert value == (pytest.approx(expected) if isinstance(expected, float) else expected)
    if typed.type in INTEGERS or isinstance(typed.type, DecimalType):
        assert not isinstance(value, float)


@pytest.mark.parametrize("function", AGGREGATES, ids=lambda function: function.name)
def test_the_example_of_an_aggregate_has_its_value(function: Function) -> None:
    query = f"SELECT STREAM {function.example[0]} AS v FROM t GROUP BY TUMBLE(time, INTERVAL 1 HOUR);"
    (compiled,) = penstock.compile(DECLARED + query).queries
    names = ("n", "d", "x", "s", "b")
    rows = [dict(zip(names, values, strict=True)) | {"time": datetime(2026, 1, 1)} for values in ROWS]
    if function.name in UNKNOWN:
        with pytest.raises(Unsupported, match=f"aggregate {function.name}"):
            evaluate(compiled.root, {"t": rows})
        return
    ((value,),) = (row.values() for row in evaluate(compiled.root, {"t": rows}))
    expected: Any = function.example[1]
    assert value == (pytest.approx(expected) if isinstance(expected, float) else expected)


def test_few_functions_are_unknown() -> None:
    assert {each.name for each in FUNCTIONS} >= UNKNOWN
    assert len(UNKNOWN - CLOCK) <= 20
