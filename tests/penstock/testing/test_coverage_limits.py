"""`penstock test --cover` at the least and the greatest values of types: what it prints can be given."""

from __future__ import annotations

from decimal import Decimal

import pytest

from penstock.compilation import compile
from penstock.planner.plan import Scan
from penstock.planner.plan.walk import list_nodes
from penstock.planner.types import Decimal as DecimalType
from penstock.testing.coverage_rows import FAILURES, fit_row
from penstock.testing.drawn_rows import fit_value
from penstock.testing.solved_values import fit_column
from tests.penstock.testing.test_coverage import cover_text

LIMITS = {
    "TINYINT": ("-128", "127"),
    "SMALLINT": ("-32768", "32767"),
    "INT": ("-2147483648", "2147483647"),
    "BIGINT": ("-9223372036854775808", "9223372036854775807"),
    "DECIMAL(4, 2)": ("-99.99", "99.99"),
    "DECIMAL(38, 30)": (f"-99999999.{'9' * 30}", f"99999999.{'9' * 30}"),
    "DATE": ("DATE '0001-01-01'", "DATE '9999-12-31'"),
    "TIMESTAMP": ("TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"),
    "TIME": ("TIME '00:00:00'", "TIME '23:59:59.999999'"),
    "FLOAT": ("-3.4028235e38", "3.4028235e38"),
    "DOUBLE": ("-1.7976931348623157e308", "1.7976931348623157e308"),
}
SOURCE = "CREATE STREAM s (k INT, v {type}) WITH (connector = 'files', path = 's', format = 'json');"


def list_conditions(type_: str) -> list[str]:
    """Each comparison with each limit, from both sides, and with what lies behind the limit in a wider type."""
    low, high = LIMITS[type_]
    compared = [f"v {sign} {limit}" for sign in ("<", "<=", ">", ">=", "=", "<>") for limit in (low, high)]
    return [
        *compared,
        f"{high} > v AND k > 3",
        f"v BETWEEN {low} AND {high}",
        f"v NOT BETWEEN {low} AND {high}",
        f"v IN ({low}, {high})",
        f"v NOT IN ({low}, {high})",
        f"CASE WHEN v < {high} THEN TRUE ELSE k > 3 END",
        f"v IS NOT NULL OR k > {2**31 - 1}",
    ]


@pytest.mark.parametrize("type_", LIMITS)
def test_rows_at_the_limits_of_types_can_be_given(type_: str) -> None:
    conditions = list_conditions(type_)
    streams = (f"CREATE STREAM s{n} AS SELECT STREAM k, v FROM s WHERE {each};" for n, each in enumerate(conditions))
    script = "\n".join((SOURCE.format(type=type_), *streams))
    result = cover_text(script)
    given = [each for each in result.classes if each.given]
    assert len(given) > 2 * len(conditions)
    tests = "".join("\n".join(each.given or []) + f"\nTHEN {each.relation} NOTHING;\n" for each in given)
    again = cover_text(script, tests, search=False)  # refuses what its column does not hold
    met = {
        (operator.title, each.text) for operator in again.operators for each in operator.classes.values() if each.met
    }
    for operator in result.operators:
        for each in operator.classes.values():
            assert not each.given or (operator.title, each.text) in met, (operator.title, each.text, each.given)


def test_values_are_drawn_for_decimals_of_all_widths() -> None:
    types = [DecimalType(precision, scale) for precision in range(1, 39) for scale in range(precision + 1)]
    for value in (Decimal(0), Decimal(1), Decimal("999999.9999")):
        assert all(fit_column(drawn := fit_value(value, each), each) == drawn for each in types)


def test_a_value_that_a_column_cannot_have_is_not_filled_in() -> None:
    (query,) = compile(SOURCE.format(type="TINYINT") + "CREATE STREAM r AS SELECT STREAM v FROM s;").queries
    (scan,) = (node for node in list_nodes(query.root) if isinstance(node, Scan))
    assert fit_row({"v": 127}, scan.origin) == {"v": 127}
    with pytest.raises(FAILURES):
        fit_row({"v": 128}, scan.origin)


def test_times_without_an_end() -> None:
    script = """
    CREATE STREAM s (k INT, day DATE, at TIMESTAMP) WITH (connector = 'files', path = 's', format = 'json');
    CREATE STREAM a AS SELECT STREAM k FROM s WHERE day < DATE '9999-12-31';
    CREATE STREAM b AS SELECT STREAM k FROM s WHERE at <= TIMESTAMP '9999-12-31 23:59:59.999';
    CREATE STREAM c AS SELECT STREAM k FROM s WHERE at > TIMESTAMP '0001-01-01 00:00:00';
    """
    texts = {each.text for each in cover_text(script).classes if each.given}
    assert {"a row whose day is '9999-12-31'", "a row whose day is '9999-12-30'"} <= texts
    assert "a row whose at is '0001-01-01 00:00:00.001000'" in texts
