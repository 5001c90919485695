"""What README.md and docs/python.md show in Python runs as printed, in the folder that README.md makes."""

from __future__ import annotations

import asyncio
import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_readme import README, ROOT, script
from tests.e2e.shell import ENVIRONMENT

BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGE = ROOT / "docs" / "python.md"


def blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder of README.md: its script, and its data."""
    (data,) = re.findall(r"```sh\n(mkdir .*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    subprocess.run(["sh"], input=data, cwd=tmp_path, text=True, check=True)
    (tmp_path / "orders.sql").write_text(script(), encoding="utf-8")
    with contextlib.chdir(tmp_path):
        yield tmp_path


@pytest.mark.spark
@pytest.mark.usefixtures("only_spark", "folder")
def test_the_readme_runs_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks(README)
    for _ in range(2):
        exec(block, {})
        assert capsys.readouterr().out.startswith("chair pyarrow.Table\n")


@pytest.mark.spark
@pytest.mark.usefixtures("only_spark", "folder")
def test_the_page_runs_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    from fastapi.testclient import TestClient

    names: dict[str, Any] = {}
    *parts, web, _ = blocks(PAGE)
    for each in parts:
        exec(each, names)
    printed = capsys.readouterr().out
    shown = re.findall(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert [text for text in shown if text not in printed] == []
    assert printed.startswith("paid 2 0\ntotals 2 0\n<QueryHandle totals: running, 3 rows in, 2 out>\n")
    assert printed.endswith("2 rows\n")
    exec(web, names)
    with TestClient(names["app"]) as client:
        session = names["app"].state.session
        query = session.session.queries()[-1]
        assert query.await_rows(2, timeout=60)
        assert [row["product"] for row in client.get("/totals").json()] == ["chair", "lamp"]
        assert asyncio.run(session.tables()) == ["totals"]
    with pytest.raises(RuntimeError, match="the session is opened by: async with"):
        asyncio.run(session.tables())


@pytest.mark.spark
def test_the_test_passes_as_printed(tmp_path: Path) -> None:
    (tmp_path / "test_orders.py").write_text(blocks(PAGE)[-1], encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_orders.py"]
    ended = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (ended.returncode, "1 passed" in ended.stdout) == (0, True), ended.stdout


def test_a_users_module_passes_strict_mypy(tmp_path: Path) -> None:
    module = "\n\n".join(["from __future__ import annotations", *blocks(PAGE)[:-1], USE])
    (tmp_path / "module.py").write_text(module, encoding="utf-8")
    (tmp_path / "test_orders.py").write_text(blocks(PAGE)[-1], encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", "."]
    command += ["--cache-dir", str(ROOT / ".mypy_cache" / "users")]
    ended = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert ended.stdout == "Success: no issues found in 2 source files\n"


USE = '''
def look(session: penstock.Session, handle: penstock.QueryHandle, reports: list[penstock.QueryReport]) -> int:
    """Uses what the page does not show."""
    status: penstock.Status = handle.status()
    found: penstock.ScriptResult = session.run("SHOW TABLES")
    texts: tuple[str, ...] = found.answers
    handles: list[penstock.QueryHandle] = session.queries()
    first: dict[str, object] = dict(session.sql("SELECT 1 AS n")[0])
    names: list[str] = session.sql("SELECT 1 AS n").columns
    try:
        handle.await_done(1.0)
    except penstock.RunError as error:
        codes: list[str] = [each.code for each in error.diagnostics]
        return len(codes) + len(texts) + len(handles) + len(first) + len(names)
    return status.rows + sum(each.out for each in reports)


def look_at_server(url: str, token: str) -> int:
    """A session with a server."""
    with penstock.connect(url, token=token) as session:
        query: penstock.RemoteQuery = session.queries()[0]
        rows: penstock.Rows = session.table("totals", limit=1)
        return len(rows) + query.status().rows
'''
