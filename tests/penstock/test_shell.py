"""`penstock shell`: statements and commands, piped in and typed."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from pyspark.sql import SparkSession

from penstock.commands.cli import main
from penstock.diagnostics import CompileError, Source
from penstock.shell.name_completion import NameCompleter
from penstock.shell.read_lines import holds_secret, open_history, read_terminal
from penstock.shell.shell_commands import COMMANDS, LeaveShell, run_command
from penstock.shell.split_texts import is_complete, split_texts
from penstock.shell.workspace import Workspace


@pytest.fixture
def declaration(tmp_path: Path) -> str:
    rows = [
        {"id": place, "page": "home" if place % 2 else "cart", "ts": f"2025-01-01 00:0{place}"} for place in (1, 2, 3)
    ]
    text = "".join(json.dumps(each) + "\n" for each in [*rows, {"id": "x"}])
    (tmp_path / "clicks.json").write_text(text)
    return (
        "CREATE STREAM clicks (id BIGINT, page STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)\n"
        f"WITH (connector = 'files', path = '{tmp_path}/*.json', format = 'json');\n"
    )


@pytest.fixture
def workspace(declaration: str) -> Iterator[Workspace]:
    made = Workspace()
    made.run(Source("<shell>", declaration))
    yield made
    made.close()


def pipe(text: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["shell", *arguments], input=text)


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", True),
        ("\\d", True),
        ("-- a comment", True),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT ';", False),
        ("SELECT ';'", False),
        ("SELECT ';';", True),
        ("SELECT 1 -- ;", False),
        ("SELECT 1; -- done", True),
        ("SELECT 1; SELECT", False),
        ("SELECT /* ; ", False),
        ("BEGIN STATEMENT SET; INSERT INTO a SELECT STREAM * FROM b;", False),
        ("BEGIN STATEMENT SET; INSERT INTO a SELECT STREAM * FROM b; END;", True),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT STREAM * FROM b;", False),
    ],
)
def test_a_text_ends_with_a_semicolon_outside_of_quotes(text: str, complete: bool) -> None:
    assert is_complete(text) is complete


def test_a_pipe_is_read_statement_by_statement(declaration: str) -> None:
    taken = [*split_texts([*declaration.splitlines(True), "\\d\n", "\n", "SELECT 1\n"])]
    count = declaration.count("\n")
    assert taken == [declaration, "\n" * count + "\\d\n", "\n" * (count + 2) + "SELECT 1\n"]


def test_rows_and_answers_need_no_spark(declaration: str) -> None:
    look = "SELECT STREAM id * 2 AS d, page FROM clicks WHERE page = 'home' LIMIT 5;"
    result = pipe(f"{declaration}\\d\n\\d clicks\n{look}\nSHOW STREAMS;")
    assert (result.exit_code, result.stderr) == (0, "")
    shown = [line.split() for line in result.stdout.splitlines()]
    assert ["declared", "clicks"] in shown
    assert ["clicks", "stream", "files"] in shown
    assert ["ts", "TIMESTAMP", "event", "time,", "watermark", "5", "s", "behind"] in shown
    assert ["2", "home"] in shown
    assert ["6", "home"] in shown
    assert "1 of 4 records is rejected" in result.stdout
    assert "streams:" in result.stdout


def test_the_first_error_ends_it_where_nobody_types(declaration: str) -> None:
    result = pipe(f"{declaration}SELECT STREAM nope FROM clicks LIMIT 1;\n\\d\n")
    assert result.exit_code == 1
    assert "N001" in result.stderr
    assert "where its rows are" not in result.stdout


def test_what_is_before_an_error_stays(workspace: Workspace) -> None:
    with pytest.raises(CompileError, match="unknown column nope"):
        workspace.run(
            Source("<shell>", "CREATE VIEW v AS SELECT STREAM id FROM clicks; SELECT STREAM nope FROM v LIMIT 1;")
        )
    assert workspace.catalog.find("v") is not None


def test_files_are_run_first(declaration: str, tmp_path: Path) -> None:
    script = tmp_path / "clicks.sql"
    script.write_text(declaration)
    assert ["clicks", "stream", "files"] in [line.split() for line in pipe("\\d\n", str(script)).stdout.splitlines()]
    assert ["clicks", "stream", "files"] in [line.split() for line in pipe(f"\\i {script}\n\\d\n").stdout.splitlines()]
    assert pipe(f"\\check {script}\n").stdout == "ok: 1 statement\n"
    missing = pipe("", str(tmp_path / "none.sql"))
    assert (missing.exit_code, "R090" in missing.stderr) == (2, True)


@pytest.mark.parametrize(
    "line", ["\\nope", "\\", "\\watch", "\\once maybe", "\\i", "\\stop", "\\stop x", "\\check", "\\i 'x"]
)
def test_commands_that_are_not_understood_are_refused(workspace: Workspace, line: str) -> None:
    with pytest.raises(CompileError) as refused:
        run_command(workspace, line)
    (finding,) = refused.value.diagnostics
    assert finding.code == "R098"
    assert finding.hint


def test_watch_answers_the_last_select_again(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    workspace.run(Source("<shell>", "SELECT STREAM id FROM clicks LIMIT 1;"))
    capsys.readouterr()
    run_command(workspace, "\\watch 0.1 2")
    assert capsys.readouterr().out.count("clicks: 1 row") == 2


def test_help_names_every_command(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    run_command(workspace, "\\?")
    shown = capsys.readouterr().out
    assert [name for name in COMMANDS if f"\\{name}" not in shown] == []
    with pytest.raises(LeaveShell):
        run_command(workspace, "\\q")


def test_tab_completes_names_keywords_and_commands(workspace: Workspace) -> None:
    completer = NameCompleter(workspace)

    def complete(text: str) -> list[str]:
        return [each.text for each in completer.get_completions(Document(text), CompleteEvent())]

    assert complete("SELECT STREAM pa")[:2] == ["page", "PARTITION"]
    assert complete("SELECT * FROM cl")[0] == "clicks"
    assert "SELECT" in complete("sel")
    assert complete("\\qu") == ["\\queries"]
    assert "clicks" in complete("SELECT * FROM ")
    assert complete("SELECT 1 + ") == []


def test_typed_lines_are_joined_and_remembered(workspace: Workspace, tmp_path: Path) -> None:
    taken: list[str] = []
    history = tmp_path / "state" / "history"
    with create_pipe_input() as given:
        given.send_text("SELECT STREAM id\rFROM clicks LIMIT 1;\r\\d\r\x04")
        read_terminal(workspace, taken.append, open_history(history), given, DummyOutput())
    assert taken == ["SELECT STREAM id\nFROM clicks LIMIT 1;", "\\d"]
    assert "+FROM clicks LIMIT 1;" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


@pytest.mark.spark
def test_queries_run_beside_what_is_typed(
    spark: SparkSession, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace.run(Source("<shell>", "CREATE TABLE pages AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page;"))
    assert "pages: running, 4 in, 2 out, 0 late, 1 rejected" in capsys.readouterr().out
    workspace.run(Source("<shell>", "SELECT page, n FROM pages ORDER BY page; SHOW TABLES;"))
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [each for each in shown if each[:1] in (["cart"], ["home"])] == [["cart", "1"], ["home", "2"]]
    with pytest.raises(CompileError, match="in use by the query pages"):
        workspace.run(Source("<shell>", "DROP TABLE pages;"))
    run_command(workspace, "\\stop PAGES")
    run_command(workspace, "\\queries")
    assert capsys.readouterr().out == "stopped pages\nno query runs\n"
    run_command(workspace, "\\once on")
    workspace.run(
        Source(
            "<shell>",
            "CREATE TABLE ended WITH (connector = 'memory') AS SELECT id, page FROM clicks GROUP BY id, page;",
        )
    )
    assert "rejected rows of clicks" in capsys.readouterr().out
    assert workspace.queries == []


def read_until(descriptor: int, wanted: bytes, seconds: float = 60) -> bytes:
    """What a terminal shows until something stands there."""
    shown, ends = b"", time.monotonic() + seconds
    while wanted not in shown:
        assert time.monotonic() < ends, shown
        if select.select([descriptor], [], [], 0.2)[0]:
            shown += os.read(descriptor, 65536)
    return shown


def test_a_terminal_shows_a_prompt_and_no_escapes_as_text(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "penstock", "shell"]
    environment = {**os.environ, "TERM": "xterm", "XDG_STATE_HOME": str(tmp_path), "NO_COLOR": "1"}
    main_end, other_end = pty.openpty()
    process = subprocess.Popen(command, stdin=other_end, stdout=other_end, stderr=other_end, env=environment)
    os.close(other_end)
    try:
        shown = read_until(main_end, b"penstock>")
        os.write(main_end, b"SHOW STREAMS;\r")
        shown += read_until(main_end, b"streams:")
        os.write(main_end, b"exit\r")
        assert process.wait(60) == 0
    finally:
        process.kill()
        os.close(main_end)
    assert b"\\x1b" not in shown
    assert b"+SHOW STREAMS;" in (tmp_path / "penstock" / "history").read_bytes()


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("SELECT 1;", False),
        ("CREATE STREAM s (id INT) WITH (connector = 'kafka', password = 'hunter2');", True),
        ("CREATE TABLE t (id INT) WITH (connector = 'postgres', url = 'postgresql://ada:hunter2@db/x');", True),
        ("CREATE STREAM s (id INT) WITH (connector = 'files', path = 'a');", False),
    ],
)
def test_secrets_are_not_remembered(text: str, secret: bool) -> None:
    assert holds_secret(text) is secret


def test_a_history_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    history = open_history(tmp_path / "file" / "history")
    history.append_string("SELECT 1;")
    assert history.get_strings() == ["SELECT 1;"]
    assert "what is typed is not kept" in capsys.readouterr().err


def test_points_in_time_are_compared_wherever_they_stand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {
        "id": 1,
        "s": {"at": "2025-06-01T10:00:00Z"},
        "a": ["2025-06-01T10:00:00Z"],
        "m": {"k": "2025-06-01T10:00:00Z"},
    }
    (tmp_path / "a.json").write_text(json.dumps(row) + "\n")
    columns = "id INT, s STRUCT<at: TIMESTAMP>, a ARRAY<TIMESTAMP>, m MAP<STRING, TIMESTAMP>"
    workspace = Workspace()
    workspace.run(
        Source("<shell>", f"CREATE STREAM t ({columns}) WITH (connector='files', path='{tmp_path}', format='json');")
    )
    for value in ("s.at", "a[0]", "m['k']"):
        capsys.readouterr()
        workspace.run(
            Source("<shell>", f"SELECT STREAM id FROM t WHERE {value} = TIMESTAMP '2025-06-01 10:00:00' LIMIT 1;")
        )
        assert "t: 1 row" in capsys.readouterr().out


def test_what_only_fails_in_python_is_refused(workspace: Workspace) -> None:
    with pytest.raises(CompileError) as refused:
        workspace.run(Source("<shell>", "SELECT STREAM ts + INTERVAL '3000000' DAY AS x FROM clicks LIMIT 1;"))
    assert refused.value.diagnostics[0].code == "R097"


def test_set_stands_with_its_statement(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    workspace.run(Source("<shell>", "SET partial_aggregates = ON; SELECT STREAM id FROM clicks LIMIT 1;"))
    assert "clicks: 1 row" in capsys.readouterr().out
    with pytest.raises(CompileError, match="SET alone"):
        workspace.run(Source("<shell>", "SET partial_aggregates = ON;"))


def test_a_paste_may_mix_commands_and_statements(workspace: Workspace) -> None:
    text = "CREATE VIEW v AS\nSELECT STREAM id FROM clicks;\n\\d v\nSELECT STREAM id FROM v LIMIT 1;"
    assert [each.strip() for each in split_texts(text.splitlines(True))] == [
        "CREATE VIEW v AS\nSELECT STREAM id FROM clicks;",
        "\\d v",
        "SELECT STREAM id FROM v LIMIT 1;",
    ]
    assert is_complete(text)
    assert not is_complete("\\d\nSELECT 1")


def test_errors_of_a_pipe_have_the_lines_of_the_pipe(declaration: str) -> None:
    lines = f"\ufeff{declaration}\n\nSELECT STREAM nope FROM clicks LIMIT 1;\n"
    result = CliRunner().invoke(main, ["shell"], input=lines.encode())
    assert f"<stdin>:{lines.count(chr(10))}:15" in result.stderr
    latin = CliRunner().invoke(main, ["shell"], input=b"SELECT '\xff';\n")
    assert (latin.exit_code, "R090" in latin.stderr) == (2, True)


def test_files_see_what_was_declared(workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "two words.sql"
    script.write_text("\\d clicks\nCREATE VIEW v AS SELECT STREAM id FROM clicks;\n")
    checked = tmp_path / "v.sql"
    checked.write_text("CREATE VIEW v AS SELECT STREAM id FROM clicks;\n")
    run_command(workspace, f"\\check {checked}")
    run_command(workspace, f"\\i '{script}'")
    shown = capsys.readouterr().out
    assert "ok: 1 statement" in shown
    assert "stream clicks:" in shown
    assert workspace.catalog.find("v") is not None
    workspace.run(Source("<shell>", "DROP VIEW v;"))
    assert capsys.readouterr().out == "dropped v\n"
