"""Checks and scripts that are slow, and those who wait meanwhile."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from penstock.server.client_limits import Limits
from tests.server.http.conftest import Door, serve
from tests.server.http.test_statements import ORDERS, send

SLOW = ";\n".join(f"CREATE VIEW v{number} AS SELECT STREAM id, id + 1 AS n FROM orders" for number in range(1000))
"""It takes half a second to be checked."""


def test_a_check_that_takes_too_long_ends(door: Door) -> None:
    with serve(door.database, Limits(check_seconds=0.1)) as limited:
        send(limited, ORDERS)
        with limited.client("rita") as client, door.client("sam") as other:
            began = time.monotonic()
            (finding,) = client.post("/v1/check", json={"sql": SLOW}).json()["findings"]
            assert (finding["code"], finding["severity"]) == ("V018", "error")
            assert finding["message"] == "the plan of the statement was ended: it took more than 0.1 seconds"
            assert other.post("/v1/check", json={"sql": "SELECT STREAM id FROM orders"}).json() == {"findings": []}
            assert time.monotonic() - began < 10


def test_a_role_has_its_share_of_checks(door: Door) -> None:
    with serve(door.database, Limits(check_seconds=2)) as limited, ThreadPoolExecutor(20) as pool:
        send(limited, ORDERS)

        def check(_: int) -> int:
            with limited.client("rita") as client:
                return client.post("/v1/check", json={"sql": SLOW}, timeout=60).status_code

        sent = [pool.submit(check, number) for number in range(20)]
        with limited.client("sam") as other:
            began = time.monotonic()
            for _ in range(5):
                assert other.post("/v1/check", json={"sql": "SELECT STREAM id FROM orders"}).status_code == 200
            assert time.monotonic() - began < 5
        assert {each.result() for each in sent} == {200, 429}


def test_a_script_that_takes_too_long_is_refused(door: Door) -> None:
    with serve(door.database, Limits(plan_seconds=0.05)) as limited, limited.client() as client:
        response = client.post("/v1/statements", json={"sql": SLOW})
        assert (response.status_code, response.json()["code"]) == (413, "V018")
        assert limited.engine.statements == []


def test_a_door_closes_while_checks_run(door: Door) -> None:
    with ThreadPoolExecutor(4) as pool:
        with serve(door.database, Limits(check_seconds=60)) as limited:
            send(limited, ORDERS)
            client = limited.client("rita")
            for _ in range(4):
                pool.submit(client.post, "/v1/check", json={"sql": SLOW * 2})
            time.sleep(0.5)
            began = time.monotonic()
        assert time.monotonic() - began < 8
        client.close()
