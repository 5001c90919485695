"""Queries, relations and figures over HTTP, and the pages that explain codes."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from tests.server.http.conftest import Door
from tests.server.http.fake_engine import PLAN, STATUS
from tests.server.http.test_statements import ORDERS, TOTALS, send


def read_figures(door: Door) -> dict[tuple[str, frozenset[str]], float]:
    """Samples by name and values of labels."""
    with door.client("rita") as client:
        response = client.get("/metrics")
    assert response.headers["Content-Type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(response.text)
    return {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def test_a_query_has_its_plan_its_figures_and_its_reasons(door: Door) -> None:
    send(door, f"{ORDERS};{TOTALS}")
    with door.client("rita") as client:
        (listed,) = client.get("/v1/queries").json()["queries"]
        shown = client.get("/v1/queries/totals").json()
        assert client.get("/v1/queries/nowhere").status_code == 404
    assert (listed["name"], listed["state"], listed["author"], listed["status"]) == ("totals", "RUNNING", "sam", STATUS)
    assert "plan" not in listed
    assert shown["plan"] == PLAN
    assert shown["status"]["reasons"][0]["cause"] == "not_final"
    assert shown["definition"] == TOTALS
    assert shown["since"].endswith("Z")


def test_a_query_that_is_held_links_the_page_of_its_code(door: Door) -> None:
    send(door, f"{ORDERS};{TOTALS}")
    door.database.execute("UPDATE penstock.query SET state = 'HELD', code = 'R020', message = 'division by zero'")
    with door.client("rita") as client:
        shown = client.get("/v1/queries/totals").json()
        page = client.get(shown["error_page"])
    assert page.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert page.text.startswith("# R020: ")


def test_names_are_quoted_where_statements_need_it(door: Door) -> None:
    door.database.execute(
        "INSERT INTO penstock.query (name, definition, author, state) VALUES ('a b`c', 'x', 'sam', 'HELD')"
    )
    with door.client("rita") as client:
        assert client.get("/v1/queries/a%20b%60c").json()["name_text"] == "`a b``c`"


def test_relations_are_listed_without_secrets(door: Door) -> None:
    send(door, ORDERS)
    door.database.execute(
        'UPDATE penstock.relation SET definition = %s, columns = \'[{"name": "id", "type": "BIGINT"}]\'',
        "CREATE STREAM orders (a INT) WITH (connector = 'kafka', password = 'hunter2')",
    )
    with door.client("rita") as client:
        response = client.get("/v1/relations")
    assert "hunter2" not in response.text
    (relation,) = response.json()["relations"]
    assert (relation["name"], relation["kind"], relation["columns"]) == (
        "orders",
        "STREAM",
        [{"name": "id", "type": "BIGINT"}],
    )


def test_the_pipeline_says_who_reads_what(door: Door) -> None:
    """A view, a sink that a query writes into, and a stream that is read and written."""
    send(door, f"{ORDERS};{TOTALS};CREATE VIEW dear AS SELECT STREAM id FROM orders WHERE price > 5")
    relation = (
        "INSERT INTO penstock.relation (name, shown, kind, definition, author, columns) "
        "VALUES (%s, %s, 'STREAM', '', '', '[]')"
    )
    lineage = (
        "INSERT INTO penstock.lineage (relation, query, is_declared, connector, reads, writes) "
        "VALUES (%s, %s, %s, %s, %s, %s)"
    )
    for name in ("Out", "late_orders"):
        door.database.execute(relation, name.lower(), name)
        door.database.execute(lineage, name.lower(), None, True, "kafka", [], [])
    door.database.execute(lineage, None, "insert_1", False, None, ["dear", "c"], ["out", "late_orders"])
    door.database.execute(lineage, None, "insert_2", False, None, ["late_orders"], ["gone"])
    door.database.execute(
        "INSERT INTO penstock.query (name, definition, author, state, code, message) "
        "VALUES ('insert_1', '', '', 'HELD', 'R020', 'division by zero')"
    )
    with door.client("rita") as client:
        pipeline = client.get("/v1/pipeline").json()
    nodes = {node["id"]: node for node in pipeline["nodes"]}
    assert {id_: (node["name"], node["kind"], node["connector"]) for id_, node in nodes.items()} == {
        "orders": ("orders", "source", "files"),
        "totals": ("totals", "table", None),
        "dear": ("dear", "view", None),
        "out": ("Out", "sink", "kafka"),
        "late_orders": ("late_orders", "stream", "kafka"),
        "insert_1 ": ("insert_1", "query", None),
        "insert_2 ": ("insert_2", "query", None),
    }
    assert pipeline["edges"] == [
        *(["orders", "totals"], ["orders", "dear"], ["dear", "insert_1 "]),
        *(["insert_1 ", "out"], ["insert_1 ", "late_orders"], ["late_orders", "insert_2 "]),
    ]
    figures = {"state": "RUNNING", "input_rate": 12.5, "output_rate": 3.0, "lag_seconds": 10.0, "batch": 7, "out": 40}
    assert nodes["totals"].items() >= {"query": "totals", "late": 3, "rejected": 2, **figures}.items()
    held = {"query": "insert_1", "state": "HELD", "code": "R020", "message": "division by zero", "late": 0}
    assert nodes["insert_1 "].items() >= held.items()
    assert nodes["dear"].items() >= {"query": None, "state": None, "late": None, "input_rate": None}.items()


def test_only_codes_have_pages(door: Door) -> None:
    with door.client(None) as client:
        for name in ("K999", "README", "..%2Fserve", "k012", "K012.md"):
            assert client.get(f"/errors/{name}").status_code == 404


def test_figures_are_those_of_the_queries(door: Door) -> None:
    send(door, f"{ORDERS};{TOTALS}")
    figures = read_figures(door)
    expected = {
        ("penstock_query_state", "totals RUNNING"): 1,
        ("penstock_query_state", "totals PAUSED"): 0,
        ("penstock_query_restarts_total", "totals"): 0,
        ("penstock_query_batch", "totals"): 7,
        ("penstock_query_output_rows_total", "totals"): 40,
        ("penstock_query_input_rows_per_second", "totals"): 12.5,
        ("penstock_query_output_rows_per_second", "totals"): 3,
        ("penstock_query_lag_seconds", "totals"): 10,
        ("penstock_query_state_rows", "totals"): 3,
        ("penstock_query_state_bytes", "totals"): 4096,
        ("penstock_query_input_rows_total", "totals orders"): 100,
        ("penstock_query_input_rows_by_outcome_total", "totals orders late"): 3,
        ("penstock_query_input_rows_by_outcome_total", "totals orders rejected"): 2,
        ("penstock_query_input_rows_by_outcome_total", "totals orders filtered"): 5,
        ("penstock_query_input_rows_by_outcome_total", "totals orders used"): 90,
    }
    assert {name: figures[name[0], frozenset(name[1].split())] for name in expected} == expected
    assert figures["penstock_query_table_rows_total", frozenset(("totals", "put"))] == 40
    assert figures["penstock_http_connections", frozenset()] >= 1
    assert figures["penstock_change_streams", frozenset()] == 0


def test_figures_count_statements(door: Door) -> None:
    def count(outcome: str) -> float:
        return read_figures(door)["penstock_statements_total", frozenset(("http", outcome))]

    done, refused = count("done"), count("refused")
    send(door, ORDERS)
    send(door, "nonsense")
    assert (count("done"), count("refused")) == (done + 1, refused + 1)


def test_a_query_without_figures_has_few(door: Door) -> None:
    send(door, f"{ORDERS};{TOTALS}")
    door.database.execute("UPDATE penstock.query SET status = NULL, state = 'STARTING'")
    figures = read_figures(door)
    assert figures["penstock_query_state", frozenset(("totals", "STARTING"))] == 1
    assert ("penstock_query_lag_seconds", frozenset(["totals"])) not in figures


def test_the_routes_are_described(door: Door) -> None:
    with door.client("rita") as client:
        schema = client.get("/openapi.json").json()
    assert schema["info"]["title"] == "Penstock"
    assert {"/v1/statements", "/v1/check", "/v1/tables/{name}", "/metrics", "/readyz"} < set(schema["paths"])
    described = [route["summary"] for path in schema["paths"].values() for route in path.values()]
    assert all(described)


def test_relations_of_one_moment_are_known_in_the_order_of_their_statements(door: Door) -> None:
    """All that takes effect with one change is of one moment."""
    view = "CREATE VIEW zpaid AS SELECT STREAM id, price FROM orders WHERE price > 5"
    send(door, f"{ORDERS};{view};CREATE TABLE atotals AS SELECT price, COUNT(*) AS n FROM zpaid GROUP BY price")
    door.database.execute("UPDATE penstock.relation SET created = '2025-01-01'")
    with door.client("rita") as client:
        names = [each["name"] for each in client.get("/v1/relations").json()["relations"]]
        found = client.post("/v1/check", json={"sql": "CREATE VIEW v AS SELECT n FROM atotals WHERE price > 1"}).json()
    assert names == ["orders", "zpaid", "atotals"]
    assert [each for each in found["findings"] if each["severity"] == "error"] == []
