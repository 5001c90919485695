"""Tables, columns and queries whose names mean something to SQL, URLs, formats or pages."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
from urllib.parse import quote

import pyarrow as pa
import pytest
from prometheus_client.parser import text_string_to_metric_families
from psycopg import sql
from psycopg.types.json import Jsonb

from penstock.server.http.table_requests import RESERVED
from tests.odd_names import draw_name, draw_names
from tests.server.http.conftest import Door

COUNT = int(os.environ.get("PENSTOCK_NAMES", "25"))
ROWS = [(f"k%{number}'\\", f"v{number % 3}%", number) for number in range(7)]


@pytest.mark.draws
@pytest.mark.parametrize("seed", range(COUNT))
def test_a_table_is_read_by_any_name(door: Door, seed: int) -> None:
    draw = random.Random(seed)
    table, (key, value, number) = draw_name(draw), draw_names(draw, 3)
    place = sql.Identifier("public", table)
    columns = [sql.Identifier(each) for each in (key, value, number)]
    made = sql.SQL("CREATE TABLE {} ({} text PRIMARY KEY, {} text, {} bigint)").format(place, *columns)
    db = door.database.connection
    db.execute(made.as_string(db))
    try:
        db.execute(sql.SQL("GRANT SELECT ON {} TO penstock_reader").format(place).as_string(db))
        with db.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(place).as_string(db)) as copy:
            for row in ROWS:
                copy.write_row(row)
        check_reads(door, table, key, value, number)
    finally:
        db.execute(sql.SQL("DROP TABLE {}").format(place).as_string(db))


def check_reads(door: Door, table: str, key: str, value: str, number: str) -> None:
    path = f"/v1/tables/{quote(table, safe='')}"
    rows = [{key: k, value: v, number: n} for k, v, n in ROWS]
    with door.client("rita") as client:
        response = client.get(path)
        assert response.status_code == 200, response.text
        found = response.json()
        assert (found["table"], found["key"], found["rows"]) == (table, [key], rows)
        assert [each["name"] for each in found["columns"]] == [key, value, number]
        for column in (key, value):
            if column not in RESERVED:
                wanted = rows[2][column]
                filtered = client.get(path, params={column: str(wanted)}).json()["rows"]
                assert filtered == [each for each in rows if each[column] == wanted]
        ordered = client.get(path, params={"order": [f"-{number}", key], "limit": "3"}).json()["rows"]
        assert ordered == rows[:3:-1]
        seen: list[object] = []
        after: str | None = None
        for _ in range(4):
            params = {"limit": "2"} if after is None else {"limit": "2", "after": after}
            page = client.get(path, params=params).json()
            seen += page["rows"]
            after = (page["next"] or [None])[0]
        assert (seen, after) == (rows, None)
        link = client.get(path, params={"limit": "2"}).headers["Link"]
        address = re.fullmatch(r'<([!-~]+)>; rel="next"', link)
        assert address is not None, link
        assert client.get(address[1]).json()["rows"] == rows[2:4]
        text = client.get(path, params={"format": "csv"}).text
        assert list(csv.reader(io.StringIO(text, newline=""))) == [
            [key, value, number],
            *([k, v, str(n)] for k, v, n in ROWS),
        ]
        stream = pa.ipc.open_stream(client.get(path, params={"format": "arrow"}).content).read_all()
        assert stream.to_pylist() == rows
        with client.stream("GET", f"{path}/changes") as changes:
            assert changes.status_code == 200
            assert next(changes.iter_lines()).startswith("id: ")


@pytest.mark.draws
@pytest.mark.parametrize("seed", range(COUNT))
def test_a_query_is_shown_by_any_name(door: Door, seed: int) -> None:
    draw = random.Random(seed)
    name, source = draw_name(draw), draw_name(draw)
    status = {"out": 3, "inputs": [{"name": source, "in": 5, "used": 5}], "tables": [{"name": name, "puts": 2}]}
    door.database.execute(
        "INSERT INTO penstock.query (name, relation, definition, author, state, status) VALUES (%s, %s, 'x', 'ada', "
        "'RUNNING', %s)",
        *(name, name, Jsonb(status)),
    )
    door.database.execute(
        "INSERT INTO penstock.relation (name, shown, kind, definition, author, columns) "
        "VALUES (%s, %s, 'TABLE', 'CREATE NONSENSE', 'ada', '[]')",
        *(name, name),
    )
    with door.client("rita") as client:
        assert client.get(f"/v1/queries/{quote(name, safe='')}").json()["name"] == name
        assert [each["name"] for each in client.get("/v1/relations").json()["relations"]] == [name]
        assert client.post("/v1/check", json={"sql": "SELECT STREAM id FROM none"}).status_code == 200
        samples = {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in text_string_to_metric_families(client.get("/metrics").text)
            for sample in family.samples
        }
        assert samples["penstock_query_output_rows_total", (("query", name),)] == 3
        assert samples["penstock_query_input_rows_total", (("input", source), ("query", name))] == 5
        missing = client.get(f"/v1/tables/{quote(name, safe='')}")
        assert missing.status_code == 404
        assert json.loads(missing.text)["message"] == f"unknown table {name}"
