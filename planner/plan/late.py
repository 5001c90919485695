"""Keeping the rows that come too late beside the rows of the result."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.plan.expressions import Expression
from penstock.planner.plan.node import Unary
from penstock.planner.plan.scan import Scan

LATENESS = "_lateness"
"""A column of late rows beside their own: a BIGINT, how many milliseconds behind the watermark, rounded up."""


class WithLate(Unary, frozen=True, kw_only=True, eq=False):
    """The rows of `input`, and the late ones of the scans below it in the same query.

    The schema: `is_late`; the input's columns as r0, r1 …, NULL in late rows; what late rows show as l0, l1 …, NULL in
    the others. `late` has this for each scan, as expressions over its columns and LATENESS.
    """

    NOUN: ClassVar[str] = "LATE INTO"
    late: tuple[tuple[Scan, tuple[Expression, ...]], ...]
