"""A folder of checkpoints -> what the last run of a script observed. Reads files of this machine, and starts no JVM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click
import msgspec

from penstock.codegen import name_operators
from penstock.codegen.run_record import RunRecord, record_path
from penstock.planner import KeptState, LastRun
from penstock.planner.plan import RunningQuery


def read_last_run(queries: Sequence[RunningQuery], folder: str) -> LastRun:
    """The rates of all streams and the state of each operator. The query that has seen most of a stream gives its rate.

    Raises:
        click.UsageError: a record is not what a run writes.
    """
    longest: dict[str, tuple[float, float]] = {}
    kept = []
    for operators in name_operators(queries):
        records = {node: _read_record(record_path(folder, name)) for node, name in operators.items()}
        shared = Counter(operators.values())
        kept.append(
            {
                node: KeptState(each.entries, each.bytes, is_shared=shared[operators[node]] > 1)
                for node, each in records.items()
                if each is not None
            }
        )
        for record in filter(None, records.values()):
            for stream, rate in record.rates.items():
                longest[stream] = max(longest.get(stream, (0.0, 0.0)), (record.seconds, rate))
    return LastRun({stream: rate for stream, (_, rate) in longest.items()}, kept)


def _read_record(path: str) -> RunRecord | None:
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=RunRecord)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise click.UsageError(f"{path}: {error}") from None
