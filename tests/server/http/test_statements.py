"""Statements over HTTP: run, refused, checked as typed, withdrawn, listed."""

from __future__ import annotations

import time

import httpx
import pytest

from penstock.server.engine_protocol import StatementAnswer
from tests.server.http.conftest import Door

ORDERS = """CREATE STREAM orders (
  id BIGINT KEY, product STRING, price DECIMAL(10, 2), time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND
) WITH (connector = 'files', path = 'data/orders', format = 'json')"""
TOTALS = """CREATE TABLE totals WITH (connector = 'files', path = 'out', format = 'json', operation = 'op') AS
SELECT product, SUM(price) AS total FROM orders GROUP BY product"""


def send(door: Door, sql: str, role: str = "sam") -> httpx.Response:
    with door.client(role) as client:
        return client.post("/v1/statements", json={"sql": sql})


def test_a_script_runs_statement_by_statement(door: Door) -> None:
    response = send(door, f"-- both\n{ORDERS};\n{TOTALS};\n")
    assert response.status_code == 200
    assert response.json() == {
        "answers": [
            {"tag": "CREATE STREAM", "columns": [], "types": [], "rows": [], "notices": [], "queries": []},
            {"tag": "CREATE TABLE", "columns": [], "types": [], "rows": [], "notices": [], "queries": ["totals"]},
        ]
    }
    assert [(each.text, each.author, each.door) for each in door.engine.statements] == [
        (ORDERS, "sam", "http"),
        (TOTALS, "sam", "http"),
    ]


def test_an_answer_has_its_rows_and_types(door: Door) -> None:
    answer = StatementAnswer("SHOW", ("n", "s"), (("1", "a"), (None, "ü")), ("careful",), ("bigint", "text"))
    door.engine.answers["SHOW QUERIES"] = answer
    (answered,) = send(door, "SHOW QUERIES;").json()["answers"]
    assert answered == {
        "tag": "SHOW",
        "columns": ["n", "s"],
        "types": ["bigint", "text"],
        "rows": [["1", "a"], [None, "ü"]],
        "notices": ["careful"],
        "queries": [],
    }


def test_a_refusal_has_its_place_in_the_script(door: Door) -> None:
    response = send(door, f"{ORDERS};\nCREATE VIEW v AS\n  SELECT STREAM nonsense FROM orders;")
    assert response.status_code == 422
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = response.json()
    code = problem["code"]
    assert problem["type"] == f"/errors/{code}"
    assert problem["title"] == problem["message"]
    assert (problem["line"], problem["column"]) == (6, 17)
    assert problem["position"] == len(ORDERS) + len(";\nCREATE VIEW v AS\n  SELECT STREAM ") + 1
    assert [error["code"] for error in problem["errors"]] == [code]
    assert [answer["tag"] for answer in problem["answers"]] == ["CREATE STREAM"]


def test_settings_go_with_each_statement_that_follows(door: Door) -> None:
    refused = "CREATE VIEW v AS SELECT STREAM nonsense FROM orders"
    script = f"SET state_partitions = 2;\n{ORDERS};\nset auto_repartition = TRUE ; {refused}"
    problem = send(door, script).json()
    assert [each.text for each in door.engine.statements] == [
        f"SET state_partitions = 2;\n{ORDERS}",
        f"SET state_partitions = 2;\nset auto_repartition = TRUE;\n{refused}",
    ]
    assert script[problem["position"] - 1 :].startswith("nonsense")


def test_a_script_that_cannot_be_parsed_is_refused_as_a_whole(door: Door) -> None:
    problem = send(door, f"{ORDERS};\nCREATE STREM x").json()
    assert problem["sqlstate"] == "42601"
    assert (problem["line"], problem["column"]) == (5, 8)
    assert problem["answers"] == []
    assert len(door.engine.statements) == 1


@pytest.mark.parametrize("sql", ["", ";", "-- nothing"])
def test_an_empty_script_is_left_to_the_engine(door: Door, sql: str) -> None:
    door.engine.answers[sql] = StatementAnswer("")
    assert send(door, sql).json()["answers"][0]["tag"] == ""


