"""Arguments of a type that a function does not take -> the same with a CAST, where the call then fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from penstock.diagnostics import Diagnostic
from penstock.planner.scalars.implicit import as_text
from penstock.planner.scalars.typed import Typed, cast_hint, is_text_literal, make_typed
from penstock.planner.types import BOOLEAN, DOUBLE, STRING, VOID

Fits = Callable[[Sequence[Typed | exp.Lambda]], bool]


def propose_cast(problem: Diagnostic, name: str, arguments: Sequence[Typed | exp.Lambda], fits: Fits) -> Diagnostic:
    """The finding with the one argument as a number with which the call fits, or as the text that the others are."""
    for place, argument in enumerate(arguments):
        if not isinstance(argument, Typed) or argument.type not in (STRING, BOOLEAN) or is_text_literal(argument):
            continue
        number = make_typed(argument.expression, argument.expression.copy(), DOUBLE)
        if argument.span is not None and fits([*arguments[:place], number, *arguments[place + 1 :]]):
            text = argument.span.text
            written = f"CAST({text} AS DOUBLE)" if argument.type == STRING else f"IF({text}, 1, 0)"
            before, after = (f"{name}(", ")") if len(arguments) == 1 else ("", f" instead of {text}")
            return problem.with_sql(written, argument.span, before=before, after=after)
    return problem if problem.hint else _propose_text(problem, arguments, fits)


def _propose_text(problem: Diagnostic, arguments: Sequence[Typed | exp.Lambda], fits: Fits) -> Diagnostic:
    others = [each for each in arguments if isinstance(each, Typed) and each.type not in (STRING, VOID)]
    if len(others) != 1 or len(arguments) < 2 or others[0].span is None or as_text(others[0]) is others[0]:
        return problem
    if not fits([as_text(each) if each is others[0] else each for each in arguments]):
        return problem
    span = others[0].span
    return problem.with_sql(cast_hint(others[0], STRING), span, after=f" instead of {span.text}")
