"""How an ejected program reads and writes through a connector: the calls of functions in `kit`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.codegen.connectors import database_calls, delta, files, intermediate, local
from penstock.codegen.program import Input, SparkQuery
from penstock.planner.connectors import CONNECTORS, CONSOLE, DATABASES, FILES, INTERMEDIATE, MEMORY, RATE
from penstock.planner.connectors.delta import DELTA


@dataclass(frozen=True, slots=True)
class Calls:
    """Texts of Python, None where an ejected program cannot do it. `spark` and `checkpoint` are at hand there.

    `read` gives the rows of an input, `write` a writer of the DataFrame `rows`. `end` is what is done when the query
    has ended, nothing if empty.
    """

    read: Callable[[Input], str] | None = None
    write: Callable[[SparkQuery], str] | None = None
    end: Callable[[SparkQuery], str] = lambda query: ""


CALLS = {
    FILES.name: Calls(files.read, files.write),
    RATE.name: Calls(read=local.read_rate),
    CONSOLE.name: Calls(write=local.write_console),
    MEMORY.name: Calls(write=local.write_memory, end=local.print_memory),
    INTERMEDIATE.name: Calls(intermediate.read, intermediate.write),
    **dict.fromkeys(DATABASES, Calls(write=database_calls.write)),
    DELTA.name: Calls(write=delta.write),
}
"""By connector."""
PACKAGES = {each.name: dict(each.packages) for each in CONNECTORS if each.packages}
"""By connector: modules of Python, and what pip installs them from; empty where Penstock itself needs them."""
