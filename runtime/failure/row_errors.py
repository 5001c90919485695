"""An error of an expression in some row -> a finding at its place in the script, with a hint.

Spark gives the place of some errors only. For the others, places say what their expressions may fail with. The
candidates are the places of the query that may fail with the error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.codegen.program import Place, Printed, RowFault
from penstock.diagnostics.codes.running import R020, R021, R022, R023, R024, R025, R026, R027, R028, R029
from penstock.diagnostics.diagnostic import Code, Diagnostic
from penstock.diagnostics.source import Span
from penstock.runtime.failure.error_places import places_of
from penstock.runtime.failure.layers import Layer

_MOST = 4  # places that are shown; if there are more, the whole query is shown


@dataclass(frozen=True, slots=True)
class _Rule:
    """`condition` matches Spark's name of the error, or the Java class. `faults`: expressions that may fail with these
    raise it without their places. `others` count in a query that has none of `faults`. With `only_if_there` the rule
    is for queries that have some. `hint` is better than the hint of the code.
    """

    condition: str
    code: Code
    reason: Callable[[Layer], str | None]
    faults: tuple[RowFault, ...] = ()
    only_if_there: bool = False
    others: tuple[RowFault, ...] = ()
    hint: str | None = None


def _extract_message(layer: Layer) -> str:
    """Spark's own words, without its name for the error and its advice about settings."""
    text = re.sub(r"^\[[\w.]+\]\s*", "", layer.message.strip().split("\n", 1)[0]).partition(" SQLSTATE")[0]
    text = re.sub(r"\s*(If necessary|To return NULL instead|Use `?try_|Use '?try_|You may get).*", "", text)
    return text if len(text) <= 300 else text[:300] + "…"


def _parameter(name: str) -> Callable[[Layer], str]:
    return lambda layer: layer.parameters.get(name, "").strip("`") or _extract_message(layer)


def _always(text: str) -> Callable[[Layer], str]:
    return lambda layer: text


def _no_detail(layer: Layer) -> None:
    return None


def _index(layer: Layer) -> str:
    size = layer.parameters.get("arraySize", "?")
    there = "is 1 value" if size == "1" else f"are {size} values"
    return f"there {there}, and the index is {layer.parameters.get('indexValue', '?')}"


