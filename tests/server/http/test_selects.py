"""SELECT over HTTP: PostgreSQL answers it in a session of the token's own role, within limits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from penstock.server.client_limits import Limits
from penstock.server.engine_protocol import StatementAnswer
from penstock.server.http.answer_room import AnswerRoom
from tests.server.http.conftest import Door, serve
from tests.server.http.test_statements import ORDERS, send

ESCAPES = [
    # In a session of the server's role, each of these would show what only the server may read.
    "SELECT set_config('role', 'none', false), query_to_xml('SELECT word FROM secrets', true, false, '')",
    "SELECT set_config('role', 'door', false), query_to_xml('SELECT word FROM secrets', true, false, '')",
    "SELECT set_config('session_authorization', 'postgres', false)",
    "SELECT set_config('session_authorization', 'door', false)",
    "SELECT set_config('role', 'olga', false)",
    "SELECT set_config('role', 'none', false), query_to_xml('SELECT hash FROM penstock.token', true, false, '')",
    "SELECT word FROM secrets",
    "SELECT hash FROM penstock.token",
    "TABLE penstock.statement",
    "WITH gone AS (DELETE FROM totals RETURNING *) SELECT * FROM gone",
    "SELECT set_config('transaction_read_only', 'off', false), query_to_xml('DELETE FROM totals', true, false, '')",
    "SELECT * INTO stolen FROM totals",
    "SELECT * FROM totals FOR UPDATE",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'door'",
    "EXPLAIN ANALYZE DELETE FROM totals",
    "SELECT 1 \\; DELETE FROM totals",
]


@pytest.fixture(autouse=True)
def fill_tables(door: Door) -> None:
    door.database.execute("INSERT INTO totals VALUES ('lamp', 80.50, 2), ('chair', 120, 1), ('desk', NULL, 0)")
    door.database.execute("INSERT INTO secrets VALUES (1, 'hush') ON CONFLICT DO NOTHING")


def read(door: Door, sql: str, role: str = "rita") -> dict[str, Any]:
    response = send(door, sql, role)
    assert response.status_code == 200, response.text
    (answer,) = response.json()["answers"]
    assert isinstance(answer, dict)
    return answer


def test_a_reader_gets_rows_with_types(door: Door) -> None:
    assert read(door, "SELECT product, total, n, n > 1 AS many FROM totals ORDER BY product;") == {
        "tag": "SELECT 3",
        "columns": ["product", "total", "n", "many"],
        "types": ["text", "numeric(10,2)", "bigint", "boolean"],
        "rows": [["chair", "120.00", "1", "f"], ["desk", None, "0", "f"], ["lamp", "80.50", "2", "t"]],
        "notices": [],
        "queries": [],
    }
    assert door.engine.statements == []  # the engine does not hear of it


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("select sum(n)::int from totals -- and a comment", [["3"]]),
        ("SELECT count(*) FILTER (WHERE n > 0) FROM totals", [["2"]]),
        (
            "WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 3) SELECT i FROM r",
            [["1"], ["2"], ["3"]],
        ),
        ("VALUES ('%s'), ('a;b')", [["%s"], ["a;b"]]),
        ("TABLE newest ORDER BY product LIMIT 1", [["chair", "1"]]),
        ("SELECT '2025-01-01 10:00:00+02'::timestamptz, '\\x00ff'::bytea", [["2025-01-01 08:00:00+00", "\\x00ff"]]),
        ("SHOW timezone", [["UTC"]]),
        ("SELECT FROM totals WHERE n = 0", [[]]),
        ("SELECT n FROM totals WHERE n > 9", []),
        ('SELECT "Id" FROM "Mixed Case"', []),
        ("SELECT current_user", [["rita"]]),
    ],
)
def test_postgres_reads_the_statement(door: Door, sql: str, rows: list[list[str | None]]) -> None:
    assert read(door, sql)["rows"] == rows


@pytest.mark.parametrize("sql", ESCAPES)
@pytest.mark.parametrize("role", ["rita", "sam"])
def test_a_role_reads_no_more_than_it_may(door: Door, sql: str, role: str) -> None:
    response = send(door, sql, role)
    assert response.status_code in (403, 422), response.text
    assert "hush" not in response.text
    assert door.database.execute("SELECT count(*) FROM totals") == [(3,)]
    assert read(door, "SELECT current_user, current_setting('role')", role)["rows"] == [[role, role]]


def test_a_session_role_has_nothing_but_the_role_of_its_user(door: Door) -> None:
    (row,) = read(door, "SELECT session_user, set_config('role', 'none', true)")["rows"]
    assert row[0].startswith("penstock_session_")
    granted = door.database.execute(
        "SELECT granted.rolname FROM pg_auth_members JOIN pg_roles AS granted ON granted.oid = roleid "
        "JOIN pg_roles AS made ON made.oid = member WHERE made.rolname = %s",
        row[0],
    )
    assert granted == [("rita",)]
    assert door.database.execute("SELECT rolinherit, rolcreaterole FROM pg_roles WHERE rolname = %s", row[0]) == [
        (False, False)
    ]


def test_a_refusal_has_its_place_in_the_script(door: Door) -> None:
    script = "SELECT 1 AS é;\n  SELECT product, prise FROM totals"
    problem = send(door, script, "rita").json()
    assert (problem["message"], problem["sqlstate"]) == ('column "prise" does not exist', "42703")
    assert script[problem["position"] - 1 :] == "prise FROM totals"
    assert (problem["line"], problem["column"]) == (2, 19)
    assert [answer["rows"] for answer in problem["answers"]] == [[["1"]]]


def test_a_name_that_is_not_there(door: Door) -> None:
    send(door, ORDERS)
    hints = [send(door, f"SELECT * FROM {name}", "rita").json()["hint"] for name in ("ordrs", "orders", "zzz")]
    assert hints == [
        "did you mean orders?",
        "the server keeps no rows of orders; CREATE STREAM … AS SELECT … FROM orders makes some to look at",
        None,
    ]


def test_a_script_mixes_both(door: Door) -> None:
    answers = send(door, f"{ORDERS}; SELECT n FROM totals WHERE product = 'lamp'").json()["answers"]
    assert [(each["tag"], each["rows"]) for each in answers] == [("CREATE STREAM", []), ("SELECT 1", [["2"]])]


def test_a_reader_changes_nothing(door: Door) -> None:
    for sql in ("DROP QUERY totals", "INSERT INTO totals VALUES ('x', 1, 1)", "DELETE FROM totals"):
        assert send(door, sql, "rita").status_code in (403, 422)
    assert door.database.execute("SELECT count(*) FROM totals") == [(3,)]


@pytest.fixture
def limited(door: Door) -> Iterator[Door]:
    limits = Limits(select_seconds=0.5, select_rows=10, select_bytes=1000, role_selects=1)
    with serve(door.database, limits) as opened:
        yield opened


def test_many_rows_are_cut_and_it_says_so(limited: Door) -> None:
    answer = read(limited, "SELECT generate_series(1, 1000000000) AS n")
    assert answer["rows"] == [[str(n)] for n in range(1, 11)]
    assert answer["tag"] == "SELECT 10"
    assert answer["notices"] == ["these are the first 10 rows; the statement has more"]
    assert read(limited, "SELECT n FROM generate_series(1, 10) AS n")["notices"] == []
    wide = read(limited, "SELECT repeat('x', 400) FROM generate_series(1, 5)")
    assert (len(wide["rows"]), wide["notices"]) == (
        2,
        ["these are the first 2 rows; the statement has more"],
    )


def test_a_script_has_a_limit_of_bytes(limited: Door) -> None:
    """Over all its statements. What does not read is carried out all the same."""
    limited.engine.answers["SHOW TABLES"] = StatementAnswer("SHOW", ("name",), (("totals" * 9,),) * 3)
    wide = "SELECT repeat('x', 300)"
    problem = send(limited, f"{wide}; {wide}; SHOW TABLES; {wide} FROM generate_series(1, 10); SELECT 1", "rita")
    assert (problem.status_code, problem.json()["sqlstate"]) == (413, "54000")
    assert problem.json()["message"] == "the statements before it have answered as much as a script may"
    first, second, shown, last = problem.json()["answers"]
    assert [len(each["rows"]) for each in (first, second, shown, last)] == [1, 1, 2, 0]
    assert [each["notices"] for each in (shown, last)] == [
        ["these are the first 2 rows; the statement has more"],
        ["these are the first 0 rows; the statement has more"],
    ]


def test_nulls_and_empty_rows_count(door: Door) -> None:
    with serve(door.database, Limits(select_bytes=10_000)) as opened:
        assert 0 < len(read(opened, "SELECT FROM generate_series(1, 9000)")["rows"]) < 1000
        nulls = ", ".join(["NULL"] * 100)
        assert 0 < len(read(opened, f"SELECT {nulls} FROM generate_series(1, 9000)")["rows"]) < 10


def test_notices_are_few_and_short(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    monkeypatch.setattr(AnswerRoom, "take_head", lambda _, texts: kept.extend(map(len, texts)))
    door.database.execute(
        "CREATE FUNCTION tell(n bigint) RETURNS bigint LANGUAGE plpgsql AS "
        "$$BEGIN RAISE NOTICE USING MESSAGE = repeat('x', 5000); RETURN n; END$$"
    )
    try:
        answer = read(door, "SELECT tell(n) FROM generate_series(1, 50) AS n")
    finally:
        door.database.execute("DROP FUNCTION tell")
    assert [len(each) for each in answer["notices"]] == [1000] * 20
    assert kept == [4, *[1000] * 20]


def test_a_statement_has_a_limit_of_time(limited: Door) -> None:
    began = time.monotonic()
    sql = "SELECT set_config('statement_timeout', '0', false), pg_sleep(55)"
    response = send(limited, sql, "rita")
    assert (response.status_code, response.json()["message"]) == (504, "the statement took more than 0.5 seconds")
    assert time.monotonic() - began < 40


def test_a_client_that_leaves_ends_its_statement(door: Door) -> None:
    with door.client("rita") as client, pytest.raises(httpx.ReadTimeout):
        client.post("/v1/statements", json={"sql": "SELECT pg_sleep(50)"}, timeout=0.5)
    running = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'penstock sql' AND state = 'active'"
    ends = time.monotonic() + 10
    while door.database.execute(running) != [(0,)]:
        assert time.monotonic() < ends, "it still runs"
        time.sleep(0.1)


def check(door: Door, sql: str, role: str = "rita") -> list[dict[str, Any]]:
    with door.client(role) as client:
        found: list[dict[str, Any]] = client.post("/v1/check", json={"sql": sql}).json()["findings"]
        return found


def test_a_select_is_checked_by_postgres(door: Door) -> None:
    assert check(door, "SELECT count(*) FILTER (WHERE n > 0), now()::date FROM totals") == []
    (finding,) = check(door, "SELECT product,\n  totl FROM totals")
    assert (finding["code"], finding["message"]) == ("", 'column "totl" does not exist')
    assert [finding[name] for name in ("line", "column", "end_line", "end_column")] == [2, 3, 2, 7]
    assert finding["paste"] == {"sql": "total", "line": 2, "column": 3, "end_line": 2, "end_column": 7}
    (syntax,) = check(door, "SELECT n FRM totals WHERE")
    assert str(syntax["message"]).startswith("syntax error")


def test_a_check_runs_nothing(door: Door) -> None:
    began = time.monotonic()
    assert check(door, "SELECT pg_sleep(55)") == []
    assert time.monotonic() - began < 40


def test_both_are_checked_at_once(door: Door) -> None:
    send(door, ORDERS)
    script = "SELECT n FROM totls;\nCREATE VIEW v AS SELECT STREAM prize FROM orders;\nSELECT nn FROM totals"
    found = check(door, script, "sam")
    assert [(each["code"], each["line"]) for each in found] == [("N001", 2), ("", 3)]
    (finding,) = check(door, "CREATE VIEW v AS SELECT STREAM id FROM ordrs")
    assert finding["paste"] == {"sql": "orders", "line": 1, "column": 40, "end_line": 1, "end_column": 45}


def test_a_script_is_laid_out(door: Door) -> None:
    with door.client("rita") as client:
        formatted = client.post("/v1/format", json={"sql": "select a,b from t where a>1 -- why"}).json()
        assert formatted["sql"].startswith("SELECT a, b\nFROM t\nWHERE a > 1")
        refused = client.post("/v1/format", json={"sql": "select a from"}).json()
        assert refused["sql"] is None
        assert refused["findings"][0]["code"].startswith("S")
        assert client.post("/v1/format", json={"sql": "x" * 70_000}).status_code == 413


def test_a_role_that_others_have_made(door: Door) -> None:
    door.database.execute("CREATE ROLE mallory LOGIN IN ROLE penstock_reader")
    try:
        door.database.execute("UPDATE penstock.token SET role = 'mallory' WHERE role = 'rita'")
        problem = send(door, "SELECT 1", "rita").json()
        assert (problem["status"], problem["code"]) == (403, "V015")
        assert problem["hint"] == 'GRANT "mallory" TO "door" WITH ADMIN OPTION'
        door.database.execute(problem["hint"])
        assert read(door, "SELECT current_user")["rows"] == [["mallory"]]
        session = "SELECT session_user, EXISTS (SELECT FROM pg_roles WHERE rolname = 'penstock_session_0')"
        door.database.execute("CREATE ROLE penstock_session_0")  # of another server, so the door may not drop it
        [[old, _]] = read(door, session)["rows"]
        door.database.execute("DROP ROLE mallory")
        door.database.execute("CREATE ROLE mallory LOGIN IN ROLE penstock_reader")
        door.database.execute(problem["hint"])
        assert read(door, session)["rows"][0][1] == "t"
        assert door.database.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", old) == [], "it goes with its user"
        assert read(door, "SELECT current_user")["rows"] == [["mallory"]], "a role of the same name"
        door.database.execute("ALTER ROLE mallory SUPERUSER")
        assert "is a superuser" in send(door, "SELECT 1", "rita").json()["message"]
    finally:
        door.database.execute("DROP ROLE mallory")
        door.database.execute("DROP ROLE IF EXISTS penstock_session_0")


def test_a_door_that_may_make_no_roles(door: Door) -> None:
    door.database.execute("ALTER ROLE door NOCREATEROLE")
    try:
        with serve(door.database) as poor:
            problem = send(poor, "SELECT 1", "rita").json()
            assert (problem["code"], problem["hint"]) == ("V015", 'ALTER ROLE "door" CREATEROLE')
    finally:
        door.database.execute("ALTER ROLE door CREATEROLE")


def test_a_superuser_runs_none(door: Door) -> None:
    door.database.execute("UPDATE penstock.token SET role = 'postgres' WHERE role = 'rita'")
    problem = send(door, "SELECT 1", "rita").json()
    assert (problem["status"], problem["message"]) == (
        403,
        "postgres is a superuser, whose statements are not run over HTTP",
    )


def test_views_of_reports_go_to_postgresql_as_the_user(door: Door) -> None:
    made = read(door, "CREATE OR REPLACE VIEW reports.dear AS SELECT product FROM totals WHERE total > 100;", "sam")
    try:
        assert made["tag"] == "CREATE VIEW"
        owner = "SELECT viewowner FROM pg_views WHERE schemaname = 'reports'"
        assert door.database.execute(owner) == [("sam",)]
        script = f'{ORDERS};\ncreate view Reports."D" AS SELECT count(*) FROM totals; DROP VIEW IF EXISTS reports."D"'
        assert [each["tag"] for each in send(door, script).json()["answers"]][1:] == ["CREATE VIEW", "DROP VIEW"]
        assert [each.text for each in door.engine.statements] == [ORDERS]
        for role, text in (
            ("rita", "CREATE VIEW reports.x AS SELECT 1 AS a"),
            ("rita", "DROP VIEW reports.dear"),
            ("sam", "CREATE VIEW reports.x AS WITH gone AS (DELETE FROM totals RETURNING *) SELECT * FROM gone"),
            ("sam", "CREATE VIEW reports.x AS SELECT nothing FROM totals"),
        ):
            assert send(door, text, role).status_code in (403, 422), text
        left = "SELECT count(*) FROM pg_class WHERE relnamespace = 'reports'::regnamespace"
        assert door.database.execute(left) == [(1,)]
        read(door, "DROP VIEW reports.dear", "sam")
        assert door.database.execute(left) == [(0,)]
    finally:
        door.database.execute("DROP VIEW IF EXISTS reports.dear")


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE reports.x AS SELECT * FROM totals",
        "CREATE VIEW v AS SELECT STREAM product FROM reports",
        "CREATE VIEW reports AS SELECT STREAM product FROM orders",
        "DROP TABLE reports.x",
        "DROP VIEW reports",
        "DELETE FROM reports.x",
    ],
)
def test_nothing_else_of_reports_leaves_the_engine(door: Door, text: str) -> None:
    send(door, text)
    assert [each.text for each in door.engine.statements] == [text]
