"""Apache Superset: its REST API, and what its parser makes of Penstock's statements."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from penstock.diagnostics import CompileError, Source
from penstock.parser import parse
from penstock.parser.ast import Create, CreateAs, CreateView
from penstock.server.engine_protocol import QUERY_COLUMNS
from penstock.server.postgres.classify import OwnStatements, RunCalls, classify
from penstock.server.postgres.tokens import Lexeme, split_statements
from tests.house.files import ROOT
from tests.properties.mutations import BLOCK, scripts
from tests.server.clients.address import PROGRAMS, STREAMS, Address, run_program
from tests.server.postgres.door import Door
from tests.server.postgres.statements import PENSTOCK, RELATIONS

pytestmark = pytest.mark.campaign

Run = Callable[[Address, str], dict[str, Any]]
PAGE = ROOT / "docs" / "serve.md"
TABLE = re.compile(r"<!-- superset -->\n.*?<!-- end -->", re.DOTALL)
REFUSAL = "postgresql error: K012: a watermark is missing\nLINE 1: CREATE STREAM bad\n               ^\n"
PROBES: dict[str, Any] = {
    "test of the connection": {"message": "OK"},
    "SHOW STREAMS": [["name", "columns"], STREAMS],
    "EXPLAIN PLAN SELECT 1": [["plan"], [["KStream"], ["  Scan clicks"]]],
    "-- mine\nSHOW QUERIES;": [list(QUERY_COLUMNS), []],
    "CREATE STREAM a": [[], []],
    "DROP STREAM a": [[], []],
    "error": ["GENERIC_DB_ENGINE_ERROR", f"{REFUSAL}DETAIL:  of clicks\nHINT:  WATERMARK FOR\n"],
    "run": [["line"], [["KStream"], ["  Scan clicks"]]],
    "run, in dollars": [["line"], [["  Scan clicks"], ["KStream"]]],
    "several": [["name", "columns"], STREAMS],
    "mixed": [["product"], [["apple"]]],
    "not of Superset's grammar": "INVALID_SQL_ERROR",
    "SELECT STREAM": ["INVALID_SQL_ERROR", "Error parsing near 'FROM' at line 1:20"],
    "dataset of run": ["success", [{"line": "KStream"}, {"line": "  Scan clicks"}], None],
    # It takes only statements that it knows for changes. Whether a user may send one is a matter of roles.
    "without DML": [[], []],
    "without DML, of PostgreSQL": "DML_NOT_ALLOWED_ERROR",
}


@pytest.fixture
def run(installed: Callable[[str], Path], tmp_path: Path) -> Run:
    """Runs the probes, each time in a Superset of its own."""
    folder = installed("superset")

    def run_part(address: Address, part: str) -> dict[str, Any]:
        shutil.copy(folder / "superset.db", tmp_path)
        variables = {"SUPERSET_HOME": str(tmp_path), "SUPERSET_CONFIG_PATH": str(PROGRAMS / "superset_config.py")}
        command = (str(folder / "bin" / "python"), "-m", "tests.server.clients.programs.superset_probes", part)
        url = address.url("postgresql+psycopg2")
        return run_program(address, *command, url, PYTHONPATH=str(ROOT), **variables)

    return run_part


def test_statements(door: Door, relay: Address, run: Run) -> None:
    assert run(relay, "statements") == PROBES
    assert "PAUSE QUERY q" not in door.engine.texts
    assert door.engine.texts[:6] == [
        *(
            "SHOW STREAMS",
            "EXPLAIN PLAN SELECT 1",
            "SHOW QUERIES",
            "CREATE STREAM a",
            "DROP STREAM a",
            "CREATE STREAM bad",
        )
    ]


@pytest.mark.usefixtures("inspected")
def test_looks_are_as_without_the_relay(relay: Address, direct: Address, run: Run) -> None:
    found = run(relay, "looks")
    assert found == run(direct, "looks")
    assert found["chart over time"][0] == "success"
    assert len(found["chart"][1]) == 3


@pytest.fixture(scope="module")
def statements() -> list[str]:
    """All statements of the documents and the golden tests that the door takes for Penstock's."""
    pages = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
    blocks = [block for page in pages for block in BLOCK.findall(page.read_text(encoding="utf-8"))]
    texts, names = list(PENSTOCK), set(RELATIONS)
    for script in [*scripts(), *blocks]:
        try:
            parsed = parse(Source("statements", script))
        except CompileError:
            continue  # it shows an error of syntax
        texts += [script[each.span.start : each.span.end] for each in parsed]
        names |= {each.name.text.lower() for each in parsed if isinstance(each, Create | CreateAs | CreateView)}
    own = [text for text in dict.fromkeys(texts) if isinstance(classify(text, names), OwnStatements)]
    # A name in backticks with a quotation mark in it ends nowhere for Superset and for PostgreSQL.
    return [text for text in own if not re.search(r'`[^`]*"[^`]*`', text)]