_CONDITIONS = (
    _Rule(r"DIVIDE_BY_ZERO|REMAINDER_BY_ZERO|INTERVAL_DIVIDED_BY_ZERO", R020, _no_detail, (RowFault.ZERO_DIVISOR,)),
    _Rule(r"CAST_INVALID_INPUT", R021, _no_detail),
    _Rule(r"CAST_OVERFLOW", R022, _extract_message),
    _Rule(
        r"\w*ARITHMETIC_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE",
        R022,
        _no_detail,
        (RowFault.OVERFLOW,),
        others=(RowFault.ARITHMETIC,),
    ),
    _Rule(r"INVALID_ARRAY_INDEX", R023, _index, (RowFault.INDEX,)),
    _Rule(
        r"INVALID_INDEX_OF_ZERO",
        R023,
        _always("positions count from 1, or back from -1, and this one is 0"),
        (RowFault.ZERO_INDEX,),
        hint="with NULLIF(i, 0) for the position i it gives NULL",
    ),
    _Rule(
        r"DUPLICATED_MAP_KEY",
        R024,
        lambda layer: f"the key {layer.parameters.get('key')} is there twice",
        (RowFault.MAP_KEYS,),
    ),
    _Rule(r"NULL_MAP_KEY", R024, _always("a key is NULL"), (RowFault.MAP_KEYS,)),
    _Rule(r"_LEGACY_ERROR_TEMP_2128", R024, _always("there are not as many values as keys"), (RowFault.MAP_KEYS,)),
    _Rule(r"CANNOT_PARSE_TIME(STAMP)?", R025, _parameter("message"), (RowFault.TIME_TEXT,)),
    _Rule(r"INVALID_FORMAT\.MISMATCH_INPUT", R025, _extract_message, (RowFault.NUMBER_TEXT,)),
    _Rule(r"CONVERSION_INVALID_INPUT|INVALID_UTF8_STRING", R025, _extract_message, (RowFault.ENCODED_TEXT,)),
    _Rule(r"CANNOT_DECODE_URL", R025, _extract_message, (RowFault.URL_TEXT,)),
    _Rule(r"INVALID_URL", R025, _extract_message, (RowFault.URL,)),
    _Rule(r"MALFORMED_CHARACTER_CODING", R025, _extract_message, (RowFault.CHARACTERS,)),
    _Rule(r"INVALID_PARAMETER_VALUE\.PATTERN|INVALID_REGEXP_REPLACE", R026, _extract_message, (RowFault.PATTERN,)),
    _Rule(r"INVALID_FORMAT\.ESC", R026, _extract_message, (RowFault.LIKE_PATTERN,)),
    _Rule(
        r"INVALID_DATETIME_PATTERN|INCONSISTENT_BEHAVIOR_CROSS_VERSION", R026, _extract_message, (RowFault.TIME_FORMAT,)
    ),
    _Rule(r"INVALID_FORMAT", R026, _extract_message, (RowFault.NUMBER_FORMAT,)),
    _Rule(
        r"INVALID_PARAMETER_VALUE|VECTOR_DIMENSION_MISMATCH",
        R027,
        _extract_message,
        (RowFault.ARGUMENT,),
    ),
    _Rule(r"ILLEGAL_DAY_OF_WEEK", R027, _extract_message, (RowFault.WEEKDAY,)),
    _Rule(r"INVALID_TIMEZONE", R027, _extract_message, (RowFault.TIME_ZONE,)),
    _Rule(r"_LEGACY_ERROR_TEMP_3243", R027, _extract_message, (RowFault.STEPS,)),
    _Rule(r"DATATYPE_MISMATCH|NON_FOLDABLE_ARGUMENT", R027, _extract_message),
    _Rule(r"DATETIME_FIELD_OUT_OF_BOUNDS", R028, _parameter("rangeMessage"), (RowFault.TIME_PARTS,)),
    _Rule(r"INVALID_FRACTION_OF_SECOND", R028, _extract_message, (RowFault.TIME_PARTS,)),
    _Rule(r"DATETIME_OVERFLOW", R028, _extract_message, (RowFault.TIME_RANGE,)),
    _Rule(r"COLLECTION_SIZE_LIMIT_EXCEEDED|_LEGACY_ERROR_TEMP_2176", R029, _extract_message, (RowFault.LONG_ARRAY,)),
)
_CLASSES = (
    _Rule(r"java\.util\.regex\.PatternSyntaxException", R026, _extract_message, (RowFault.PATTERN,)),
    _Rule(
        r"java\.util\.\w*(Format|Argument)\w*Exception",
        R026,
        _extract_message,
        (RowFault.PRINT_FORMAT,),
        only_if_there=True,
    ),
    _Rule(r"java\.lang\.IllegalArgumentException", R025, _extract_message, (RowFault.BASE64_TEXT,), only_if_there=True),
    _Rule(r"java\.lang\.IllegalArgumentException", R027, _extract_message, (RowFault.STEPS,), only_if_there=True),
    _Rule(r"java\.lang\.ArithmeticException", R029, _no_detail, (RowFault.LONG_TEXT,), only_if_there=True),
    _Rule(r"java\.lang\.ArithmeticException", R022, _no_detail, (RowFault.OVERFLOW, RowFault.ARITHMETIC)),
    _Rule(
        r"java\.lang\.OutOfMemoryError", R029, _no_detail, (RowFault.LONG_TEXT, RowFault.LONG_ARRAY), only_if_there=True
    ),
)


