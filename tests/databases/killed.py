"""A program that adds 1 to all counters in each batch, and kills itself at a given point of a given batch.

The points are put into the library from here: `python -m tests.databases.killed dialect url point batch batches`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from penstock.kit.databases.attempts import TableConnection
from penstock.kit.databases.batch_changes import Changes
from tests.databases.places import Place, keys_of

POINTS = ("before the transaction", "inside", "before COMMIT", "after COMMIT")
KEYS = 5


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def add_one(changes: Changes) -> None:
    rows = changes.fetch(keys_of(*range(KEYS)), ["v"])
    changes.upsert(rows.set_column(1, "v", pc.add(rows["v"], 1).cast(pa.int32())))


def around(owner: Any, name: str, before: Callable[[], None], after: Callable[[], None]) -> None:
    """Calls something before and after a method."""
    method = getattr(owner, name)

    def run(*arguments: Any, **named: Any) -> Any:
        before()
        result = method(*arguments, **named)
        after()
        return result

    setattr(owner, name, run)


def main(dialect: str, url: str, point: str, fatal: str, batches: str) -> None:
    place = Place(dialect, url)
    present = -1

    def here(name: str) -> None:
        if name == point and present == int(fatal):
            die()

    def nothing() -> None:
        pass

    around(TableConnection, "_attempt", lambda: here(POINTS[0]), nothing)
    around(sa.Connection, "commit", lambda: here(POINTS[2]), lambda: here(POINTS[3]))
    writer = place.writer()

    def work(changes: Changes) -> None:
        add_one(changes)
        here(POINTS[1])

    for present in range(int(batches)):
        writer.write(present, f"d{present}", work)
    writer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
