"""Function calls -> typed calls: the signature that fits the arguments, with the arguments cast to its parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import msgspec
from sqlglot import exp

from penstock.diagnostics import Diagnostic, Prose
from penstock.diagnostics.codes.expression_types import T005, T006
from penstock.planner.functions import Function
from penstock.planner.functions.facts import RowFault
from penstock.planner.functions.forms import propose_form
from penstock.planner.functions.signature import (
    ArrayOf,
    DecimalOf,
    LambdaOf,
    MapOf,
    Pattern,
    Signature,
    StructOf,
    Variable,
    signature,
)
from penstock.planner.scalars.argument_casts import propose_cast
from penstock.planner.scalars.common_types import FLOATS, MAX_PRECISION, common_type, is_number, type_problem
from penstock.planner.scalars.constants import judge
from penstock.planner.scalars.implicit import as_text, read_text
from penstock.planner.scalars.known import written_texts
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.schemas import read_schema
from penstock.planner.scalars.typed import Typed, as_time, cast_hint, is_text_literal, make_typed
from penstock.planner.types import (
    BINARY,
    DATE,
    INTEGERS,
    MOMENTS,
    STRING,
    TIME,
    TIMESTAMP,
    VOID,
    Array,
    Decimal,
    Map,
    Simple,
    Struct,
    Type,
    is_ordered,
)

Argument: TypeAlias = Typed | exp.Lambda
ResolveLambda: TypeAlias = Callable[[exp.Lambda, tuple[Type, ...], list[Diagnostic]], Typed | None]
_OF_DAYS = frozenset(
    {"ADD_MONTHS", "DATEADD", "DATEDIFF", "DATE_ADD", "DATE_DIFF", "DATE_SUB", "DAYNAME", "LAST_DAY", "MONTHNAME"}
    | {"NEXT_DAY", "TRUNC"}
)
# What the variables of a signature stand for: types, and the p and s of a decimal.
Bindings: TypeAlias = dict[str, Type | int]


class Fitted(msgspec.Struct, frozen=True):
    """A call's arguments, cast to what the function takes, and the type of its result."""

    arguments: tuple[exp.Expression, ...]
    type: Type


def fit(
    call: exp.Expression,
    function: Function,
    arguments: Sequence[Argument],
    resolve_lambda: ResolveLambda,
    findings: list[Diagnostic],
) -> Fitted | None:
    """The arguments as the first signature takes them that they fit; None (reported) if there is none."""
    span = call.meta.get("span")
    shapes = [signature(text) for text in function.signatures]
    by_count = [(shape, shape.expand(len(arguments))) for shape in shapes]
    fitting = [(shape, patterns) for shape, patterns in by_count if patterns is not None]
    takes = " or ".join(f"{function.name}{text.rpartition(' -> ')[0]}" for text in function.signatures)
    if not fitting:
        count = f"{len(arguments)} argument{'' if len(arguments) == 1 else 's'}"
        found = T005.at(span, name=function.name, count=count).because(f"it takes {takes}")
        findings.append(found.with_sql(propose_form(function.name, written_texts(call.expressions))))
        return None
    for shape, patterns in fitting:
        problems: list[Diagnostic] = []
        fitted = _fit(shape, patterns, function, arguments, resolve_lambda, problems)
        if fitted is not None:
            problem = type_problem(fitted.type, span)
            if problem is None:
                return fitted
            problems.append(problem)
        if problems:  # a literal or the body of a lambda is wrong
            is_encoding = function.name in ("ENCODE", "DECODE")
            form = propose_form(function.name, written_texts(call.expressions)) if is_encoding else None
            findings.extend(each.with_sql(form, span) if form else each for each in problems)
            return None
    problems = []
    changed = _cast_arguments(function, [patterns for _, patterns in fitting], arguments, problems)
    findings.extend(problems)
    if changed is not None:
        return fit(call, function, changed, resolve_lambda, findings)
    if problems:
        return None
    types = ", ".join("lambda" if isinstance(each, exp.Lambda) else str(each.type) for each in arguments)
    problem = T006.at(span, name=function.name, types=types).because(f"it takes {takes}")
    form = _number_hint(function, arguments) or propose_form(function.name, written_texts(call.expressions))
    problem = problem.with_sql(form, otherwise=_cast_hint([patterns for _, patterns in fitting], arguments))

    def fits(changed: Sequence[Argument]) -> bool:
        return any(_fit(shape, patterns, function, changed, resolve_lambda, []) for shape, patterns in fitting)

    findings.append(problem if form else propose_cast(problem, function.name, arguments, fits))
    return None


