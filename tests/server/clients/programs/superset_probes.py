"""Superset as its users drive it, by its REST API, with the database whose URL is the second argument."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

from tests.server.clients.programs.reporting import report, run_chosen

logging.disable(logging.CRITICAL)


class Client:
    """Somebody who is logged in and has added the database."""

    def __init__(self) -> None:
        from superset.app import create_app

        self._client = create_app().test_client()
        login = {"username": "admin", "password": "admin", "provider": "db"}
        token = self.call("POST", "security/login", **login)["access_token"]
        self._client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {token}"
        place = {"database_name": "streams", "sqlalchemy_uri": sys.argv[2]}
        report("test of the connection", self.call("POST", "database/test_connection/", **place))
        added = self.call("POST", "database/", **place, expose_in_sqllab=True, allow_dml=True)
        self.database: int = added["id"]

    def call(self, method: str, path: str, **body: Any) -> Any:
        """The answer to a request."""
        response = self._client.open(f"/api/v1/{path}", method=method, json=body or None)
        return json.loads(response.text)

    def run(self, text: str) -> list[Any]:
        """The names and rows of a statement in SQL Lab, or its error."""
        found = self.call(
            "POST", "sqllab/execute/", database_id=self.database, sql=text, runAsync=False, queryLimit=100
        )
        if "errors" in found:
            return [found["errors"][0]["error_type"], found["errors"][0]["message"]]
        return [[column["column_name"] for column in found["columns"]], [list(row.values()) for row in found["data"]]]

    def add_dataset(self, **options: Any) -> int:
        """The number of a new dataset."""
        return int(self.call("POST", "dataset/", database=self.database, **options)["id"])

    def draw(self, dataset: int, **query: Any) -> list[Any]:
        """The rows of a chart, or its error."""
        source = {"id": dataset, "type": "table"}
        options = {
            "datasource": source,
            "queries": [query],
            "force": True,
            "result_format": "json",
            "result_type": "full",
        }
        found = self.call("POST", "chart/data", **options)
        if "result" not in found:
            return [found]
        (result,) = found["result"]
        return [result["status"], result["data"], result["error"]]


TOTAL = {"expressionType": "SQL", "sqlExpression": "SUM(total)", "label": "total"}
COUNT = {"expressionType": "SQL", "sqlExpression": "COUNT(*)", "label": "n"}


def statements() -> None:
    client = Client()
    for text in ("SHOW STREAMS", "EXPLAIN PLAN SELECT 1", "-- mine\nSHOW QUERIES;", "CREATE STREAM a", "DROP STREAM a"):
        report(text, client.run(text))
    report("error", client.run("CREATE STREAM bad"))
    report("run", client.run("SELECT * FROM penstock.run('EXPLAIN PLAN x')"))
    report("run, in dollars", client.run("SELECT line FROM penstock.run($$EXPLAIN PLAN x$$) ORDER BY line"))
    report("several", client.run("CREATE STREAM b; SHOW STREAMS"))
    report("mixed", client.run("CREATE STREAM c; SELECT product FROM revenue WHERE total > 10"))
    report("not of Superset's grammar", client.run("PAUSE QUERY q")[0])
    report("SELECT STREAM", client.run("SELECT STREAM * FROM clicks"))
    dataset = client.add_dataset(table_name="streams", sql="SELECT * FROM penstock.run('EXPLAIN PLAN x')")
    report("dataset of run", client.draw(dataset, columns=["line"], orderby=[], row_limit=10))
    client.call("PUT", f"database/{client.database}", allow_dml=False)
    report("without DML", client.run("CREATE STREAM d"))
    report("without DML, of PostgreSQL", client.run("DROP TABLE nothing")[0])


def looks() -> None:
    client = Client()
    number = client.database
    report("schemas", sorted(client.call("GET", f"database/{number}/schemas/")["result"]))
    for schema in ("alice", "public"):
        report(f"tables of {schema}", client.call("GET", f"database/{number}/tables/?q=(schema_name:{schema})"))
    for name in ("orders", "large"):
        report(f"table {name}", client.call("GET", f"database/{number}/table_metadata/?name={name}&schema=alice"))
    report("functions", client.call("GET", f"database/{number}/function_names/"))
    report("rows", client.run("SELECT * FROM alice.orders"))
    revenue = client.add_dataset(table_name="revenue", schema="public")
    columns = client.call("GET", f"dataset/{revenue}")["result"]["columns"]
    report("columns", [[column["column_name"], column["type"], column["is_dttm"]] for column in columns])
    report(
        "chart", client.draw(revenue, columns=["product"], metrics=[TOTAL], orderby=[["product", True]], row_limit=10)
    )
    orders = client.add_dataset(table_name="orders", schema="alice")
    grain = {
        "columnType": "BASE_AXIS",
        "sqlExpression": "at",
        "label": "at",
        "expressionType": "SQL",
        "timeGrain": "PT1H",
    }
    time = {"granularity": "at", "time_range": "2026-01-01 : 2026-02-01"}
    report("chart over time", client.draw(orders, columns=[grain], metrics=[COUNT], orderby=[], row_limit=10, **time))


if __name__ == "__main__":
    run_chosen(statements=statements, looks=looks)
