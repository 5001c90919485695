"""Tables over HTTP: formats, pages, order, filters, types, limits."""

from __future__ import annotations

import csv
import io
import random
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import httpx
import pyarrow as pa
import pytest
from psycopg import sql

from penstock.server.client_limits import Limits
from penstock.server.http.table_requests import TableRequest, TableShape, write_select
from tests.server.http.conftest import Database, Door, serve

ROWS = [("chair", "120.00", 1), ("desk", None, 0), ("lamp", "80.50", 2)]


@pytest.fixture
def client(door: Door) -> Any:
    for row in ROWS:
        door.database.execute("INSERT INTO totals VALUES (%s, %s, %s)", *row)
    with door.client("rita") as client:
        yield client


def read(client: httpx.Client, path: str) -> Any:
    response = client.get(path)
    assert response.status_code == 200, response.text
    return response.json()


def products(client: httpx.Client, parameters: str) -> list[str]:
    return [row["product"] for row in read(client, f"/v1/tables/totals?{parameters}")["rows"]]


def test_json_has_columns_key_and_rows(client: httpx.Client) -> None:
    assert read(client, "/v1/tables/Totals") == {
        "table": "totals",
        "key": ["product"],
        "columns": [
            {"name": "product", "type": "text"},
            {"name": "total", "type": "numeric(10,2)"},
            {"name": "n", "type": "bigint"},
        ],
        "rows": [dict(zip(("product", "total", "n"), row, strict=True)) for row in ROWS],
        "next": None,
    }


def test_csv_has_a_header(client: httpx.Client) -> None:
    for response in (
        client.get("/v1/tables/totals?format=csv"),
        client.get("/v1/tables/totals", headers={"Accept": "text/csv"}),
    ):
        assert response.headers["Content-Type"].startswith("text/csv")
        assert response.text == "product,total,n\r\nchair,120.00,1\r\ndesk,,0\r\nlamp,80.50,2\r\n"


def test_arrow_has_types(client: httpx.Client) -> None:
    response = client.get("/v1/tables/totals", headers={"Accept": "application/vnd.apache.arrow.stream, */*;q=0.1"})
    table = pa.ipc.open_stream(response.content).read_all()
    assert table.schema == pa.schema([("product", pa.string()), ("total", pa.decimal128(10, 2)), ("n", pa.int64())])
    assert table.to_pylist()[0] == {"product": "chair", "total": Decimal("120.00"), "n": 1}
    empty = pa.ipc.open_stream(client.get("/v1/tables/totals?format=arrow&limit=0").content).read_all()
    assert (empty.schema, empty.num_rows) == (table.schema, 0)


def test_pages_go_by_the_primary_key(client: httpx.Client, door: Door) -> None:
    page = client.get("/v1/tables/totals?limit=2&n=0&n=1&n=2")
    assert [row["product"] for row in page.json()["rows"]] == ["chair", "desk"]
    assert page.json()["next"] == ["desk"]
    following = client.get(page.links["next"]["url"])
    assert [row["product"] for row in following.json()["rows"]] == ["lamp"]
    assert following.json()["next"] is None
    assert "Link" not in following.headers
    assert products(client, "order=-product&limit=1") == ["lamp"]
    assert products(client, "order=-product&after=lamp") == ["desk", "chair"]


def test_pages_go_by_a_key_of_several_columns(client: httpx.Client, door: Door) -> None:
    for minute in range(3):
        for page in ("a", "b&c=d"):
            at = datetime(2025, 1, 1, 10, minute, 0, 250000, tzinfo=UTC)
            door.database.execute("INSERT INTO views_per_minute VALUES (%s, %s, %s, 1)", at, at, page)
    seen, url = [], "/v1/tables/views_per_minute?limit=2"
    for _ in range(3):
        response = client.get(url)
        seen += [(row["window_start"][14:16], row["page"]) for row in response.json()["rows"]]
        url = response.links.get("next", {}).get("url", "")
    assert not url
    assert seen == [(f"0{minute}", page) for minute in range(3) for page in ("a", "b&c=d")]


