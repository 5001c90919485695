"""The inputs of a query -> what is to be told of them: at its start, and from time to time while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from penstock.codegen.program import Input
from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R070
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.connectors import source_of
from penstock.runtime.failure.errors import RunError

INSPECTION_SECONDS = 30.0
"""How often the inputs of a running query are inspected."""


class Inspection:
    """Asks the sources of a query's inputs. `warnings`: what was found so far."""

    def __init__(self, inputs: Iterable[Input]) -> None:
        self._sources = [source_of(each) for each in inputs]
        self._needs: list[Callable[[], None]] = []
        self.warnings: list[Diagnostic] = []

    def check(self, storage: Storage, place: str) -> None:
        """Raises RunError if an input is missing, or not whole. `place`: the checkpoint folder of the query."""
        for each in self._sources:
            each.check(storage, place)

    def require(self, need: Callable[[], None]) -> None:
        """Has `need` called now and with each inspection. It raises RunError if the query cannot go on."""
        need()
        self._needs.append(need)

    def inspect(self) -> None:
        """Adds to the warnings. Raises RunError if the query cannot go on.

        A source that cannot be asked does not hide what is to be told of another one.
        """
        problems: list[Diagnostic] = []
        for each in self._sources:
            try:
                self.warnings += each.inspect()
            except RunError as error:
                problems += error.diagnostics
        for need in self._needs:
            try:
                need()
            except RunError as error:
                problems += error.diagnostics
        if problems:
            raise RunError(problems)

    def watch(self, stop: Callable[[RunError], None]) -> threading.Event:
        """Inspects the inputs in a thread of its own, and calls `stop` if the query cannot go on.

        Returns the event that ends it.
        """
        ending = threading.Event()

        def look() -> None:
            while not ending.wait(INSPECTION_SECONDS):
                try:
                    self.inspect()
                except RunError as error:
                    if any(each.code != R070.id for each in error.diagnostics):  # Spark waits for brokers that are away
                        stop(error)
                        return

        if any(each.is_watched for each in self._sources):
            threading.Thread(target=look, name="penstock-inputs", daemon=True).start()
        return ending
