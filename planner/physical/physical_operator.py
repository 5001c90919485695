"""What every physical operator says of the operator that it runs."""

from __future__ import annotations

from abc import abstractmethod
from enum import Enum
from typing import ClassVar

import msgspec

from penstock.planner.physical.estimates import Flow, Load, StateEstimate, UnknownFlow
from penstock.planner.physical.row_form import RowForm
from penstock.planner.plan import Emission, Node, Stateful


class Contract(Enum):
    """The part of a plan that must stay the same for a query to go on from its checkpoint.

    Spark moves nothing through the results of Python workers. It moves conditions below its own groups, and orders
    their aggregates by their first use.
    """

    OPERATOR = "the operator and all below it"
    GROUPS = "the groups and all below them, with the order in which their aggregates are used"
    PLAN = "the whole plan"


class Ending(msgspec.Struct, frozen=True):
    """When rows that wait are sent: once the watermark reaches the end of their window or pane.

    Ends lie `every` milliseconds apart, `offset` behind multiples of that since 1970. With 0 for `every`, each row has
    an end of its own, `offset` behind its time.
    """

    noun: str
    """What ends, as messages call it."""
    every: int
    offset: int


TABLE_BUCKETS = 16
"""Tables are larger than rows that wait, and only the buckets for which something comes are looked at."""
EACH_ROW = Ending("row", 0, 0)
"""A row waits until the watermark has passed its own time."""


class PhysicalOperator(msgspec.Struct, frozen=True):
    """One way to run an operator with state. By default it keeps rows forever, and sends them at once.

    Times are in milliseconds.
    """

    REASON: ClassVar[str]
    """Why it is chosen, after "because"."""
    CONTRACT: ClassVar[Contract] = Contract.PLAN
    IS_AGGREGATION: ClassVar[bool] = False
    """Whether an aggregation of Spark gives one row for a key in a micro-batch, whatever the watermark is."""
    READS_ORDER: ClassVar[bool] = False
    """Whether it has to know the order of the changes of its inputs."""
    FOLLOWS_RATES: ClassVar[bool] = True
    """Whether what it keeps follows from the rates of its inputs. What a table keeps follows from its keys."""
    HOLDS_BACK: ClassVar[bool] = False
    """Whether Spark's watermark is held back, because Spark closes what it has just reached."""
    GIVES_BACK: ClassVar[bool] = False
    """Whether it gives each row of its first input back at most once, with columns of its own."""
    BUCKETS: ClassVar[int] = 0
    """How many buckets of rows Python workers keep for each partition of the state; 0 where it has no such buckets."""

    node: Stateful

    @property
    def horizon(self) -> int | None:
        """How long it may keep a row, in event time; None: forever."""
        return None

    @property
    @abstractmethod
    def bound(self) -> str:
        """What it keeps at most, as text.

        A row is kept while rows that it may still meet can arrive. That is its reach plus the delay of the watermark.
        """

    def estimate(self, load: Load) -> StateEstimate | UnknownFlow:
        """The rows and bytes that it keeps at its peak, or why they are not known."""
        raise AssertionError(f"what {type(self).__name__} keeps does not follow from rates")

    def find_flow(self, flow: Flow) -> Flow | UnknownFlow:
        """The rows that come out if these reach its first input, which gives rows of a stream."""
        return UnknownFlow(f"how many rows come out of {self.node.NOUN} does not follow from rates")

    @property
    def grace(self) -> int:
        """How much later than declared its inputs may be."""
        return 0

    def is_updating(self, emission: Emission) -> bool:
        """Whether it sends rows anew when they change. `emission`: the emission of the query."""
        return False

    def list_followed(self, *, is_timed: bool) -> list[Node]:
        """The inputs whose watermark it goes by, although it does not wait for it. `is_timed`: the query is."""
        return []

    @property
    def screened(self) -> tuple[Node, ...]:
        """The inputs whose rows need not be read if what is asked of the result already fails for them."""
        return ()

    def count_buckets(self, partitions: int) -> int:
        """The number of its buckets. `partitions`: the number of partitions of the state, unless its inputs say one."""
        return self.BUCKETS * partitions

    def find_ending(self, emission: Emission) -> Ending | None:
        """When its rows are sent; None if they do not wait. `emission`: the emission of the query."""
        return None

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        """The form of its rows.

        `is_kept`: another aggregation of the query keeps what it sends. `is_numbered`: rows of windows have an order.
        """
        return RowForm.ROWS

    def find_lag(self, time: str) -> int:
        """The greatest lag of the `time` of rows to come behind the watermark of a micro-batch.

        A negative lag means that these rows are at least so far after the watermark. `time` is an event time of the
        node's shape.
        """
        raise AssertionError(f"{type(self).__name__} has no event time")