@pytest.mark.parametrize("descends", [False, True])
def test_pages_go_by_a_key_with_nulls(client: httpx.Client, door: Door, descends: bool) -> None:
    """NULL comes last, and first where the order descends, as in PostgreSQL."""
    pages = ("a", "", "b\\N", "\\N", "\\\\N", None)
    rows = [(page, n, code) for page in pages for n in (1, 2) for code in (None, 0, 7)]
    with door.database.connection.cursor() as cursor:
        cursor.executemany("INSERT INTO visits (page, n, code) VALUES (%s, %s, %s)", random.Random(7).sample(rows, 36))
    sign = "-" if descends else ""
    way = "DESC" if descends else "ASC"
    expected = door.database.execute(f"SELECT page, n, code FROM visits ORDER BY page {way}, n {way}, code {way}")
    for limit in (1, 2, 5):
        seen, url = [], f"/v1/tables/visits?limit={limit}&n=1&n=2&order={sign}page,{sign}n,{sign}code"
        while url:
            response = client.get(url)
            assert response.json()["key"] == ["page", "n", "code"]
            seen += [(row["page"], row["n"], row["code"]) for row in response.json()["rows"]]
            url = response.links.get("next", {}).get("url", "")
        assert seen == expected
    last = ("order=-page,-n,-code&after=&after=1&after=0", "after=%5CN&after=2&after=%5CN")[not descends]
    assert read(client, f"/v1/tables/visits?{last}")["rows"] == []


def test_pages_go_by_any_order(client: httpx.Client, door: Door) -> None:
    """Columns may ascend and descend side by side, have equal values, and be NULL."""
    with door.database.connection.cursor() as cursor:
        rows = [(page, n, code) for page in ("a", "b", None) for n in (1, 2) for code in (None, 0, 7)]
        cursor.executemany("INSERT INTO visits (page, n, code) VALUES (%s, %s, %s)", random.Random(8).sample(rows, 18))
    for order in (("-n",), ("code", "-page"), ("-code", "n"), ("-page", "-n"), ("n", "n", "-n")):
        columns = {each.lstrip("-"): each.startswith("-") for each in reversed(order)}
        full = {each.lstrip("-"): columns[each.lstrip("-")] for each in order}
        full |= {column: False for column in ("page", "n", "code") if column not in full}
        sorting = ", ".join(f"{column} {'DESC' if descends else 'ASC'}" for column, descends in full.items())
        expected = door.database.execute(f"SELECT page, n, code FROM visits ORDER BY {sorting}")
        for limit in (1, 5):
            seen, url = [], f"/v1/tables/visits?limit={limit}&order={','.join(order)}"
            while url:
                response = client.get(url)
                seen += [(row["page"], row["n"], row["code"]) for row in response.json()["rows"]]
                url = response.links.get("next", {}).get("url", "")
            assert seen == expected, order


def test_columns_have_bounds(client: httpx.Client) -> None:
    assert products(client, "n>=1") == ["chair", "lamp"]
    assert products(client, "n>=1&n<=1") == ["chair"]
    assert products(client, "product>=d&product>=e") == ["lamp"]
    assert products(client, "n%3E=1&product=desk") == []


def test_all_rows_are_counted_if_that_is_asked(client: httpx.Client) -> None:
    def count(parameters: str, prefer: str) -> Any:
        return client.get(f"/v1/tables/totals?{parameters}", headers={"Prefer": prefer}).json().get("count")

    assert count("limit=1", "count=exact") == 3
    assert count("limit=0&n>=1", "wait=3, count=exact") == 2
    assert count("limit=2&after=desk", "count=exact") == 3
    assert count("limit=1", "count=some") is None