def _fit(
    shape: Signature,
    patterns: tuple[Pattern, ...],
    function: Function,
    arguments: Sequence[Argument],
    resolve_lambda: ResolveLambda,
    problems: list[Diagnostic],
) -> Fitted | None:
    bindings: Bindings = {}
    pairs = list(zip(patterns, arguments, strict=True))
    # Literals last: a text literal is read as a date or time where the other arguments are.
    for literal in (False, True):
        for pattern, argument in pairs:
            if isinstance(argument, exp.Lambda) != isinstance(pattern, LambdaOf):
                return None
            if (
                isinstance(argument, Typed)
                and is_text_literal(argument) == literal
                and not _reads_as_time(pattern, argument, bindings)
                and not _bind(pattern, argument.type, bindings)
            ):
                return None
    lambdas: dict[int, Typed] = {}
    for index, (pattern, argument) in enumerate(pairs):
        if isinstance(argument, exp.Lambda) and isinstance(pattern, LambdaOf):
            if len(argument.expressions) != len(pattern.parameters):
                return None
            body = resolve_lambda(argument, tuple(_substitute(each, bindings) for each in pattern.parameters), problems)
            if body is None:
                return None
            if not _bind(pattern.result, body.type, bindings):
                return None
            lambdas[index] = body
    converted: list[exp.Expression] = []
    types: list[Type] = []
    for index, (pattern, argument) in enumerate(pairs):
        if isinstance(argument, exp.Lambda) and isinstance(pattern, LambdaOf):
            target = _substitute(pattern.result, bindings)
            function_ = lambdas[index]
            converted.append(_with_body(function_, target))
        elif isinstance(argument, Typed):
            target = argument.type if pattern in _EACH else _substitute(pattern, bindings, argument.type)
            moment = as_time(argument, target, problems)
            if moment is None:
                return None
            converted.append(moment.to(target))
        types.append(target)
    problems.extend(_judged(shape, function, arguments))
    if problems:
        return None
    schema = next((arguments[place] for place, kind in shape.kinds if kind.name.endswith("SCHEMA")), None)
    if isinstance(schema, Typed):
        return _fit_schema(converted, bare(schema.expression).name)
    if function.result is not None:
        type_ = function.result(tuple(converted), tuple(types))
        return None if type_ is None else Fitted(tuple(converted), type_)
    return Fitted(tuple(converted), _substitute(shape.result, bindings))


def _fit_schema(arguments: Sequence[exp.Expression], text: str) -> Fitted | None:
    """A call whose last argument names the type of its result, which Spark gets as Penstock writes it."""
    type_ = read_schema(text)
    return None if type_ is None else Fitted((*arguments[:-1], exp.Literal.string(str(type_))), type_)


def _cast_arguments(
    function: Function,
    patterns: Sequence[tuple[Pattern, ...]],
    arguments: Sequence[Argument],
    problems: list[Diagnostic],
) -> list[Argument] | None:
    """The arguments with the casts that Spark makes where a parameter has one type in all signatures.

    None if there are none. A number is no BINARY, no array and no map, so a parameter that may be a STRING is one. A
    function that reads times takes no number as text: what Spark makes of it there are seconds. Most
    functions of dates take the date of a TIMESTAMP.
    """
    reads_times = RowFault.TIME_TEXT in function.raises
    result: list[Argument] = []
    for place, argument in enumerate(arguments):
        wanted = {each[place] for each in patterns}
        others = [each for each in wanted if each not in (STRING, BINARY) and not isinstance(each, ArrayOf)]
        value: Argument | None = argument
        if isinstance(argument, Typed) and STRING in wanted and not others:
            value = argument if reads_times and is_number(argument.type) else as_text(argument)
        elif isinstance(argument, Typed) and argument.type == STRING and (len(wanted) == 1 or wanted == _CLOCKS):
            target = TIMESTAMP if wanted == _CLOCKS else next(iter(wanted))
            value = read_text(argument, target, problems) if isinstance(target, Simple) else argument
        elif (
            isinstance(argument, Typed)
            and argument.type == TIMESTAMP
            and function.name in _OF_DAYS
            and wanted == {DATE}
        ):
            value = make_typed(argument.expression, argument.to(DATE), DATE)
        if value is None:
            return None
        result.append(value)
    changed = any(new is not old for new, old in zip(result, arguments, strict=True))
    return result if changed else None


def _judged(shape: Signature, function: Function, arguments: Sequence[Argument]) -> Iterator[Diagnostic]:
    """What is wrong with the arguments that are of a kind; a function that takes one takes no lambda."""
    values = [argument for argument in arguments if isinstance(argument, Typed)]
    for place, kind in shape.kinds:
        found = judge(function.name, kind, place, values)
        if found is not None:
            yield found


def _with_body(resolved: Typed, target: Type) -> exp.Expression:
    """A resolved lambda whose body gives `target`; `resolved.type` is the type that the body gives now."""
    body = Typed(resolved.expression.this, resolved.type).to(target)
    return exp.Lambda(this=body, expressions=resolved.expression.expressions)


def _reads_as_time(pattern: Pattern, argument: Typed, bindings: Bindings) -> bool:
    target = bindings.get(pattern.name) if isinstance(pattern, Variable) else pattern
    return is_text_literal(argument) and target in MOMENTS


