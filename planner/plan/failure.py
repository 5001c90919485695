"""For which rows an expression fails."""

from __future__ import annotations

import msgspec

from penstock.planner.plan.expressions import Expression


class Failure(msgspec.Struct, frozen=True):
    """An expression, `text` in the script, fails with the error `code` in the rows where `condition` is true.

    The condition itself does not fail. It may be NULL.
    """

    code: str
    text: str
    condition: Expression
