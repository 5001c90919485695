"""Calls, casts and differences that are accepted, and mean something else in another system."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from penstock.planner.scalars.literals import bare, whole_number
from penstock.planner.script.dialect_warnings.other_meaning import OtherMeaning, Rule, inner, text_of
from penstock.planner.types import BINARY, DATE, DOUBLE, FLOAT, INTEGERS, Decimal


def _has_fraction(part: exp.Expression) -> bool:
    type_ = inner(part).meta.get("type")
    return isinstance(type_, Decimal) or type_ in (FLOAT, DOUBLE)


def _judge_log(part: exp.Expression) -> OtherMeaning | None:
    if len(part.expressions) != 1 or not text_of(part).upper().startswith("LOG("):
        return None
    reason = "It is the natural logarithm here. There it is that to base 10."
    return OtherMeaning("LOG", "PostgreSQL", reason, f"LN({text_of(part.expressions[0])})")


def _judge_substring(part: exp.Expression) -> OtherMeaning | None:
    """A part of a text that begins before the first character."""
    if len(part.expressions) != 3:
        return None
    start, count = (whole_number(inner(each)) for each in part.expressions[1:])
    if start is None or start > 0 or count is None:
        return None
    text = text_of(part.expressions[0])
    reason = "Places before the first character are counted from the end here. There they are empty."
    hint = f"SUBSTRING({text}, 1, {max(start + count - 1, 0)})"
    return OtherMeaning(f"SUBSTRING from {start}", "PostgreSQL", reason, hint)


def _judge_number_format(part: exp.Expression) -> OtherMeaning | None:
    """TO_CHAR of a number."""
    outer = part.parent
    is_trimmed = isinstance(outer, exp.Anonymous) and outer.name.upper() in ("TRIM", "LTRIM", "BTRIM")
    if is_trimmed or not text_of(part).upper().startswith("TO_CHAR"):
        return None
    reason = "There is no place for the sign here. There a blank is in front of a number without a sign."
    return OtherMeaning("TO_CHAR of a number", "PostgreSQL", reason, f"LTRIM({text_of(part)})")


def _judge_digest(part: exp.Expression) -> OtherMeaning | None:
    """SHA256 and its sisters of bytes."""
    if len(part.expressions) != 2 or inner(part.expressions[0]).meta.get("type") != BINARY:
        return None
    written, outer = text_of(part), part.parent
    if isinstance(outer, exp.Anonymous) and outer.name.upper() == "UNHEX":
        return None
    if not re.match(r"SHA\d{3}\(", written, re.IGNORECASE):
        return None
    reason = "It is a text of hexadecimal digits here. There it is bytes."
    return OtherMeaning(written.partition("(")[0].upper(), "PostgreSQL", reason, f"UNHEX({written})")


def _judge_sort(part: exp.Expression) -> OtherMeaning | None:
    if len(part.expressions) != 1:
        return None
    reason = "NULLs come last here. There they come first."
    return OtherMeaning("ARRAY_SORT", "Flink", reason, f"SORT_ARRAY({text_of(part.expressions[0])})")


def judge_cut(part: exp.Expression) -> OtherMeaning | None:
    """`x::INT` of a number with a fraction."""
    span, value = part.meta.get("span"), part.this
    if span is None or "::" not in span.text or span == value.meta.get("span") or not _has_fraction(value):
        return None
    if part.meta.get("type") not in INTEGERS or isinstance(bare(value), exp.Round):
        return None
    if isinstance(bare(value), exp.Anonymous) and bare(value).name.upper() in ("ROUND", "FLOOR", "CEIL", "CEILING"):
        return None
    type_ = span.text.rpartition("::")[2].strip()
    reason = "It cuts the fraction off here. There it rounds."
    return OtherMeaning(f"::{type_}", "PostgreSQL", reason, f"ROUND({text_of(value)})::{type_}")


_CHAR = re.compile(r"\bCHAR(?:ACTER)?\s*\)?\s*\Z", re.IGNORECASE)


def is_one_character(part: exp.Expression) -> bool:
    """Whether it is a cast to CHAR without a length."""
    span = part.meta.get("span")
    return span is not None and span != part.this.meta.get("span") and _CHAR.search(span.text) is not None


def judge_character(part: exp.Expression) -> OtherMeaning:
    reason = "It is a text of any length here. There it is the first character."
    return OtherMeaning("a cast to CHAR", "Flink and PostgreSQL", reason, f"LEFT({text_of(part.this)}, 1)")


def _judge_days(part: exp.Expression) -> OtherMeaning | None:
    """A DATE minus a DATE."""
    left, right = part.this, part.args["expression"]
    if any(inner(each).meta.get("type") != DATE for each in (left, right)):
        return None
    reason = "It is an interval here. There it is a number of days."
    return OtherMeaning("DATE - DATE", "PostgreSQL", reason, f"DATEDIFF({text_of(left)}, {text_of(right)})")


def judge_round(part: exp.Expression) -> OtherMeaning | None:
    """ROUND of ksqlDB."""
    if len(part.expressions) != 1 or not _has_fraction(part.expressions[0]):
        return None
    reason = "Halves are rounded away from zero here. There they are rounded up."
    return OtherMeaning("ROUND", "ksqlDB", reason, f"FLOOR({text_of(part.expressions[0])} + 0.5)")


OPERATORS: Mapping[type[exp.Expression], Rule] = {exp.Sub: _judge_days}
CALLS: Mapping[str, Rule] = {
    "LOG": _judge_log,
    "LN": _judge_log,
    **dict.fromkeys(("SUBSTRING", "SUBSTR"), _judge_substring),
    "TO_CHAR": _judge_number_format,
    "SHA2": _judge_digest,
    "ARRAY_SORT": _judge_sort,
}
