"""Functions of frames without OVER -> the aggregate that needs no frame, or the frame."""

from __future__ import annotations

from sqlglot import exp

from penstock.planner.functions import Function
from penstock.planner.functions.facts import Framing

_UNFRAMED = {Framing.FIRST: "MIN_BY", Framing.LAST: "MAX_BY"}


def propose_framed(function: Function, call: exp.Expression) -> str:
    """A function of frames over the frame that it needs, or the aggregate that needs no frame."""
    arguments = ", ".join(each.meta["span"].text for each in call.expressions if "span" in each.meta)
    framed = f"{function.name}({arguments}) OVER (ORDER BY ROWTIME RANGE INTERVAL '10' MINUTE PRECEDING)"
    simple = _UNFRAMED.get(function.framing) if function.framing is not None else None
    if simple is not None and len(call.expressions) == 1:
        return f"{simple}({arguments}, ROWTIME) beside GROUP BY, or {framed}"
    return framed
