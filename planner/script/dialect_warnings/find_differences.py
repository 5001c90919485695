"""Warnings of forms that are accepted, and mean something else in another system."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from sqlglot import exp

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.expression_types import T020
from penstock.parser import ast
from penstock.planner.plan import RunningQuery
from penstock.planner.plan.walk import walk
from penstock.planner.scalars.literals import bare, whole_number
from penstock.planner.script.dialect_warnings import differing_calls
from penstock.planner.script.dialect_warnings.differing_texts import CALLS, OPERATORS
from penstock.planner.script.dialect_warnings.other_meaning import OtherMeaning, Rule, argument_of, inner, text_of
from penstock.planner.types import INTEGERS, Array


class Places(msgspec.Struct):
    """Parts of texts that do not overlap, by their ends: a script may have thousands."""

    spans: dict[int, list[Span]] = msgspec.field(default_factory=dict)
    ends: dict[int, list[int]] = msgspec.field(default_factory=dict)

    def hold(self, span: Span) -> bool:
        """Whether one of them holds a place."""
        ends = self.ends.get(id(span.source), [])
        number = bisect_left(ends, span.end)
        return number < len(ends) and self.spans[id(span.source)][number].start <= span.start


def find_emitting(statements: Iterable[ast.Statement]) -> Places:
    """The SELECTs with EMIT that are the queries of statements."""
    places = Places()
    for statement in statements:
        span = _find_emit(statement)
        if span is not None:
            places.spans.setdefault(id(span.source), []).append(span)
            places.ends.setdefault(id(span.source), []).append(span.end)
    return places


def find_differences(query: RunningQuery, emitting: Places) -> Iterator[Diagnostic]:
    """T020 once for each place in the script. `emitting`: the SELECTs with EMIT, as ksqlDB has them."""
    parts = [
        part
        for node in dict.fromkeys(walk(query.root))
        for expression in node.expressions
        for part in expression.walk()
        if isinstance(part, exp.Expression) and "span" in part.meta
    ]
    counts_from_zero = any(isinstance(part, exp.Bracket) and _find_index(part) == 0 for part in parts)
    found: set[tuple[Span, str]] = set()
    for part in parts:
        span: Span = part.meta["span"]
        difference = _judge(part, is_ksqldb=emitting.hold(span))
        if difference is None or (span, difference.form) in found:
            continue
        if isinstance(part, exp.Bracket) and counts_from_zero:
            continue
        found.add((span, difference.form))
        warning = T020.at(span, form=difference.form, systems=difference.systems)
        yield warning.because(difference.reason).with_sql(difference.hint)


def _judge(part: exp.Expression, *, is_ksqldb: bool) -> OtherMeaning | None:
    """`is_ksqldb`: the statement has EMIT, as in ksqlDB."""
    if not isinstance(part, exp.Anonymous):
        rule = _OPERATORS.get(type(part))
        return None if rule is None else rule(part)
    name = part.name.upper()
    rule = _CALLS.get(name) or (_KSQLDB_CALLS.get(name) if is_ksqldb else None)
    return None if rule is None else rule(part)


def _find_emit(statement: ast.Statement) -> Span | None:
    """The place of a SELECT with EMIT that is the query of a statement."""
    query = getattr(statement, "query", None)
    query = query.body if isinstance(query, ast.With) else query
    return query.span if isinstance(query, ast.Select) and query.emit is not None else None


def _find_index(part: exp.Bracket) -> int | None:
    """The literal in `array[…]`."""
    is_array = isinstance(part.this.meta.get("type"), Array)
    index = whole_number(inner(part.expressions[0])) if is_array else None
    return None if index is None else int(index)


def _judge_index(part: exp.Expression) -> OtherMeaning | None:
    index = _find_index(part) if isinstance(part, exp.Bracket) else None
    if index is None or index == 0:
        return None
    array = text_of(part.this)
    if index < 0:
        reason = "A negative index fails here. There it counts from the end."
        return OtherMeaning(f"[{index}]", "ksqlDB", reason, f"TRY_ELEMENT_AT({array}, {index})")
    reason = f"Elements are counted from 0 here, so this is number {index + 1}. There they are counted from 1."
    return OtherMeaning(f"[{index}]", "Flink, ksqlDB and PostgreSQL", reason, f"TRY_ELEMENT_AT({array}, {index})")


def _judge_power(part: exp.Expression) -> OtherMeaning | None:
    left, right = part.this, part.args["expression"]
    if whole_number(inner(right)) is None:
        return None
    reason = "^ is the exclusive OR of bits here. There it raises to a power."
    return OtherMeaning("^", "PostgreSQL", reason, f"POWER({text_of(left)}, {text_of(right)})")


def _judge_quotient(part: exp.Expression) -> OtherMeaning | None:
    left, right = inner(part.this), inner(part.args["expression"])
    if left.meta.get("type") not in INTEGERS or whole_number(left) is not None or whole_number(right) in (None, 0, 1):
        return None
    reason = "The quotient of whole numbers is a DOUBLE here. There it is a whole number, as DIV gives it."
    return OtherMeaning("/", "Flink, ksqlDB and PostgreSQL", reason, f"{text_of(left)} DIV {text_of(right)}")


_BARE_DECIMAL = re.compile(r"\b(?:DECIMAL|NUMERIC|DEC)\s*\)?\s*\Z", re.IGNORECASE)


def _judge_cast(part: exp.Expression) -> OtherMeaning | None:
    written, value = part.meta["span"], part.this
    is_written = written != value.meta.get("span") and _BARE_DECIMAL.search(written.text) is not None
    if differing_calls.is_one_character(part):
        return differing_calls.judge_character(part)
    if not is_written or value.meta.get("type") in INTEGERS:
        return differing_calls.judge_cut(part)
    reason = "Without digits it is DECIMAL(10, 0) here, which rounds to a whole number. There it keeps all digits."
    return OtherMeaning("a cast to NUMERIC", "PostgreSQL", reason, f"CAST({text_of(value)} AS DECIMAL(38, 10))")


_SIGNS = re.compile(r"[.|^$]+")


def _judge_split(part: exp.Expression) -> OtherMeaning | None:
    if len(part.expressions) < 2:
        return None
    text, pattern = (bare(each) for each in part.expressions[:2])
    if not isinstance(pattern, exp.Literal) or _SIGNS.fullmatch(pattern.name) is None:
        return None
    escaped = re.sub(r"(.)", r"\\\1", pattern.name)
    reason = f"{part.name.upper()} takes a regular expression here. There it takes a text."
    systems = "ksqlDB and Flink"
    return OtherMeaning(f"'{pattern.name}'", systems, reason, f"{part.name.upper()}({text_of(text)}, '{escaped}')")


def _judge_ends(part: exp.Expression) -> OtherMeaning | None:
    """LEFT and RIGHT."""
    if len(part.expressions) != 2:
        return None
    text, count = text_of(part.expressions[0]), whole_number(inner(part.expressions[1]))
    if count is None or count >= 0:
        return None
    is_left = part.name.upper() == "LEFT"
    hint = f"LEFT({text}, GREATEST(LENGTH({text}) - {-count}, 0))" if is_left else f"SUBSTRING({text}, {1 - count})"
    reason = "The result is an empty text here. There it is the text without so many characters."
    return OtherMeaning(f"{part.name.upper()} with {count}", "PostgreSQL", reason, hint)


def _judge_trim(part: exp.Expression) -> OtherMeaning | None:
    """LTRIM and RTRIM."""
    if len(part.expressions) != 2:
        return None
    characters, text = (bare(each) for each in part.expressions)
    if isinstance(characters, exp.Literal) or not isinstance(text, exp.Literal):
        return None
    name = part.name.upper()
    reason = "The characters come first here, and the text behind them. There it is the other way round."
    hint = f"{name}({text_of(text)}, {text_of(characters)})"
    return OtherMeaning(f"{name} of a constant", "Flink and PostgreSQL", reason, hint)


def _judge_part(part: exp.Expression) -> OtherMeaning | None:
    unit, time = bare(part.expressions[0]), part.expressions[1]
    word = unit.name.upper() if isinstance(unit, exp.Literal) else ""
    if word == "SECOND" and part.meta["span"].text.upper().startswith("EXTRACT"):
        reason = "The second has a fraction here. There it is a whole number."
        return OtherMeaning("EXTRACT(SECOND …)", "Flink", reason, f"SECOND({text_of(time)})")
    if word != "DOW":
        return None
    reason = "Sunday is 1 here, and Saturday 7. There Sunday is 0, and Saturday 6."
    return OtherMeaning("DOW", "PostgreSQL", reason, f"DAYOFWEEK({text_of(time)})")


def _judge_from_unixtime(part: exp.Expression) -> OtherMeaning | None:
    if len(part.expressions) != 1:
        return None
    reason = "It makes a text of seconds here. There it makes a TIMESTAMP of milliseconds."
    return OtherMeaning("FROM_UNIXTIME", "ksqlDB", reason, f"TIMESTAMP_MILLIS({argument_of(part)})")


def _judge_unix_timestamp(part: exp.Expression) -> OtherMeaning | None:
    if not part.meta["span"].text.upper().startswith("UNIX_TIMESTAMP") or len(part.expressions) != 1:
        return None
    reason = "It gives seconds here. There it gives milliseconds."
    is_now = part.name.upper() == "UNIX_SECONDS"
    time = "CURRENT_TIMESTAMP" if is_now else argument_of(part)
    return OtherMeaning("UNIX_TIMESTAMP", "ksqlDB", reason, f"UNIX_MILLIS({time})")


def _judge_mask(part: exp.Expression) -> OtherMeaning | None:
    if len(part.expressions) != 1:
        return None
    reason = "Signs and spaces stay as they are here. There each of them becomes a hyphen."
    return OtherMeaning("MASK", "ksqlDB", reason, f"MASK({text_of(part.expressions[0])}, 'X', 'x', 'n', '-')")


def _judge_concat(part: exp.Expression) -> OtherMeaning | None:
    values = ", ".join(text_of(each) for each in part.expressions)
    reason = "NULL with something is NULL here. There a NULL is left out."
    return OtherMeaning("CONCAT", "ksqlDB and PostgreSQL", reason, f"CONCAT_WS('', {values})")


_OPERATORS: Mapping[type[exp.Expression], Rule] = {
    exp.Bracket: _judge_index,
    exp.BitwiseXor: _judge_power,
    exp.Div: _judge_quotient,
    exp.Cast: _judge_cast,
    **OPERATORS,
    **differing_calls.OPERATORS,
}
_CALLS: Mapping[str, Rule] = {
    **CALLS,
    **differing_calls.CALLS,
    "SPLIT": _judge_split,
    **dict.fromkeys(("LEFT", "RIGHT"), _judge_ends),
    **dict.fromkeys(("LTRIM", "RTRIM"), _judge_trim),
    "DATE_PART": _judge_part,
}
_KSQLDB_CALLS: Mapping[str, Rule] = {
    "FROM_UNIXTIME": _judge_from_unixtime,
    **dict.fromkeys(("UNIX_TIMESTAMP", "UNIX_SECONDS"), _judge_unix_timestamp),
    "MASK": _judge_mask,
    "ROUND": differing_calls.judge_round,
    "CONCAT": _judge_concat,
}
