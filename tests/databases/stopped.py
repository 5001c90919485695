"""`python -m tests.databases.stopped POINT ACTION ARGUMENT...` is `penstock ARGUMENT...`, stopped in a micro-batch.

It is the second one that the process writes. POINT is one of POINTS. ACTION is `kill`, which ends Python and the JVM
by SIGKILL, or the name of a file to wait for.
The file `reached` says that the point was reached, and in which micro-batch.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

POINTS = ("before", "inside", "after")
"""Before the transaction; inside of it, when the rows are changed; after COMMIT, before Spark notes the micro-batch."""
REACHED = "reached"


def stop(action: str, batch: int) -> None:
    """Kills the process group, or waits for a file."""
    Path(REACHED).write_text(str(batch), encoding="utf-8")
    if action == "kill":
        os.killpg(0, signal.SIGKILL)
    while not Path(action).exists():
        time.sleep(0.05)


def main(point: str, action: str, *arguments: str) -> None:
    """Patches the point in, and runs the command."""
    from penstock.commands.cli import main as run
    from penstock.kit.delta.delta_writer import RowsToDelta
    from penstock.kit.tables.table_batches import RowsToTable, TableBatches

    assert point in POINTS
    write_batch, apply, apply_to_delta = TableBatches.write, RowsToTable.apply, RowsToDelta.apply
    begun: list[int] = []

    def reach(here: str) -> None:
        if here == point and len(begun) == 2:
            stop(action, begun[-1])

    def write(batches: TableBatches[Any], batch: Any, number: int, metadata: str, offsets: str) -> None:
        begun.append(number)
        reach("before")
        write_batch(batches, batch, number, metadata, offsets)
        reach("after")

    def apply_rows(changes: RowsToTable, *given: Any) -> None:
        apply(changes, *given)
        reach("inside")

    def apply_delta_rows(changes: RowsToDelta, *given: Any) -> None:
        apply_to_delta(changes, *given)
        reach("inside")

    with (
        patch.object(TableBatches, "write", write),
        patch.object(RowsToTable, "apply", apply_rows),
        patch.object(RowsToDelta, "apply", apply_delta_rows),
    ):
        run(arguments, prog_name="penstock")


if __name__ == "__main__":
    main(*sys.argv[1:])
