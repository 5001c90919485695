"""Rows between two stateful operators: a stream from one Spark query to another, or changes within one."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.plan.node import KStream, Unary


class Intermediate(Unary, frozen=True, kw_only=True, eq=False):
    """The rows of `input`, computed by a query of its own and written to a stream that is read here.

    The shape has at most one event time, the one that the operator above goes by. No row is late there: its delay is
    at least the disorder in which `input` puts its rows out. `shared`: whether several queries of a script read it.
    Some tables are computed by the query that reads them (`planner/physical/fuse.py`).
    """

    TAKES_TABLES: ClassVar[bool] = True

    shared: bool = False

    @property
    def event_times(self) -> tuple[str, ...]:
        return tuple(time.column for time in self.shape.times) if isinstance(self.shape, KStream) else ()
