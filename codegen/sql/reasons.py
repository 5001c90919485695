"""Why a record is malformed -> Spark SQL for the reason: the column, its type, and the text that stands there.

Only the query that writes rejected rows asks for it, and only of rejected records. So it may parse them once more.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.codegen.record_reasons import CUT, FIELDS
from penstock.codegen.sql.json_text import read_raw
from penstock.codegen.sql.trees import call, column, either, is_null, number, text
from penstock.planner.plan import Expression
from penstock.planner.types import Type

WHY = "_why"

Reason = tuple[Expression, Expression | str]
"""A condition, and what is told where it holds."""


def tell_why(reasons: Sequence[Reason]) -> Expression:
    """The first reason that holds; NULL if none does."""
    ifs = [exp.If(this=condition, true=text(why) if isinstance(why, str) else why) for condition, why in reasons]
    return exp.Case(ifs=ifs)


def tell_value(name: str, type_: Type, written: Expression) -> Expression:
    """`price is no DECIMAL(10, 2): 1.005`."""
    is_long = exp.GT(this=call("LENGTH", written.copy()), expression=number(CUT))
    cut = either(is_long, call("CONCAT", call("LEFT", written.copy(), number(CUT)), text("…")), written.copy())
    plain = call("REGEXP_REPLACE", cut, text(r"\p{Cc}"), text(" "))
    return call("CONCAT", text(f"{name} is no {type_}: "), call("COALESCE", plain, text("")))


def quote_field(value: Expression) -> Expression:
    """The text of a field in quotes, with escapes."""
    return call("REGEXP_REPLACE", call("TO_JSON", call("ARRAY", value.copy())), text("^.|.$"), text(""))


def raw_field(name: str) -> Expression:
    """What stands in a JSON record for a column."""
    return read_raw(column("value"), name)


def count_fields() -> Expression:
    """The reason of a CSV record with more or fewer fields. Quotes hide how many there are."""
    counted = call("CONCAT", text(f"{FIELDS}: "), call("SIZE", column("_texts")))
    return either(is_null(column("_texts")), text(FIELDS), counted)
