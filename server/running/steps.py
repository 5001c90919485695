"""Work in steps: what waits for Spark is done in other threads, and the engine does other work meanwhile.

A function that works in steps yields what it waits for, and goes on with the result. All else happens in the thread of
the engine, so that its connection to PostgreSQL and its script need no locks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Steps: TypeAlias = Generator[Future[Any], Any, T]
_THREADS = 100  # each author has one statement at a time
Submit: TypeAlias = Callable[[Callable[[], Any]], Future[Any]]
"""Has something done in another thread."""


def await_steps(steps: Steps[T]) -> T:
    """The result of work in steps. Waits for each step."""
    try:
        waits = next(steps)
        while True:
            waits = take_step(steps, waits)
    except StopIteration as end:
        result: T = end.value
        return result


def await_all(works: Iterable[Steps[Any]]) -> None:
    """Does all works to their ends, their steps side by side."""
    begun = [Work(each) for each in works]
    for each in begun:
        each.go_on()
    for each in begun:
        while each.waits is not None:
            each.waits.exception()
            each.go_on()


def take_step(steps: Steps[Any], done: Future[Any]) -> Future[Any]:
    """Goes on with what has been waited for. Returns what is waited for next; raises StopIteration at the end."""
    error = done.exception()
    return steps.send(done.result()) if error is None else steps.throw(error)


@dataclass
class Work:
    """Work that has begun. `made`: what it makes, changes or takes away, in lower case. `read`: what has to stay."""

    steps: Steps[Any]
    made: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    waits: Future[Any] | None = field(default=None, init=False)
    """What it waits for; None before its beginning and after its end."""

    def go_on(self) -> None:
        """Takes the next step, which must not be waited for any more."""
        try:
            self.waits = next(self.steps) if self.waits is None else take_step(self.steps, self.waits)
        except StopIteration:
            self.waits = None
        except BaseException:
            self.waits = None
            raise


class Works:
    """All work that has begun and not ended. `wake` is called, in another thread, when one can go on."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._threads = ThreadPoolExecutor(_THREADS, "penstock queries")
        self._begun: list[Work] = []

    def submit(self, action: Callable[[], Any]) -> Future[Any]:
        """Has something done in another thread."""
        future = self._threads.submit(action)
        future.add_done_callback(lambda _: self._wake())
        return future

    def begin(self, steps: Steps[Any], made: frozenset[str], read: frozenset[str] = frozenset()) -> None:
        """Begins with work, up to where it has to wait."""
        work = Work(steps, made, read)
        self._begun.append(work)
        self._go_on(work)

    def go_on(self) -> None:
        """Goes on with all work that waits no more."""
        for each in [each for each in self._begun if each.waits is not None and each.waits.done()]:
            self._go_on(each)

    def forbid(self, made: frozenset[str], read: frozenset[str] = frozenset()) -> bool:
        """Whether work on these has to wait for some that has begun."""
        return any(made & (each.made | each.read) or read & each.made for each in self._begun)

    def end(self, works: Iterable[Steps[Any]]) -> None:
        """Leaves what has begun, and does other works to their ends, their steps side by side."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._threads = ThreadPoolExecutor(_THREADS, "penstock ends")
        await_all(works)

    def _go_on(self, work: Work) -> None:
        try:
            work.go_on()
        finally:
            if work.waits is None:  # it has ended, or failed
                self._begun.remove(work)
