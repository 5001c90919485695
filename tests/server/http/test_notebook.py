"""Cells of SQL: in IPython, and by the function that it calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import penstock
from penstock.diagnostics import Source
from penstock.explain import answer_text
from penstock.notebook import run_cell
from penstock.remote_read import is_read
from penstock.rows import Rows
from penstock.server.engine_protocol import StatementAnswer
from penstock.session import ScriptResult
from tests.server.http.conftest import Door
from tests.server.http.test_statements import ORDERS, TOTALS


@pytest.fixture
def names(door: Door) -> Iterator[dict[str, Any]]:
    door.engine.answers["SHOW TABLES"] = StatementAnswer("SHOW", ("name",), (("totals",),), ("careful",))
    with penstock.connect(door.url, token="pst_sam") as session:
        yield {"session": session, "mine": session}


def test_a_cell_starts_queries_and_shows_them(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cell(names, "", f"{ORDERS};\n{TOTALS};\n") is None
    assert capsys.readouterr().out == "totals: running, 100 in, 40 out, 3 late, 2 rejected\n"


def test_queries_are_watched(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    run_cell(names, "mine --wait 0.1", f"{ORDERS};\n{TOTALS}")
    assert capsys.readouterr().out.count("totals: running") == 2


def test_a_cell_returns_rows(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    rows = run_cell(names, "mine", "SHOW TABLES")
    assert isinstance(rows, Rows)
    assert rows == [{"name": "totals"}]
    assert capsys.readouterr().out == "warning: careful\n"


def test_answers_before_the_last_one_are_printed(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cell(names, "", "SHOW TABLES; SHOW TABLES") == [{"name": "totals"}]
    assert capsys.readouterr().out == "warning: careful\nwarning: careful\nname\ntotals\n1 row\n"


def test_a_refusal_is_rendered(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cell(names, "", "SELECT STREAM a\nFROM nowhere") is None
    shown = capsys.readouterr().err
    assert "error[K012]: unknown name nowhere" in shown
    assert "<cell>:2:6" in shown
    assert "Traceback" not in shown


def test_a_held_query_says_why(names: dict[str, Any], door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    run_cell(names, "", f"{ORDERS};\n{TOTALS}")
    door.database.execute("UPDATE penstock.query SET state = 'HELD', code = 'R020', message = 'division by zero'")
    penstock.notebook.watch_queries(names["session"].queries(), 0)
    assert capsys.readouterr().out.endswith(", 2 rejected; R020: division by zero\n")
    assert [each.code for each in names["session"].take_errors()] == ["R020"]


def test_the_next_cell_tells_that_a_query_is_held(
    names: dict[str, Any], door: Door, capsys: pytest.CaptureFixture[str]
) -> None:
    run_cell(names, "", f"{ORDERS};\n{TOTALS}")
    capsys.readouterr()
    door.database.execute("UPDATE penstock.query SET state = 'HELD', code = 'R020', message = 'division by zero'")
    run_cell(names, "", "SHOW TABLES")
    assert "error[R020]: totals: division by zero" in capsys.readouterr().err
    run_cell(names, "", "SHOW TABLES")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [("other", "other is no session"), ("--wat", "unrecognized arguments"), ("--wait x", "invalid float value")],
)
def test_a_wrong_first_line_is_told(
    names: dict[str, Any], line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cell(names, line, "SHOW TABLES") is None
    assert said in capsys.readouterr().err


class LocalSession:
    """A session with Spark in this process, as far as cells see it."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def submit(self, sql: str, name: str) -> list[Any]:
        raise AssertionError("a cell shows answers, too")

    def run(self, sql: str, name: str) -> ScriptResult:
        self.calls.append(("run", sql))
        compilation = penstock.compile(sql)
        return ScriptResult((), tuple(map(answer_text, compilation.answers)), compilation.diagnostics)

    def sql(self, sql: str, name: str) -> Rows:
        self.calls.append(("sql", sql))
        return Rows(pa.table({"n": [1]}))

    def take_errors(self) -> list[Any]:
        return []


def test_a_local_session_reads_or_submits() -> None:
    session = LocalSession()
    assert run_cell({"session": session}, "", "SELECT n FROM t") == [{"n": 1}]
    assert run_cell({"session": session}, "", ORDERS) is None
    assert session.calls == [("sql", "SELECT n FROM t"), ("run", ORDERS)]


def test_a_local_session_prints_answers(capsys: pytest.CaptureFixture[str]) -> None:
    cell = f"{ORDERS}; SHOW STREAMS; DESCRIBE orders; EXPLAIN STATE SELECT STREAM id FROM orders;"
    assert run_cell({"session": LocalSession()}, "", cell) is None
    printed = capsys.readouterr().out
    assert printed.count("orders") >= 2
    assert "DECIMAL(10, 2)" in printed
    assert printed.endswith("query -> console\nnone\n")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a FROM t", True),
        ("SELECT a FROM t UNION ALL SELECT a FROM u", True),
        ("WITH x AS (SELECT a FROM t) SELECT a FROM x", True),
        ("SELECT STREAM a FROM t", False),
        ("SELECT STREAM a FROM t UNION ALL SELECT STREAM a FROM u", False),
        ("SELECT a FROM t; SELECT a FROM t", False),
        ("SHOW TABLES", False),
    ],
)
def test_reads_are_told_from_queries(sql: str, expected: bool) -> None:
    assert is_read(Source("<cell>", sql)) is expected


def test_ipython_runs_cells(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    shells = pytest.importorskip("IPython.core.interactiveshell", reason="make setup installs IPython")
    shell = shells.InteractiveShell.instance()
    try:
        shell.user_ns |= names
        shell.run_line_magic("load_ext", "penstock.notebook")
        result = shell.run_cell("%%penstock mine\nSHOW TABLES")
        assert result.success
        assert result.result == [{"name": "totals"}]
        assert "<td>totals</td>" in shell.display_formatter.format(result.result)[0]["text/html"]
        assert shell.run_cell("%%penstock\nSELECT STREAM a FROM nowhere").success
        assert "error[K012]" in capsys.readouterr().err
    finally:
        shells.InteractiveShell.clear_instance()
