"""The queries of a run to the end -> which wait for which, and the results of those that run side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from itertools import takewhile
from pathlib import PurePosixPath
from threading import Event
from typing import TypeVar

from penstock.codegen.program import RemoteView, SparkQuery
from penstock.runtime.storage import absolute, is_glob

Result = TypeVar("Result")

_MOST = 2
"""So many queries run at once: one uses the cores while Spark plans the next micro-batch of the other."""
_POLL_SECONDS = 0.2


def list_waits(queries: Sequence[SparkQuery]) -> list[list[int]]:
    """For each query the numbers of the earlier ones that it waits for: they may write what it reads or writes.

    `queries`: in order, with the places of their checkpoints and full paths.
    """
    return [
        [number for number, earlier in enumerate(queries[:place]) if _may_write_for(earlier, later)]
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
        if halt.is_set() or any(futures[other].exception() for other in waits[number]):
            raise KeyboardInterrupt
        return work(number, halt)

    with ThreadPoolExecutor(_MOST, "penstock-query") as pool:
        try:
            for number in range(len(waits)):  # begun in this order: what a call waits for has begun before it
                futures.append(pool.submit(do, number))
            left = set(futures)
            while left:
                done, left = wait(left, _POLL_SECONDS, FIRST_EXCEPTION)
                if any(each.exception() for each in done) or (stopping is not None and stopping.is_set()):
                    halt.set()
        finally:
            halt.set()
    failures = [each.exception() for each in futures]
    for failure in sorted(filter(None, failures), key=lambda each: isinstance(each, KeyboardInterrupt)):
        raise failure
    return [each.result() for each in futures]


def _may_write_for(earlier: SparkQuery, later: SparkQuery) -> bool:
    """Whether one query may write what another one reads, or writes, too."""
    output = earlier.output
    if output.name == later.output.name or any(
        each.is_intermediate and each.name == earlier.name for each in later.inputs
    ):
        return True
    written = [each for each in (output.folder, earlier.rejects_folder) if each is not None]
    lookups = [each for each in later.views if isinstance(each, RemoteView)]
    for other in (*later.inputs, *lookups, later.output):
        if written and other.folder is not None:
            if any(_overlap(folder, other.folder) for folder in written):
                return True
        elif other.connector == output.connector and not output.is_in_memory:
            return True  # one place may have several names
    return False


def _overlap(one: str, other: str) -> bool:
    """Whether one path may be in the other, or is the same."""
    (first, second) = (_list_parts(each) for each in (one, other))
    return all(mine == yours for mine, yours in zip(first, second, strict=False))


def _list_parts(path: str) -> list[str]:
    """The parts of a path as far as no pattern has begun."""
    parts = PurePosixPath(absolute(path.removeprefix("file:"))).parts
    return [*takewhile(lambda part: not is_glob(part), parts)]
