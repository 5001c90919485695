"""Forms of standard SQL, Flink, PostgreSQL and ksqlDB -> the nodes of the same meaning that scalars.py makes, too.

What is not certain to mean the same is refused, with the form to write.
"""

from __future__ import annotations

import re
from itertools import islice

from sqlglot import exp

from penstock.diagnostics.codes import syntax
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.build.base import Builder, placed, span_of, token_span, words
from penstock.parser.build.patterns import escaped_like, similar_regex
from penstock.parser.build.type_names import LIMITED

# A form that repeats an operand repeats at most this many nodes: forms inside each other would grow without end.
MAX_REPEATED = 100
# The length of each unit. Weeks are missing: they begin on Sunday for some, on Monday for others.
_TRUNCATED = {
    **{name: ("1", name) for name in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")},
    "QUARTER": ("3", "MONTH"),
}
_TRIMS = {"BOTH": "BTRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}


def make_call(span: Span, function: str, *arguments: exp.Expression) -> exp.Anonymous:
    """A call that stands for the text at `span`."""
    return placed(exp.Anonymous(this=function, expressions=list(arguments)), span)


_WHOLE = (
    *(exp.Column, exp.Dot, exp.Bracket, exp.Literal, exp.Boolean, exp.Null, exp.Cast, exp.Case, exp.Anonymous),
    *(exp.Paren, exp.Subquery, exp.Exists, exp.Interval, exp.Tuple, exp.Neg),
)


def enclose(node: exp.Expression) -> exp.Expression:
    """An operand in brackets, if an operator beside it could tear it apart."""
    return node if isinstance(node, _WHOLE) else placed(exp.Paren(this=node), span_of(node))


def repeat(node: exp.Expression) -> exp.Expression:
    """A copy of an operand that a form needs twice. Raises CompileError if the operand is large."""
    if next(islice(node.walk(), MAX_REPEATED, None), None) is not None:
        reason = "It repeats its operands."
        raise refuse(span_of(node), "a form with an operand of this size", reason, "compute the operand in a subquery")
    return node.copy()


def refuse(
    span: Span,
    construct: str,
    reason: str | None = None,
    hint: str | None = None,
    *,
    sql: str | None = None,
    at: Span | None = None,
) -> CompileError:
    """The refusal of a form. `hint`: prose; `sql`: what stands for the form, or for what is `at`."""
    found = syntax.S026.at(span, construct=construct)
    return CompileError([(found if reason is None else found.because(reason)).with_sql(sql, at, otherwise=hint)])


def _text(span: Span, value: str) -> exp.Literal:
    return placed(exp.Literal(this=value, is_string=True), span)


def _interval(span: Span, quantity: str, unit: str) -> exp.Interval:
    return placed(exp.Interval(this=_text(span, quantity), unit=placed(exp.Var(this=unit), span)), span)


def check_cast(value: exp.Expression, type_: exp.DataType) -> None:
    """Raises CompileError for a cast that would cut its value."""
    for each in type_.find_all(exp.DataType):
        if LIMITED in each.meta:
            cuts = {exp.DType.TIMESTAMPTZ: ("DATE_TRUNC", "TIMESTAMP"), exp.DType.TIME: ("TIME_TRUNC", "TIME")}
            function, whole = cuts.get(each.this, (None, "BINARY"))
            hint = whole if function is None else f"{function}('SECOND', CAST({span_of(value).text} AS {whole}))"
            text = span_of(each).text.removeprefix("::")
            raise refuse(span_of(each), f"a cast to {text}", f"Values of {text} are not cut here.", hint)


def array(span: Span, values: tuple[exp.Expression, ...] | None = None) -> exp.Anonymous:
    return make_call(span, "ARRAY", *(values or ()))


def map_(span: Span, values: tuple[exp.Expression, ...] | None = None) -> exp.Anonymous:
    return make_call(span, "MAP", *(values or ()))


def pair(span: Span, name: exp.Expression, value: exp.Expression) -> exp.PropertyEQ:
    """`name := value`, an argument of STRUCT or MAP."""
    return placed(exp.PropertyEQ(this=name, expression=value), span)


def unpair(span: Span, function: str, arguments: tuple[exp.Expression, ...]) -> exp.Anonymous:
    """`STRUCT(a := 1)` and `MAP('k' := 1)` of ksqlDB."""
    pairs = [each for each in arguments if isinstance(each, exp.PropertyEQ)]
    if function not in ("STRUCT", "MAP") or len(pairs) < len(arguments):
        raise refuse(span_of(pairs[0]), f"`:=` inside a call of {function}", None, "STRUCT(a := 1)")
    values: list[exp.Expression] = []
    for each in pairs:
        key: exp.Expression = each.this
        if function == "STRUCT":
            if not isinstance(key, exp.Column) or "table" in key.args:
                raise refuse(span_of(key), "a name of a field that is an expression", None, "STRUCT(a := 1)")
            key = _text(span_of(key), key.name)
        values += [key, each.expression]
    return make_call(span, "NAMED_STRUCT" if function == "STRUCT" else "MAP", *values)


def call_from(
    span: Span, function: Token, value: exp.Expression, start: exp.Expression, length: exp.Expression | None
) -> exp.Anonymous:
    """EXTRACT(unit FROM time), SUBSTRING(text FROM start FOR length) and TRIM(characters FROM text)."""
    match function.value.upper():
        case "EXTRACT" if length is None:
            is_name = isinstance(value, exp.Column) and "table" not in value.args
            if not is_name and not (isinstance(value, exp.Literal) and value.is_string):
                form = f"EXTRACT(HOUR FROM {span_of(start).text})"
                raise refuse(span_of(value), "a unit that is an expression", None, form)
            if value.name.upper() == "EPOCH":
                reason = "It is a whole number for some systems and has a fraction for others."
                raise refuse(span, "EXTRACT of EPOCH", reason, sql=_count_seconds(start))
            return make_call(span, "DATE_PART", _text(span_of(value), value.name.upper()), start)
        case "SUBSTRING" | "SUBSTR":
            if isinstance(start, exp.Literal) and start.is_string:
                raise _refuse_pattern(span, value, start, "a text behind FROM")
            return make_call(span, "SUBSTRING", value, start, *([] if length is None else [length]))
        case "TRIM" if length is None:
            return make_call(span, "BTRIM", start, value)
        case other:
            raise refuse(span, f"FROM inside a call of {other}", None, "SUBSTRING(text FROM 1 FOR 2)")


def refuse_pattern(call: Span, value: exp.Expression, start: exp.Expression) -> None:
    """Raises CompileError for SUBSTRING(text, 'pattern') of PostgreSQL. A text that is a number is cast."""
    is_text = isinstance(start, exp.Literal) and start.is_string
    if is_text and not re.fullmatch(r"\s*[+-]?[0-9]+\s*", start.name):
        raise _refuse_pattern(call, value, start, "a text as the start of SUBSTRING")


def _refuse_pattern(call: Span, value: exp.Expression, pattern: exp.Expression, construct: str) -> CompileError:
    """PostgreSQL gives the first group, if the pattern has one, and NULL where nothing matches."""
    text, shown = span_of(value).text, span_of(pattern).text
    has_group = re.search(r"(?<!\\)\((?!\?)", pattern.name) is not None
    form = f"NULLIF(REGEXP_EXTRACT({text}, {shown}, 1), '')" if has_group else f"REGEXP_SUBSTR({text}, {shown})"
    return refuse(span_of(pattern), construct, "For PostgreSQL it is a regular expression.", sql=form, at=call)


def _count_seconds(time: exp.Expression) -> str | None:
    """The seconds since 1970 of a time, or the seconds of a difference of times."""
    inner = time.unnest()
    if isinstance(inner, exp.Sub) and not isinstance(inner.expression.unnest(), exp.Interval):
        return f"UNIX_SECONDS({span_of(inner.this).text}) - UNIX_SECONDS({span_of(inner.expression).text})"
    return None if isinstance(inner, exp.Interval) else f"UNIX_SECONDS({span_of(time).text})"


def call_trim(
    span: Span, function: Token, side: str, characters: exp.Expression | None, text: exp.Expression
) -> exp.Anonymous:
    if function.value.upper() != "TRIM":
        raise refuse(span, f"{side} inside a call of {function.value.upper()}", None, f"TRIM({side} FROM text)")
    name = _TRIMS[side]
    if characters is None:
        return make_call(span, name, text)
    return make_call(span, name, *((text, characters) if name == "BTRIM" else (characters, text)))


def call_in(span: Span, function: Token, part: exp.Expression, text: exp.Expression) -> exp.Anonymous:
    if function.value.upper() != "POSITION":
        name = function.value.upper()
        raise refuse(
            span, f"IN without a list inside a call of {name}", None, f"POSITION({span_of(part).text} IN text)"
        )
    return make_call(span, "POSITION", part, text)


def call_placing(
    span: Span,
    function: Token,
    text: exp.Expression,
    replacement: exp.Expression,
    start: exp.Expression,
    length: exp.Expression | None,
) -> exp.Anonymous:
    if function.value.upper() != "OVERLAY":
        raise refuse(span, f"PLACING inside a call of {function.value.upper()}")
    return make_call(span, "OVERLAY", text, replacement, start, *([] if length is None else [length]))


def call_to(span: Span, function: Token, time: exp.Expression, unit: Token) -> exp.Expression:
    """FLOOR(time TO HOUR) is DATE_TRUNC; CEIL(time TO HOUR) is the same of the instant before, and one unit more."""
    name, word = function.value.upper(), unit.value.upper()
    if name not in ("FLOOR", "CEIL", "CEILING"):
        raise refuse(span, f"TO inside a call of {name}", sql=f"FLOOR({span_of(time).text} TO {word})")
    place = token_span(span, unit)
    if word not in _TRUNCATED:
        text = span_of(time).text
        reason = "A week begins on Sunday for Flink, and on Monday for DATE_TRUNC." if word == "WEEK" else None
        hint = f"DATE_TRUNC('WEEK', {text})" if word == "WEEK" else f"FLOOR({text} TO HOUR)"
        raise refuse(place, f"{name} to {word}", reason, sql=hint, at=span)
    if name == "FLOOR":
        return make_call(span, "DATE_TRUNC", _text(place, word), time)
    before = placed(exp.Sub(this=enclose(time), expression=_interval(place, "0.000001", "SECOND")), span)
    start = make_call(span, "DATE_TRUNC", _text(place, word), before)
    return placed(
        exp.Paren(this=placed(exp.Add(this=start, expression=_interval(place, *_TRUNCATED[word])), span)), span
    )


def escape(span: Span, token: Token) -> exp.Literal:
    return _text(token_span(span, token), token.value)


def escape_like(span: Span, word: str, pattern: exp.Expression, escape: exp.Literal | None) -> exp.Expression:
    r"""The pattern of LIKE … ESCAPE with `\` as its escape character, which needs no ESCAPE."""
    if escape is None:
        return pattern
    if word not in ("LIKE", "ILIKE") or not isinstance(pattern, exp.Literal) or not pattern.is_string:
        raise refuse(span_of(escape), "ESCAPE behind a pattern that is no literal of LIKE", None, r"LIKE '10\%'")
    if len(escape.this) != 1:
        raise refuse(span_of(escape), "an escape of several characters", None, "ESCAPE '!'")
    text = escaped_like(pattern.this, escape.this)
    if text is None:
        raise refuse(span_of(pattern), "this pattern", f"Behind {escape.this} stands %, _ or another {escape.this}.")
    return _text(span_of(pattern), text)


def similar(
    span: Span, left: exp.Expression, negation: Token | None, pattern: exp.Expression, escape: exp.Literal | None
) -> exp.Expression:
    """SIMILAR TO, as RLIKE over the whole text."""
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        hint = f"{span_of(left).text} RLIKE {span_of(pattern).text}"
        raise refuse(span, "SIMILAR TO with a pattern that is no literal", "It is translated before it runs.", hint)
    if escape is not None and len(escape.this) != 1:
        raise refuse(span_of(escape), "an escape of several characters", None, "ESCAPE '!'")
    regex = similar_regex(pattern.this, "\\" if escape is None else escape.this)
    if regex is None:
        raise refuse(span_of(pattern), "this pattern", None, f"{span_of(left).text} RLIKE '^[a-z]+$'")
    node = placed(exp.RegexpLike(this=left, expression=_text(span_of(pattern), regex)), span)
    return node if negation is None else placed(exp.Not(this=node), span)


def between_symmetric(span: Span, operand: exp.Expression, low: exp.Expression, high: exp.Expression) -> exp.Expression:
    """BETWEEN with its bounds in either order."""
    either = placed(exp.Between(this=operand, low=low, high=high), span)
    other = placed(exp.Between(this=repeat(operand), low=repeat(high), high=repeat(low)), span)
    return placed(exp.Paren(this=placed(exp.Or(this=either, expression=other), span)), span)


RULES: dict[str, Builder] = {
    "array": array,
    "map": map_,
    "pair": pair,
    "call_from": call_from,
    "call_trim": call_trim,
    "trim_side": words,
    "call_in": call_in,
    "call_placing": call_placing,
    "call_to": call_to,
    "symmetry": words,
    "escape": escape,
    "similar": similar,
}