def test_rights_are_those_of_the_role(door: Door) -> None:
    response = send(door, ORDERS, "rita")
    assert response.status_code == 403
    assert response.json()["sqlstate"] == "42501"


def test_a_statement_that_is_too_long_is_refused(door: Door) -> None:
    response = send(door, "-" * ((1 << 20) + 1))
    assert response.status_code == 413
    assert response.json()["sqlstate"] == "54000"
    assert door.engine.statements == []


@pytest.mark.parametrize(
    "body", ["{", "[]", '{"sql": 1}', '{"sql": "x", "more": 1}', '{"sql": "\\ud800"}', '{"sql": "\\u0000"}']
)
def test_bad_bodies_are_refused(door: Door, body: str) -> None:
    with door.client() as client:
        response = client.post("/v1/statements", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert response.json()["message"]


def test_a_client_that_goes_away_withdraws_its_statement(door: Door) -> None:
    with door.client() as client, pytest.raises(httpx.ReadTimeout):
        client.post("/v1/statements", json={"sql": "SLEEP"}, timeout=0.3)
    ends = time.monotonic() + 5
    while not door.engine.withdrawn and time.monotonic() < ends:
        time.sleep(0.01)
    assert door.engine.withdrawn == ["SLEEP"]


def test_a_text_is_checked_over_the_relations_that_there_are(door: Door) -> None:
    send(door, ORDERS)
    with door.client("rita") as client:
        accepted = client.post("/v1/check", json={"sql": "SELECT STREAM id FROM orders"})
        assert accepted.json() == {"findings": []}
        (finding,) = client.post("/v1/check", json={"sql": "SELECT STREAM id\nFROM oders"}).json()["findings"]
    assert finding["code"] == "K012"
    assert (finding["line"], finding["column"], finding["end_line"], finding["end_column"]) == (2, 6, 2, 11)
    assert finding["hint"] == "did you mean orders?"
    assert len(door.engine.statements) == 1


def test_the_check_sees_relations_that_are_replaced(door: Door) -> None:
    sql = {"sql": "SELECT STREAM id FROM orders"}
    with door.client() as client:
        assert client.post("/v1/check", json=sql).json()["findings"]
        send(door, ORDERS)
        assert client.post("/v1/check", json=sql).json()["findings"] == []
        changed = ORDERS.replace("id BIGINT", "number BIGINT")
        door.database.execute("UPDATE penstock.relation SET definition = %s, version = 2", changed)
        assert client.post("/v1/check", json=sql).json()["findings"]
        door.database.execute("UPDATE penstock.relation SET definition = 'CREATE NONSENSE', version = 3")
        assert client.post("/v1/check", json=sql).json()["findings"][0]["code"] == "K012"


def test_a_check_takes_less_than_a_tenth_of_a_second(door: Door) -> None:
    send(door, f"{ORDERS};{TOTALS}")
    with door.client() as client:
        client.post("/v1/check", json={"sql": TOTALS})
        seconds = []
        for number in range(5):
            begun = time.perf_counter()
            client.post("/v1/check", json={"sql": f"{TOTALS.replace('totals', f't{number}')} HAVING SUM(price) > 1"})
            seconds.append(time.perf_counter() - begun)
    assert min(seconds) < 0.1


def test_statements_are_listed_to_their_authors_and_to_owners(door: Door) -> None:
    secret = "CREATE STREAM s (a INT) WITH (connector = 'kafka', password = 'hunter2')"
    send(door, ORDERS)
    send(door, secret, "olga")
    with door.client("sam") as sam, door.client("olga") as olga:
        assert [each["text"] for each in sam.get("/v1/statements").json()["statements"]] == [ORDERS]
        first, second = olga.get("/v1/statements").json()["statements"]
        assert (first["author"], first["state"], second["author"]) == ("olga", "refused", "sam")
        assert first["errors"][0]["code"]
        assert "hunter2" not in first["text"]
        page = olga.get("/v1/statements", params={"limit": 1}).json()
        assert page["next"] == first["id"]
        rest = olga.get("/v1/statements", params={"limit": 1, "before": page["next"]}).json()
        assert [each["id"] for each in rest["statements"]] == [second["id"]]
