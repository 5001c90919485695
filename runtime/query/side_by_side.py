"""The queries of a run to the end -> which wait for which, and the results of the queries that run side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

from penstock.codegen.program import RemoteView, SparkQuery

Result = TypeVar("Result")

_QUERIES_AT_ONCE = 2
"""One uses the cores while Spark plans the next micro-batch of the other."""
_POLL_SECONDS = 0.2


def list_waits(queries: Sequence[SparkQuery], readers: Mapping[str, Collection[str]]) -> list[list[int]]:
    """For each query the numbers of the earlier ones that it waits for: one may write what the other reads or writes.

    `readers`: as `check_places` finds them.
    """
    return [
        [number for number, earlier in enumerate(queries[:place]) if _may_meet(earlier, later, readers)]
        for place, later in enumerate(queries)
    ]


def run_side_by_side(
    waits: Sequence[Collection[int]], work: Callable[[int, Event], Result], stopping: Event | None = None
) -> list[Result]:
    """Calls `work` for each number below the length of `waits`, after it has ended for the numbers in `waits`.

    `work` gets an event, which is set when it has to raise KeyboardInterrupt: another call has failed, or `stopping`
    is set. Then no further call begins.

    Raises:
        KeyboardInterrupt: `stopping` was set before the end.
        Exception: the first one in order that a call has raised.
    """
    halt = Event()
    futures: list[Future[Result]] = []

    def do(number: int) -> Result:
        wait(futures[other] for other in waits[number])
        if halt.is_set():
            raise KeyboardInterrupt
        try:
            return work(number, halt)
        except BaseException:
            halt.set()
            raise

    with ThreadPoolExecutor(_QUERIES_AT_ONCE, "penstock-query") as pool:
        try:
            for number in range(len(waits)):  # begun in this order: what a call waits for has begun before it
                futures.append(pool.submit(do, number))
            left = set(futures)
            while left:
                left = wait(left, _POLL_SECONDS).not_done
                if stopping is not None and stopping.is_set():
                    halt.set()
        finally:
            halt.set()
    failures = [each.exception() for each in futures]
    for failure in sorted(filter(None, failures), key=lambda each: isinstance(each, KeyboardInterrupt)):
        raise failure
    return [each.result() for each in futures]


def _may_meet(one: SparkQuery, other: SparkQuery, readers: Mapping[str, Collection[str]]) -> bool:
    if one.output.name == other.output.name:
        return True
    return any(
        reader.name in readers.get(writer.name, ()) or _may_share_place(writer, reader)
        for writer, reader in ((one, other), (other, one))
    )


def _may_share_place(writer: SparkQuery, other: SparkQuery) -> bool:
    """Whether a query uses what another one writes, where that is no path: one place may have several addresses."""
    output = writer.output
    if output.folder is not None or output.is_intermediate or output.is_in_memory:
        return False
    lookups = [each for each in other.views if isinstance(each, RemoteView)]
    return any(each.connector == output.connector for each in (*other.inputs, *lookups, other.output))
