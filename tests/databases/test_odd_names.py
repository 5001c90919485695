"""Tables, columns and queries whose names mean something to SQL or to a driver."""

from __future__ import annotations

import os
import random

import pyarrow as pa
import pytest

from penstock.kit.databases.batch_changes import Changes
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.spark_types import quote_identifier
from penstock.kit.databases.writer import TableWriter
from tests.databases.places import POLICY, Place
from tests.odd_names import draw_name, draw_names

COUNT = int(os.environ.get("PENSTOCK_NAMES", "10"))


@pytest.mark.draws
@pytest.mark.parametrize("seed", range(COUNT))
def test_rows_of_any_name_are_written(place: Place, seed: int) -> None:
    """Made, upserted, updated, fetched, deleted, set aside; all of it equals a dictionary."""
    draw = random.Random(seed)
    name, query = draw_name(draw), draw_name(draw, 54)
    key, text, number = draw_names(draw, 3)
    columns = ((key, "BIGINT", False), (text, "STRING", True), (number, "INT", True))
    table = place.table(columns, (key,), name=name, create=True)
    writer = TableWriter(table, query, POLICY)
    if place.dialect == "mysql" and any(
        each.endswith(" ") or "🙂" in each for each in (name, query, key, text, number)
    ):
        with pytest.raises(TableError, match="MySQL has no name") as refused:
            writer.check()
        assert refused.value.kind == "columns"
        return
    writer.check()
    writer.open("id", name)

    def rows(*values: tuple[int, str | None, int | None]) -> pa.Table:
        schema = table.arrow_schema()
        return pa.Table.from_pylist([dict(zip(schema.names, each, strict=True)) for each in values], schema)

    def change(changes: Changes) -> None:
        changes.upsert(rows((1, "a%s", 1), (2, None, 2), (3, "'", None)))
        changes.upsert(rows((2, "b\\", 5)))
        changes.update(rows((3, '"', 7), (9, "x", 9)))
        changes.delete(rows((1, None, None)).select([key]))
        kept = changes.fetch(rows((2, None, None), (3, None, None)).select([key]), [text, number])
        assert sorted(kept.to_pylist(), key=lambda each: each[key]) == [
            {key: 2, text: "b\\", number: 5},
            {key: 3, text: '"', number: 7},
        ]
        changes.reject([("no reason", "{}")])

    writer.write(0, "d", change)
    writer.write(0, "d", lambda changes: pytest.fail("it is written"))
    writer.close()
    names = ", ".join(map(quote_identifier, (key, text, number)))
    found = place.rows(f"SELECT {names} FROM {quote_identifier(name)} ORDER BY 1")
    assert found == [(2, "b\\", 5), (3, '"', 7)]
    assert place.rows(f"SELECT reason FROM {quote_identifier(f'{query}_rejected')}") == [("no reason",)]
    again = TableWriter(table, query, POLICY)  # which compares the declaration with the table
    again.check()
    again.close()