def test_a_page_is_read_by_the_index(door: Door) -> None:
    shape = TableShape(
        "visits", (("page", "text"), ("n", "int"), ("code", "int")), ("page", "n", "code"), frozenset({"page", "code"})
    )
    door.database.execute("INSERT INTO visits SELECT 'p' || mod(i, 7), i, i FROM generate_series(1, 20000) AS i")
    door.database.execute("ANALYZE visits")
    for after in (("p3", "500", "500"), ("p3", "500", r"\N"), (r"\N", "500", "1")):
        for descends in (False, True):
            order = tuple(f"-{column}" if descends else column for column in shape.key)
            query, parameters, _ = write_select(shape, TableRequest(2, after, order))
            plan = door.database.connection.execute(sql.SQL("EXPLAIN ") + query, parameters).fetchall()
            text = "\n".join(line for (line,) in plan)
            assert "Seq Scan" not in text
            assert "Index Cond" in text


def test_a_table_of_one_row_has_no_key(client: httpx.Client, door: Door) -> None:
    door.database.execute("INSERT INTO total VALUES (3)")
    shown = read(client, "/v1/tables/total")
    assert (shown["key"], shown["rows"], shown["next"]) == ([], [{"n": 3}], None)
    assert client.get("/v1/tables/total?after=x").status_code == 400


def test_rows_are_ordered_and_filtered(client: httpx.Client) -> None:
    assert products(client, "order=-n,product") == ["lamp", "chair", "desk"]
    assert products(client, "product=lamp&product=desk") == ["desk", "lamp"]
    assert products(client, "product=lamp&n=1") == []
    assert products(client, "total=80.5") == ["lamp"]


