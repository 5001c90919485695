"""Arguments with names -> arguments by their places: `STRUCT(a AS b)`, `MASK(text, upperChar => 'Q')`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes import syntax
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.build.base import Builder, identifier, placed, span_of, token_span
from penstock.parser.build.standard import make_call, refuse
from penstock.parser.build.type_names import simple_type

TYPE = "type"
"""The key in `meta` of a named value of what gives the type of that name."""

# For each function of Spark with named arguments: their names, and the default of an argument that is left out.
_LETTERS = {"upperchar": "'X'", "lowerchar": "'x'", "digitchar": "'n'", "otherchar": None}
_NAMES: dict[str, dict[str, str | None]] = {
    "MASK": {"str": "", **_LETTERS},
    **{name: {"collection": ""} for name in ("EXPLODE", "EXPLODE_OUTER", "POSEXPLODE", "POSEXPLODE_OUTER")},
}


def named_value(span: Span, value: exp.Expression, token: Token) -> exp.Alias:
    """`x AS a` in a call: a field of a struct, or a type that the value is cast to."""
    named = placed(exp.Alias(this=value, alias=identifier(span, token)), span)
    named.meta[TYPE] = partial(simple_type, token_span(span, token), token)
    return named


def name_fields(span: Span, function: str, arguments: Sequence[exp.Expression]) -> exp.Expression:
    """`STRUCT(x AS a, b)`: fields without a name get the name of their column.

    Raises CompileError for other functions.
    """
    first = next(each for each in arguments if isinstance(each, exp.Alias))
    if function not in ("STRUCT", "ROW"):
        if len(arguments) == 1 and function not in ("ARRAY", "MAP"):
            first.meta[TYPE]()  # a name that is no type is told first
            found = syntax.S019.at(span, name=function)
            raise CompileError([found.with_sql(f"CAST({span_of(first).text})")])
        raise refuse(span_of(first), f"AS inside a call of {function}", sql=f"STRUCT({span_of(first).text})")
    values: list[exp.Expression] = []
    for place, each in enumerate(arguments, 1):
        value = each.this if isinstance(each, exp.Alias) else each
        if isinstance(each, exp.Lambda | exp.PropertyEQ):
            raise refuse(span_of(each), f"this form inside a call of {function}", None, "STRUCT(x AS a)")
        inner = value.expression if isinstance(value, exp.Dot) else value
        is_named = isinstance(inner, exp.Column | exp.Identifier)
        name = each.alias if isinstance(each, exp.Alias) else inner.name if is_named else f"col{place}"
        values += [placed(exp.Literal(this=name, is_string=True), span_of(each)), value]
    return make_call(span, "NAMED_STRUCT", *values)


def name_arguments(span: Span, function: str, arguments: tuple[exp.Expression, ...]) -> tuple[exp.Expression, ...]:
    """The arguments by their places. The arguments of functions that take lambdas stay as they are."""
    names = _NAMES.get(function)
    if names is None:
        return arguments
    given: dict[str, exp.Expression] = {}
    for place, each in enumerate(arguments):
        is_named = isinstance(each, exp.Lambda) and len(each.expressions) == 1
        name = each.expressions[0].name.lower() if is_named else [*names, ""][min(place, len(names))]
        if name not in names or name in given or (given.keys() - [*names][:place] and not is_named):
            found = refuse(span_of(each), f"this argument of {function}", f"It takes {', '.join(names)}.")
            raise found
        given[name] = each.this if is_named else each
    last = max([*names].index(name) for name in given)
    return tuple(given.get(name) or _default(span, function, name, names[name]) for name in [*names][: last + 1])


def _default(span: Span, function: str, name: str, text: str | None) -> exp.Expression:
    if text == "":
        raise refuse(span, f"{function} without {name}")
    return placed(exp.Null() if text is None else exp.Literal(this=text.strip("'"), is_string=True), span)


RULES: dict[str, Builder] = {"named_value": named_value}