@pytest.fixture
def send(installed: Callable[[str], Path]) -> Callable[[list[str]], list[list[str] | None]]:
    """What Superset sends for each text."""
    python = str(installed("superset") / "bin" / "python")

    def send_all(texts: list[str]) -> list[list[str] | None]:
        program = str(PROGRAMS / "superset_statements.py")
        environment = {**os.environ, "PYTHONPATH": ""}
        given = json.dumps(texts)
        done = subprocess.run(
            [python, program], input=given, capture_output=True, text=True, env=environment, check=True
        )
        sent: list[list[str] | None] = json.loads(done.stdout)
        return sent

    return send_all


def kind_of(text: str) -> str:
    """The first words of a statement, which say what it is."""
    (tokens,) = split_statements(text) or [[]]
    words = [token.text.upper() for token in tokens[:4]]
    if words[1:3] == ["OR", "REPLACE"]:
        del words[1:3]
    return " ".join(words[: 2 if words[0] in ("CREATE", "DROP", "PAUSE", "RESUME") else 1])


def read_words(texts: Sequence[str]) -> list[list[tuple[object, str]]]:
    """The words of statements, as PostgreSQL reads them."""
    found: list[list[Lexeme]] = [tokens for text in texts for tokens in split_statements(text) or []]
    return [[(token.part, token.text) for token in tokens] for tokens in found]


def test_the_page_lists_what_superset_does_not_send_as_it_is(
    statements: list[str], send: Callable[[list[str]], list[list[str] | None]], request: pytest.FixtureRequest
) -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for text, sent in zip(statements, send(statements), strict=True):
        if sent is None:
            found[kind_of(text)].add("refuses")
        elif read_words(sent) != read_words([text]):
            found[kind_of(text)].add("changes")
    rows = ["| typed | Superset | instead |", "|---|---|---|"]
    for kind in sorted(found):
        does = " or ".join(sorted(found[kind], reverse=True))
        rows.append(f"| `{kind} …` | {does} it | `SELECT * FROM penstock.run($${kind} …$$)` |")
    page = PAGE.read_text(encoding="utf-8")
    expected = TABLE.sub(lambda _: "\n".join(["<!-- superset -->", *rows, "<!-- end -->"]), page)
    if request.config.getoption("--accept"):
        PAGE.write_text(expected, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == expected
    assert {"CREATE STREAM", "SHOW", "EXPLAIN"} <= {kind_of(text) for text in statements} - set(found)


@pytest.mark.parametrize("quotes", ["$${}$$", "'{}'"])
def test_calls_of_run_arrive_as_they_are(
    statements: list[str], send: Callable[[list[str]], list[list[str] | None]], quotes: str
) -> None:
    written = [text.replace("'", "''") if quotes == "'{}'" else text for text in statements]
    found = send([f"SELECT * FROM penstock.run({quotes.format(text)})" for text in written])
    arrived = []
    for sent in found:
        assert sent is not None
        verdict = classify(sent[0], RELATIONS)
        assert isinstance(verdict, RunCalls)
        arrived.append(verdict.calls[0].statement)
    assert arrived == statements