@pytest.mark.parametrize(
    ("parameters", "status", "message", "hint"),
    [
        ("prodct=x", 400, "unknown column prodct", "did you mean product?"),
        ("order=nope", 400, "unknown column nope", None),
        ("order=n&after=1", 400, "after takes 2 values, one for each column of the order", "n, product"),
        ("after=1&after=2", 400, "after takes 1 value, one for each column of the order", "product"),
        ("prodct>=x", 400, "unknown column prodct", "did you mean product?"),
        ("n>=one", 400, 'invalid input syntax for type bigint: "one"', None),
        ("n=one", 400, 'invalid input syntax for type bigint: "one"', None),
        ("n=1); DROP TABLE totals; --", 400, 'invalid input syntax for type bigint: "1); DROP TABLE totals; --"', None),
        ('"product"=lamp', 400, 'unknown column "product"', "did you mean product?"),
        ("product=%00", 422, None, None),
        ("limit=-1", 400, "query.limit: input should be greater than or equal to 0", None),
        ("limit=100001", 400, "limit is at most 100,000", None),
        ("format=xml", 400, "unknown format xml", "json, csv or arrow"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    client: httpx.Client, parameters: str, status: int, message: str | None, hint: str | None
) -> None:
    response = client.get(f"/v1/tables/totals?{parameters}")
    assert response.status_code == status
    assert "SELECT" not in response.text
    if message is not None:
        assert (response.json()["message"], response.json()["hint"]) == (message, hint)
    assert len(products(client, "")) == 3


def test_other_media_types_are_refused(client: httpx.Client) -> None:
    assert client.get("/v1/tables/totals", headers={"Accept": "image/png"}).status_code == 406
    assert client.get("/v1/tables/totals", headers={"Accept": "text/html, */*;q=0.8"}).json()["rows"]


def test_a_view_has_no_pages(client: httpx.Client) -> None:
    page = read(client, "/v1/tables/newest?limit=1&order=-n")
    assert (page["key"], page["next"], page["rows"]) == ([], None, [{"product": "lamp", "n": 2}])
    assert client.get("/v1/tables/newest?after=x&order=n").status_code == 400


def test_names_may_need_quotes(client: httpx.Client, door: Door) -> None:
    door.database.execute('INSERT INTO "Mixed Case" VALUES (1, 5) ON CONFLICT DO NOTHING')
    assert read(client, "/v1/tables/Mixed Case?Id=1")["rows"] == [{"Id": 1, "limit": 5}]


def test_what_a_role_may_not_read_is_refused(client: httpx.Client, door: Door) -> None:
    for name in ("secrets", "nowhere", "penstock.token", 'totals"; --'):
        response = client.get(f"/v1/tables/{name}")
        assert response.status_code == (403 if name == "secrets" else 404)
        assert response.headers["Content-Type"] == "application/problem+json"


def test_every_type_has_its_form(client: httpx.Client, door: Door) -> None:
    uuid = "7f5c1c1e-2c9e-4ac6-a1a5-2c8ee5ef6cd5"
    door.database.execute(
        "INSERT INTO every_type VALUES (1, true, 2, 9007199254740993, 0.5, 'NaN', 1.5, 12345678901234567890.1, 'ü\"',"
        " '2025-01-02', '2025-01-02T03:04:05.000006+01', '03:04', '\\x00ff', '{\"a\": [1, null]}', '{1,NULL}', %s)",
        uuid,
    )
    door.database.execute("INSERT INTO every_type (id) VALUES (2)")
    (row, nulls) = read(client, "/v1/tables/every_type")["rows"]
    assert row == {
        **{"id": 1, "flag": True, "small": 2, "big": 9007199254740993, "single": 0.5, "double": "NaN"},
        **{"money": "1.500", "digits": "12345678901234567890.1", "word": 'ü"', "day": "2025-01-02"},
        **{"at": "2025-01-02T02:04:05.000006Z", "clock": "03:04:00", "raw": "AP8=", "doc": {"a": [1, None]}},
        **{"list": [1, None], "uuid": uuid},
    }
    assert set(nulls.values()) == {2, None}
    table = pa.ipc.open_stream(client.get("/v1/tables/every_type?format=arrow").content).read_all()
    first, second = table.to_pylist()
    assert str(first.pop("double")) == "nan"
    assert first == {
        **{"id": 1, "flag": True, "small": 2, "big": 9007199254740993, "single": 0.5, "money": Decimal("1.500")},
        **{"digits": "12345678901234567890.1", "word": 'ü"', "day": date(2025, 1, 2)},
        **{"at": datetime(2025, 1, 2, 2, 4, 5, 6, tzinfo=UTC), "clock": time(3, 4), "raw": b"\x00\xff"},
        **{"doc": '{"a": [1, null]}', "list": [1, None], "uuid": uuid},
    }
    assert set(second.values()) == {2, None}
    (line, _) = csv.DictReader(io.StringIO(client.get("/v1/tables/every_type?format=csv").text))
    assert (line["flag"], line["doc"], line["list"]) == ("true", '{"a": [1, null]}', "[1, null]")


def test_values_that_have_no_form_are_refused(client: httpx.Client, door: Door) -> None:
    door.database.execute("INSERT INTO every_type (id, at) VALUES (1, 'infinity')")
    assert client.get("/v1/tables/every_type").status_code == 422
    door.database.execute("UPDATE every_type SET at = NULL, money = 'NaN'")
    assert read(client, "/v1/tables/every_type")["rows"][0]["money"] == "NaN"
    assert client.get("/v1/tables/every_type?format=arrow").status_code == 422


def test_reads_have_a_time_limit(database: Database, door: Door) -> None:
    database.execute("CREATE OR REPLACE VIEW slow AS SELECT pg_sleep(20)::text AS slept")
    database.execute("GRANT SELECT ON slow TO penstock_reader")
    with serve(database, Limits(select_seconds=0.2, answer_rows=2)) as short, short.client("rita") as client:
        response = client.get("/v1/tables/slow")
        assert (response.status_code, response.json()["sqlstate"]) == (504, "57014")
        assert client.get("/v1/tables/totals?limit=3").status_code == 400
    database.execute("DROP VIEW slow")
