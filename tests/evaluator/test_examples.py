"""The evaluator gives the value of each function's example, as Spark does."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.evaluator.expression_values import TRIED, evaluate_scalar
from penstock.evaluator.functions import FUNCTIONS as KNOWN
from penstock.evaluator.functions import NULL_AWARE
from penstock.evaluator.typed_values import Unsupported
from penstock.planner.functions import FUNCTIONS, Function
from penstock.planner.scalars import Typed
from penstock.planner.types import INTEGERS, Decimal
from tests.planner.expressions import SCOPE, resolved

NAMES = {*KNOWN, *NULL_AWARE, *TRIED}
TRIED_HERE = [each for each in FUNCTIONS if each.name in NAMES and not each.aggregate and not each.framed]
NOT_YET = {"MAKE_TIMESTAMP", "TO_DATE", "UNIX_TIMESTAMP"}
"""Functions whose examples have arguments that the evaluator does not take."""


@pytest.mark.parametrize("function", TRIED_HERE, ids=lambda function: function.name)
def test_the_example_has_its_value(function: Function) -> None:
    typed = resolved(function.example[0], SCOPE)
    assert isinstance(typed, Typed)
    if function.name in NOT_YET:
        with pytest.raises(Unsupported):
            evaluate_scalar(typed.expression, {}, {})
        return
    value: Any = evaluate_scalar(typed.expression, {}, {})
    expected = function.example[1]
    assert value == (pytest.approx(expected) if isinstance(expected, float) else expected)
    if typed.type in INTEGERS or isinstance(typed.type, Decimal):
        assert not isinstance(value, float)


def test_enough_functions_are_known() -> None:
    assert len(TRIED_HERE) > 150
