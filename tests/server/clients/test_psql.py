"""psql."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable

import pytest

from penstock.server.engine_protocol import QUERY_COLUMNS
from tests.server.clients.address import Address
from tests.server.postgres.door import Door

pytestmark = pytest.mark.skipif(shutil.which("psql") is None, reason="apt-get install postgresql-client")

BAD = "CREATE STREAM bad AS\n  SELECT 1"
ERROR = """ERROR:  K012: a watermark is missing
LINE 1: CREATE STREAM bad AS
               ^
DETAIL:  of clicks
HINT:  WATERMARK FOR
"""


def psql(address: Address, *arguments: str, given: str = "") -> tuple[str, str]:
    """What psql prints, and its errors."""
    variables = {**os.environ, **address.environment, "LC_ALL": "C.UTF-8", "PAGER": "cat"}
    command = ["psql", "-X", "-A", "-t", "-q", *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, env=variables, timeout=60, check=False)
    return done.stdout, done.stderr


STREAMS = "clicks|at TIMESTAMP, page STRING\nWörter|\n"
PROBES = {
    "SHOW STREAMS;": STREAMS,
    "show\n  streams\n;": STREAMS,
    "EXPLAIN PLAN SELECT 1;": "KStream\n  Scan clicks\n",
    "SELECT * FROM penstock.run('SHOW QUERIES');": "\t".join(QUERY_COLUMNS) + "\n",
    "SELECT product, total FROM revenue ORDER BY orders;": "Äpfel|\npear|7.25\napple|12.50\n",
    "SHOW STREAMS \\gdesc": "name|text\ncolumns|text\n",
    "SHOW STREAMS \\gx": "name|clicks\ncolumns|at TIMESTAMP, page STRING\n\nname|Wörter\ncolumns|\n",
    "SELECT 'SHOW STREAMS' \\gexec": STREAMS,
    "EXPLAIN PLAN x \\g | tail -1": "  Scan clicks\n",
    "BEGIN; CREATE STREAM a; SELECT 1; COMMIT;": "1\n",
    "CREATE STREAM a \\; SHOW STREAMS;": STREAMS,
    "\\copy revenue (product) TO STDOUT": "apple\npear\nÄpfel\n",
    "\\copy (SELECT * FROM penstock.run('EXPLAIN PLAN x')) TO STDOUT": "KStream\n  Scan clicks\n",
    "\\set what 'SHOW STREAMS'\n:what;": STREAMS,
    "\\set FETCH_COUNT 1\nSELECT product FROM revenue;": "apple\npear\nÄpfel\n",
    "PREPARE p AS SELECT 1; EXECUTE p;": "1\n",
}


def run_all(address: Address, texts: Iterable[str]) -> tuple[dict[str, str], str]:
    """What psql prints for each text, and all errors."""
    given = "".join(f"{text}\n\\echo {'-' * 40}\n" for text in texts)
    shown, errors = psql(address, given=given)
    return dict(zip(texts, shown.split("-" * 40 + "\n"), strict=False)), errors


def test_what_psql_shows(relay: Address) -> None:
    shown, errors = run_all(relay, PROBES)
    assert errors == ""
    assert shown == PROBES


def test_tags_and_headings(relay: Address) -> None:
    command = ["psql", "-X", "-c", "CREATE STREAM a", "-c", "SHOW QUERIES"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **relay.environment}, check=True)
    lines = done.stdout.splitlines()
    assert [lines[0], *lines[1].split(" | ")] == ["CREATE STREAM", " name", *QUERY_COLUMNS[1:-1], "fault "]
    assert lines[3:] == ["(0 rows)", ""]


@pytest.mark.parametrize("arguments", [("-c", BAD), ("-1", "-c", BAD)])
def test_errors_have_a_caret(relay: Address, arguments: tuple[str, ...]) -> None:
    assert psql(relay, *arguments) == ("", ERROR)


def test_errors_of_scripts(door: Door, relay: Address) -> None:
    script = f"CREATE STREAM a;\n{BAD};\nCREATE STREAM b;\n"
    assert psql(relay, "-v", "ON_ERROR_STOP=1", given=script)[1] == ERROR
    assert psql(relay, "-v", "ON_ERROR_ROLLBACK=1", "-1", "-f", "-", given=script)[1].count("ERROR") == 1
    assert door.engine.texts.count("CREATE STREAM b") == 1


def test_a_warning(relay: Address) -> None:
    found = psql(relay, "-c", "CREATE TABLE t WITH (connector = 'memory') AS SELECT 1")
    assert found == ("", "WARNING:  the state of this query grows\n")


def test_a_mixed_message(relay: Address) -> None:
    shown, errors = psql(relay, "-c", "SELECT 1; CREATE STREAM a")
    assert shown == ""
    assert errors.splitlines() == [
        "ERROR:  a message has statements of Penstock and of PostgreSQL",
        "LINE 1: SELECT 1; CREATE STREAM a",
        "                  ^",
        "HINT:  send the statements of Penstock in a message of their own",
    ]


def test_control_c(door: Door, relay: Address) -> None:
    running = subprocess.Popen(
        ["psql", "-X", "-c", "PAUSE QUERY slow"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **relay.environment},
    )
    deadline = time.monotonic() + 20
    while not door.engine.asked:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    assert "canceling statement due to user request" in running.communicate(timeout=20)[1]
    assert [each.text for each in door.engine.withdrawn] == ["PAUSE QUERY slow"]


LOOKS = [
    *("\\d", "\\dt", "\\dt *.*", "\\dv alice.*", "\\di alice.*", "\\ds alice.*", "\\d revenue", "\\d+ alice.orders"),
    *("\\d+ alice.large", "\\dn+", "\\df penstock.*", "\\df+ penstock.run", "\\du", "\\dp", "\\l", "\\dTS int*"),
    *("\\dC int4", "\\sf penstock.answer", "\\z revenue", "\\dconfig *timeout*", "\\dx", "\\doS ="),
]


@pytest.mark.usefixtures("inspected")
def test_looks_are_as_without_the_relay(relay: Address, direct: Address) -> None:
    shown, errors = run_all(relay, LOOKS)
    assert (shown, errors) == run_all(direct, LOOKS)
    assert len(shown) == len(LOOKS)
    assert [look for look in LOOKS if not shown[look]] == ["\\l"], "psql 15 cannot list databases of PostgreSQL 18"