def row_error(layers: Sequence[Layer], query: str, printed: Sequence[Printed], span: Span | None) -> Diagnostic | None:
    """The finding for an error that Spark has a name for; None for other errors. `span` is the text of the query."""
    for layer in reversed(layers):
        for rule in _CONDITIONS:
            if layer.condition and re.match(rule.condition, layer.condition):
                return _make_finding(rule, layer, query, _candidates(rule, layer, printed), span)
    return None


def java_error(layers: Sequence[Layer], query: str, printed: Sequence[Printed], span: Span | None) -> Diagnostic | None:
    """The same for what functions pass on from Java."""
    for layer in reversed(layers):
        for rule in _CLASSES:
            if re.fullmatch(rule.condition, layer.kind):
                places = _candidates(rule, layer, printed)
                if places or not rule.only_if_there:
                    return _make_finding(rule, layer, query, places, span)
    return None


def _candidates(rule: _Rule, layer: Layer, printed: Sequence[Printed]) -> list[Place]:
    if rule.condition == "CAST_OVERFLOW":
        casts = {place.name for text in printed for place in text.places if place.name.startswith("CAST AS ")}
        exact = casts & {f"CAST AS {layer.parameters.get('targetType', '').strip(chr(34))}"}
        return places_of(layer, printed, lambda place: place.name in (exact or casts))
    found = places_of(layer, printed, lambda place: not set(rule.faults).isdisjoint(place.raises))
    return found or places_of(layer, printed, lambda place: not set(rule.others).isdisjoint(place.raises))


def _make_finding(rule: _Rule, layer: Layer, query: str, places: list[Place], span: Span | None) -> Diagnostic:
    finding = rule.code.at(None, query=query, **_facts(rule, layer))
    shown = places if 0 < len(places) <= _MOST else []
    for number, place in enumerate(shown):
        finding = finding.also(place.span, "" if len(shown) == 1 else "here" if number == 0 else "or here")
    if not shown and span is not None:
        finding = finding.also(span, "in this query")
    reason = rule.reason(layer)
    if reason:
        finding = finding.because(reason)
    elif not places and layer.fragment:
        finding = finding.because("in " + " ".join(layer.fragment.split()))
    return finding.with_hint(rule.hint or _hint(rule.code, shown[0] if len(shown) == 1 else None))


def _facts(rule: _Rule, layer: Layer) -> dict[str, str]:
    if rule.code is not R021:
        return {}
    type_ = layer.parameters.get("targetType", "its type")
    return {"value": layer.parameters.get("expression", "a value"), "type": type_.strip('"')}


_HINTS = {
    R020: "a / NULLIF(b, 0) gives NULL instead",
    R021: "TRY_CAST(x AS type) gives NULL instead",
    R022: "compute with a wider type: CAST(x AS BIGINT)",
    R023: "TRY_ELEMENT_AT(a, i) and GET(a, i) give NULL instead",
    R024: "leave such rows out with WHERE, or make the keys different first",
    R025: "leave out what does not fit with WHERE",
    R026: "write the pattern as a literal, or leave such rows out with WHERE",
    R027: "leave such rows out with WHERE, or give NULL with CASE WHEN",
    R028: "leave such rows out with WHERE, or give NULL with CASE WHEN",
    R029: "bound the number: LEAST(n, 1000)",
}


def _hint(code: Code, place: Place | None) -> str:
    """The expression with NULL in the place of the error, where there is one; else what to do in general."""
    if place is not None and place.null_form is not None and (place.null_codes is None or code.id in place.null_codes):
        text = " ".join(place.span.text.split())
        if len(place.operands) == 2:
            left, right = (" ".join(operand.text.split()) for operand in place.operands)
            return f"{place.null_form}({left}, {right}) gives NULL instead"
        if re.match(rf"{re.escape(place.name.partition(' ')[0])}\s*\(", text, re.IGNORECASE):
            return f"TRY_{text} gives NULL instead"
    return _HINTS[code]