# Where a time of the day may stand in the place of a TIMESTAMP, a text is a TIMESTAMP.
_CLOCKS: set[Pattern] = {TIMESTAMP, TIME}
# Variables that match each argument by itself.
_EACH = (Variable("ANY"), Variable("ORDERED"))
_DOMAINS: dict[str, Callable[[Type], bool]] = {
    "O": is_ordered,
    "N": is_number,
    "I": lambda type_: type_ in INTEGERS,
    "F": lambda type_: type_ in FLOATS,
}


def _bind(pattern: Pattern, type_: Type, bindings: Bindings) -> bool:
    """Whether a value of the type fits; binds the variables of the pattern."""
    match pattern, type_:
        case Variable("ANY" | "ORDERED" as name), _:
            return name == "ANY" or is_ordered(type_)
        case Variable(name), _:
            if name in _DOMAINS and not _DOMAINS[name](type_):
                return False
            bound = bindings.get(name)
            common = type_ if bound is None or isinstance(bound, int) else common_type(bound, type_)
            if common is None:
                return False
            bindings[name] = common
            return True
        case Simple(), _:
            return accepts(pattern, type_)
        case _, Simple("VOID"):
            return _bind_void(pattern, bindings)
        case ArrayOf(element), Array(type_element):
            return _bind(element, type_element, bindings)
        case MapOf(key, value), Map(type_key, type_value):
            return _bind(key, type_key, bindings) and _bind(value, type_value, bindings)
        case DecimalOf(precision, scale), Decimal():
            bindings[precision], bindings[scale] = type_.precision, type_.scale
            return True
        case StructOf(), Struct():
            return True
        case _:
            return False


def _bind_void(pattern: Pattern, bindings: Bindings) -> bool:
    """A bare NULL as array or map."""
    match pattern:
        case ArrayOf(element):
            return _bind(element, VOID, bindings)
        case MapOf(key, value):
            return _bind(key, VOID, bindings) and _bind(value, VOID, bindings)
        case _:
            return False


_PRECEDENCE: tuple[type[Decimal] | Type, ...] = (*INTEGERS, Decimal, *FLOATS)


def accepts(target: Type, source: Type) -> bool:
    """Whether Spark passes a `source` to a parameter of type `target`: numbers widen, and DATE becomes TIMESTAMP."""
    if source in (target, VOID):
        return True
    if is_number(source) and is_number(target):
        return _rank(source) <= _rank(target)
    return (source, target) == (DATE, TIMESTAMP)


def _rank(type_: Type) -> int:
    return _PRECEDENCE.index(Decimal if isinstance(type_, Decimal) else type_)


def _substitute(pattern: Pattern, bindings: Bindings, otherwise: Type = VOID) -> Type:
    """The type that a pattern stands for. A pattern says nothing of a struct, which gives `otherwise`."""
    match pattern:
        case Simple():
            return pattern
        case Variable(name):
            bound = bindings.get(name, VOID)
            assert not isinstance(bound, int)
            return bound
        case ArrayOf(element):
            return Array(_substitute(element, bindings))
        case MapOf(key, value):
            return Map(_substitute(key, bindings), _substitute(value, bindings))
        case DecimalOf(precision, scale):
            sizes = [min(MAX_PRECISION, _size(size, bindings)) for size in (precision, scale)]
            return Decimal(sizes[0], sizes[1])
        case StructOf() | LambdaOf():
            return otherwise


def _size(text: str, bindings: Bindings) -> int:
    """The value of a sum such as `p - s + 1`."""
    total = 0
    for sign, term in re.findall(r"([+-]?)\s*(\w+)", text):
        value = bindings[term] if term in bindings else int(term)
        assert isinstance(value, int)
        total += -value if sign == "-" else value
    return total


def _number_hint(function: Function, arguments: Sequence[Argument]) -> str | None:
    """What reads a number as a time, for a function that reads texts as times."""
    first = arguments[0] if arguments else None
    if RowFault.TIME_TEXT not in function.raises or not isinstance(first, Typed) or not is_number(first.type):
        return None
    text = "" if first.span is None else first.span.text
    return Prose(f"TIMESTAMP_SECONDS({text}), or TIMESTAMP_MILLIS({text})")


def _cast_hint(patterns: Sequence[tuple[Pattern, ...]], arguments: Sequence[Argument]) -> str | None:
    """A CAST of the first argument that is of a plainly different simple type, when only one signature comes close."""
    if len(patterns) != 1:
        return None
    for pattern, argument in zip(patterns[0], arguments, strict=True):
        if (
            isinstance(argument, Typed)
            and isinstance(pattern, Simple)
            and not accepts(pattern, argument.type)
            and (pattern == STRING or argument.type == STRING)
        ):
            return cast_hint(argument, pattern)
    return None
