"""Names of calls -> functions, or why there is none of the name and what to write."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.names import N004, N005
from penstock.planner.functions import FOREIGN, FUNCTIONS, INSTEAD, REFUSED, Function, find_function
from penstock.planner.functions.elsewhere import propose_elsewhere
from penstock.planner.functions.forms import propose_form
from penstock.planner.scalars.scopes import add_nearest
from penstock.planner.scalars.window_names import CALLED_HERE, explain_window_call


def known_function(call: exp.Expression, findings: list[Diagnostic], *, in_window: bool) -> Function | None:
    """The function that is called; None (reported) when it is unknown or not allowed.

    `in_window`: whether the rows have the columns of a window.
    """
    name = call.name.upper()
    function = find_function(name)
    if function is not None:
        return function
    span = call.meta.get("span")
    if name in REFUSED:
        found, form = (
            N005.at(span, name=name).because(REFUSED[name]),
            propose_form(name, written_texts(call.expressions)),
        )
        findings.append(found.with_sql(form or _fill_hint(name, call)))
    elif name in FOREIGN:
        reason, form = FOREIGN[name]
        form = propose_form(name, written_texts(call.expressions)) or _fill_form(form, call.expressions)
        findings.append(N005.at(span, name=name).because(reason).with_sql(form or _fill_hint(name, call)))
    elif (misplaced := explain_window_call(call, has_columns=in_window)) is not None:
        findings.append(misplaced)
    else:
        known = (*(each.name for each in FUNCTIONS), *CALLED_HERE)
        found = add_nearest(N004.at(span, name=name), name, known, 0.7)
        form = propose_elsewhere(name, written_texts(call.expressions)) or _fill_hint(name, call)
        findings.append(found if form is None else found.with_sql(form))
    return None


def _fill_hint(name: str, call: exp.Expression) -> str | None:
    """What may serve instead of a function that has no form."""
    return _fill_form(INSTEAD.get(name), call.expressions)


def _fill_form(form: str | None, arguments: Sequence[exp.Expression]) -> str | None:
    """The form to write, over the arguments as they were written; None if there are too few."""
    texts = written_texts(arguments)
    needed = max((int(place) for place in re.findall(r"{(\d)}", form or "")), default=-1) + 1
    if form is None or len(texts) < needed:
        return None
    return type(form)(form.format(*texts, all=", ".join(texts), rest=", ".join(texts[1:])))


def written_texts(arguments: Sequence[exp.Expression]) -> list[str]:
    """The texts of the arguments."""
    return [each.meta["span"].text for each in arguments if "span" in each.meta]
