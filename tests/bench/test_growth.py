"""What the micro-batches of a run and the looks at its checkpoint come to, quarter by quarter."""

from __future__ import annotations

from bench.growth import MIB, Folder, Growth, tabulate
from bench.watch import Batch, Moment
from bench.workload import MAIN


def test_a_line_has_the_means_of_a_quarter() -> None:
    query = next(each for each in MAIN if each.name == "tumble")
    batches = [Batch("q", second - 0.25, 0.25, 10 * second, second * MIB) for second in range(8)]
    folders = [Folder(float(second), second, second * MIB) for second in range(8)]
    moments = [Moment(float(second), 0.0, second << 30) for second in range(8)]
    head, _, *lines = tabulate([Growth(query, batches, folders, moments)])
    assert head.startswith("| query | micro-batches |")
    assert len(lines) == 4
    assert lines[1] == "| tumbling aggregates, 1 min | up to 4 | 25 | 2.5 | 2.5 | 2 | 2.5 | 0.25 |"
