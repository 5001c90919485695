"""Rows in buckets, and the newest records of a table that are kept there -> the rows beside what they refer to.

This text runs in Spark's Python workers, which need not have penstock, and is part of every ejected program.
"""

# No `from __future__` here, and imports where they are used: an ejected program begins with its own.
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from penstock.codegen.packed import read, written
from penstock.codegen.panes import as_number, asked, connected, picked_out, places


def looked_up(
    arrived: Iterable[bytes],
    state: Any,
    connections: list[Any],
    *,
    newest: str,
    sql: str,
    given: Sequence[str],
    kept: Sequence[str],
    picked: Mapping[str, str],
) -> Iterator[bytes]:
    """The rows that a LookupView has of a bucket in a micro-batch. The state is written only if a record is new.

    `connections` holds DuckDB between the buckets of a task.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not connections:
        connections.append(connected())
    known = list(map(read, state.get)) if state.exists else []
    rows = pa.concat_tables([*known, *map(read, arrived)]).combine_chunks()
    columns = {"place": places(len(rows)), **{name: as_number(rows.column(name)) for name in given}}
    remaining = asked(connections[0], newest, columns).column("place")
    old = sum(map(len, known))
    is_known = pc.less(columns["place"], old)
    is_newest = pc.is_in(columns["place"], value_set=remaining.combine_chunks())
    answer = asked(connections[0], sql, columns | {"known": is_known, "newest": is_newest})
    if len(answer):
        yield written(pa.table(picked_out(rows.column, answer, kept, picked)))
    if len(remaining) != old or not pc.all(pc.equal(is_known, is_newest)).as_py():
        state.update((written(rows.filter(is_newest)),))
