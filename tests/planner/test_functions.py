"""The catalog of functions is whole, and its documentation is current."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from sqlglot import exp

from penstock.parser import SYNONYMS
from penstock.planner.functions import (
    FOREIGN,
    FUNCTIONS,
    REFUSED,
    Function,
    clock_calls,
    find_function,
    is_aggregate,
    is_framed,
    reference,
)
from penstock.planner.functions.signature import ArrayOf, DecimalOf, LambdaOf, MapOf, Signature, Variable, signature
from penstock.planner.types import BOOLEAN, INT, STRING
from tests.planner.expressions import calls_aggregate, expression

PAGE = Path(__file__).parents[2] / "docs" / "functions.md"


def test_the_page_is_current(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--accept"):
        PAGE.write_text(reference(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == reference()


def test_a_name_stands_for_one_function() -> None:
    assert [name for name, count in Counter(function.name for function in FUNCTIONS).items() if count > 1] == []
    assert [name for name in REFUSED if find_function(name)] == []


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_an_entry_is_well_formed(function: Function) -> None:
    assert function.name == function.name.upper()
    assert function.doc
    assert not function.doc.endswith(".")
    assert all(signature(text) for text in function.signatures)
    assert f"{function.name}(" in function.example[0]
    assert calls_aggregate(expression(function.example[0])) == function.aggregate


def test_functions_of_other_systems_are_not_in_the_catalog() -> None:
    """Nothing that Spark has is hidden by a function of another system with as many arguments."""
    for text, _ in SYNONYMS:
        function = find_function(text.partition("(")[0])
        count = 0 if "()" in text else text.count(",") + 1
        shapes = [] if function is None else [signature(each) for each in function.signatures]
        assert all(shape.expand(count) is None for shape in shapes), text
    assert [name for name in FOREIGN if find_function(name) or name in REFUSED] == []


def test_names_are_found_without_regard_to_case() -> None:
    found = find_function("upper")
    assert found is not None
    assert found is find_function("UPPER")
    assert find_function("nonsense") is None


def test_aggregates_frames_and_the_clock() -> None:
    assert (is_aggregate("sum"), is_aggregate("abs"), is_aggregate("nonsense")) == (True, False, False)
    assert (is_framed("lag"), is_framed("sum"), is_framed("nonsense")) == (True, False, False)
    calls = exp.Tuple(expressions=[exp.Anonymous(this=name) for name in ("now", "current_date", "year")])
    assert [call.this for call in clock_calls(calls)] == ["now", "current_date"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("() -> INT", Signature((), False, INT)),
        ("(STRING, STRING...) -> STRING", Signature((STRING, STRING), True, STRING)),
        (
            "(ARRAY<T>, (T, INT) -> BOOLEAN) -> ARRAY<T>",
            Signature((ArrayOf(Variable("T")), LambdaOf((Variable("T"), INT), BOOLEAN)), False, ArrayOf(Variable("T"))),
        ),
        ("(MAP<K, V>) -> INT", Signature((MapOf(Variable("K"), Variable("V")),), False, INT)),
        ("(DECIMAL(p, s)) -> DECIMAL(p + 4, s)", Signature((DecimalOf("p", "s"),), False, DecimalOf("p + 4", "s"))),
    ],
)
def test_signatures_are_read(text: str, expected: Signature) -> None:
    assert signature(text) == expected


def test_a_malformed_signature_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected"):
        signature("(INT) INT")
