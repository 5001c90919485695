"""Each command, with names and values that would steer a terminal: what it prints does not."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from penstock import runtime
from penstock.client import RemoteSession
from penstock.commands.cli import main
from penstock.diagnostics.terminal import IN_LINES

EVIL = "a\x1b]0;owned\x07\x9b2J\x7f\u202eb\u200bc\r\t\x08\x00d"
FILE = EVIL.replace("\x00", "").replace("\r", "")
SHOWN = r"a\x1b]0;owned\x07\x9b2J\x7f\u202eb\u200bc"
TABLE = f"""CREATE TABLE `t{EVIL}` (id INT PRIMARY KEY, `s{EVIL}` STRING)
WITH (connector = 'files', path = 's', format = 'json');
"""
STREAM = f"""CREATE STREAM `i{EVIL}` (id BIGINT KEY, `n{EVIL}` STRING, at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL '1' SECOND) WITH (connector = 'files', path = 'in', format = 'json');
"""
QUERY = f"""CREATE TABLE `q{EVIL}` AS
SELECT `n{EVIL}`, COUNT(*) AS c FROM `i{EVIL}` WHERE `n{EVIL}` <> '{EVIL}' GROUP BY 1;
"""
FLINK = f"CREATE TABLE `t{EVIL}` (a INT) WITH ('connector' = '{EVIL}');\nCREATE VIEW v AS SELECT {EVIL} FROM t;\n"


def penstock(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("s").mkdir()
    Path("s/1.json").write_text(json.dumps({"id": 1, f"s{EVIL}": EVIL}), encoding="utf-8")
    for name, text in {
        "good": STREAM + QUERY,
        "bad": STREAM + f"CREATE STREAM x AS SELECT STREAM `m{EVIL}` FROM `i{EVIL}`;",
        "broken": f"CREATE STREAM {EVIL} '",
        "show": f"{STREAM}{QUERY}SHOW STREAMS; EXPLAIN PLAN SELECT STREAM id FROM `i{EVIL}`;",
        "answers": f"{STREAM}SHOW STREAMS; DESCRIBE `i{EVIL}`;",
        "table": TABLE,
        "flink": FLINK,
        "tests": f"TEST '{EVIL}' OF 'good{FILE}.sql'; GIVEN `i{EVIL}` (id) VALUES ('{EVIL}'); THEN `q{EVIL}` NOTHING;",
    }.items():
        Path(f"{name}{FILE}.sql").write_text(text, encoding="utf-8")
    Path("latin.sql").write_bytes(b"SELECT '\xff'")
    return tmp_path


def named(name: str) -> str:
    return f"{name}{FILE}.sql"


CALLS: dict[str, list[tuple[str, ...]]] = {
    "check": [
        *((*options, named(name)) for name in ("good", "bad", "broken") for options in ((), ("--format", "json"))),
        (named("missing"),),
        (f"--{FILE}",),
        ("--spark", FILE, named("good")),
    ],
    "compile": [
        ("-o", "job", named("bad")),
        ("-o", f"no{FILE}", named("good")),
        ("-o", f"{named('good')}/x", named("good")),
        ("-o", f"x{FILE}.py", named("good")),
    ],
    "describe": [
        ("--format", "json", "s"),
        ("--format", "table", "s"),
        (f"no{FILE}",),
        ("--connect", FILE, FILE),
        ("--connect", named("good"), FILE),
        ("--name", FILE, "--format", "table", "s"),
    ],
    "doctor": [("--master", f"sc://{FILE}"), ("--conf", FILE)],
    "explain": [
        *((stage, named("good")) for stage in ("AST", "PLAN", "PARTITIONS", "STATE", "PHYSICAL", "SPARK", "CODE")),
        ("--mermaid", "PARTITIONS", named("good")),
        ("--checkpoint", f"no{FILE}", "STATE", named("good")),
    ],
    "diff": [
        (named("good"), named("bad")),
        (named("missing"), named("good")),
        ("--for", FILE, named("good"), named("good")),
    ],
    "fmt": [("--check", named("good")), (named("broken"),), (named("good"),)],
    "package": [(f"no{FILE}/x.tar.gz",)],
    "peek": [
        *(("--format", form, named("good"), f"i{EVIL}") for form in ("text", "json")),
        (named("good"), FILE),
        (named("missing"), FILE),
    ],
    "query": [
        *(("--format", form, named("table"), f"SELECT * FROM `t{EVIL}`") for form in ("text", "json")),
        (named("table"), f"SELECT `{FILE}` FROM x"),
        (named("good"), f"SELECT STREAM `n{EVIL}` AS `{EVIL}` FROM `i{EVIL}` LIMIT 1"),
        ("--format", FILE, named("table"), "SELECT 1"),
    ],
    "run": [(named("bad"),), (named("answers"),), ("--conf", f"{FILE}=1", named("good"))],
    "serve": [(named("missing"),), ("--listen", FILE), ("--tls-cert", FILE)],
    "shell": [(named("answers"),), (named("bad"),), (named("missing"),)],
    "test": [
        (*options, named("tests"))
        for options in ((), ("--format", "json"), ("--mutate",), ("-j", "2"), ("--update",), ("-k", FILE))
    ],
    "token": [
        ("create", "--user", FILE, "--state", f"no{FILE}"),
        ("list", "--state", f"no{FILE}"),
        ("revoke", f"--{FILE}"),
    ],
    "translate": [("--from", "flink", named("missing")), ("--from", FILE, named("flink"))],
    "warm-up": [()],
    "why": [(f"q{FILE}",), ("--token-file", f"no{FILE}", "q")],
}
EXACT: dict[str, list[tuple[str, ...]]] = {
    "describe": [("s",)],
    "fmt": [("-",)],
    "query": [("--format", "csv", named("table"), f"SELECT * FROM `t{EVIL}`")],
    "translate": [("--from", "flink", named("flink"))],
}
"""What writes scripts, programs and rows that others read, character by character."""


def fail(text: str) -> Callable[..., Any]:
    def raise_error(*_: object, **__: object) -> None:
        raise RuntimeError(text)

    return raise_error


def test_all_commands_are_called() -> None:
    assert CALLS.keys() == main.commands.keys()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", CALLS)
def test_no_command_steers_the_terminal(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "write_archive", fail(EVIL))
    monkeypatch.setenv("PENSTOCK_TOKEN", "t")
    monkeypatch.setattr(RemoteSession, "get", lambda *_: Fake())
    shown = 0
    for arguments in CALLS[command]:
        run = penstock(command, *arguments)
        assert IN_LINES.search(run.output) is None, arguments
        shown += r"\x1b" in run.output
    assert shown


class Fake:
    """The answer of a server."""

    @staticmethod
    def json() -> dict[str, Any]:
        reasons = [{"cause": EVIL, "text": EVIL, "numbers": {}}]
        return {"role": EVIL, "status": {"reasons": reasons}, "name": EVIL}


@pytest.mark.usefixtures("folder")
def test_names_are_shown_as_escapes() -> None:
    run = penstock("check", named("bad"))
    assert f"--> bad{SHOWN}" in run.stderr
    assert f"m{SHOWN}" in run.stderr


@pytest.mark.usefixtures("folder")
def test_rows_are_shown_as_escapes_and_json_keeps_them() -> None:
    select = f"SELECT * FROM `t{EVIL}`"
    path = Path(named("table"))
    text = penstock("query", str(path), select).stdout
    assert SHOWN in text
    (row,) = (json.loads(line) for line in penstock("query", "--format", "json", str(path), select).stdout.splitlines())
    assert row == {"id": 1, f"s{EVIL}": EVIL}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("command", "arguments"), [(name, each) for name, calls in EXACT.items() for each in calls])
def test_what_others_read_is_exact(command: str, arguments: tuple[str, ...]) -> None:
    run = CliRunner().invoke(
        main, [command, *arguments], input=f"SELECT STREAM '{EVIL}' FROM a", catch_exceptions=False
    )
    assert EVIL.partition("\r")[0] in run.stdout


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("arguments", [("check", named("bad")), ("translate", "--from", "flink", named("flink"))])
def test_a_terminal_gets_colours_and_nothing_else(arguments: tuple[str, ...]) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    running = subprocess.Popen(
        [sys.executable, "-m", "penstock", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    running.wait()
    printed = b"".join(parts).decode().replace("\r\n", "\n").replace("\t", "")  # scripts keep their tabs
    for style in ("1;31", "1;33", "1;34", "36", "0"):
        printed = printed.replace(f"\x1b[{style}m", "")
    assert r"\x1b]0;owned\x07" in printed
    assert IN_LINES.search(printed) is None
