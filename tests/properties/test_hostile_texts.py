"""Hostile names and values -> whatever shows them shows no character that steers a terminal, and formats lose nothing.

`PENSTOCK_HOSTILE_TEXTS` sets the number of draws.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import logging
import os
import sys
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from rich.cells import cell_len

from penstock import CompileError
from penstock.client import RemoteError
from penstock.commands import live_line, run_report
from penstock.commands.answers import show_answer
from penstock.compilation import compile
from penstock.diagnostics import Diagnostic, Label, Source, Span, render, report
from penstock.diagnostics.logs import LogFormatter
from penstock.diagnostics.terminal import IN_LINE, IN_LINES, count_cells, output_guarded, show_json
from penstock.explain import answer_text, explain
from penstock.notebook import show_status
from penstock.parser import format_script, parse
from penstock.parser.ast import Stage
from penstock.rows import Rows
from penstock.runtime import InputAccount, Kept, QueryReport, Reason, RunError, Status, TableReport
from tests.properties.hostile import draw_names, draw_text, literal, quote

pytestmark = pytest.mark.draws
DRAWS = int(os.environ.get("PENSTOCK_HOSTILE_TEXTS", "20"))


def script(names: list[str], value: str, path: str) -> str:
    """Two relations and a query, in which all names and a value are drawn."""
    relation, key, text, at, out = map(quote, names)
    return f"""CREATE STREAM {relation} ({key} STRING KEY, {text} STRING, {at} TIMESTAMP,
  WATERMARK FOR {at} AS {at} - INTERVAL '1' SECOND) WITH (connector = 'files', path = {literal(path)}, format = 'json');
CREATE TABLE {out} WITH (connector = 'console') AS
SELECT {text}, COUNT(*) AS n FROM {relation} WHERE {text} <> {literal(value)} GROUP BY {text};
SHOW TABLES; SHOW STREAMS; DESCRIBE {relation};
"""


@pytest.fixture(params=range(DRAWS))
def random(request: pytest.FixtureRequest) -> Random:
    return Random(request.param)


def test_rows(random: Random, capsys: pytest.CaptureFixture[str]) -> None:
    names = draw_names(random, 3)
    rows = [{name: draw_text(random) for name in names} for _ in range(3)]
    rows[0][names[1]] = ""
    show_answer(names, rows, "text")
    lines = capsys.readouterr().out.split("\n")
    assert not any(map(IN_LINE.search, lines))
    assert len({cell_len(line) for line in lines[2:6]}) == 1  # the table is as wide in each line
    assert len(lines) == 9
    show_answer(names, rows, "json")
    out = capsys.readouterr().out
    assert IN_LINES.search(out) is None
    assert [json.loads(line) for line in out.split("\n")[:-1]] == rows
    show_answer(names, rows, "csv")
    read = [*csv.reader(io.StringIO(capsys.readouterr().out, newline=""))]
    assert read == [names, *([*row.values()] for row in rows)]
    table = Rows(pa.Table.from_pylist(rows))
    text = repr(table).split("\n")
    assert (len(text), any(map(IN_LINE.search, text))) == (5, False)
    assert IN_LINE.search(table._repr_html_()) is None
    assert table == rows


def test_accounts(random: Random, capsys: pytest.CaptureFixture[str]) -> None:
    query, name, place, text = (draw_text(random) for _ in range(4))
    part = InputAccount(name, 2, 1, 0, 0, 1, rejected_to=place)
    lookup = TableReport(name, 1, 1, 1, 1, 1, 1, 0, 0.0, 1.0, 1.0)
    reported = QueryReport(query, (part,), 1, 1, 5, None, False, table=lookup, reasons=(Reason("silent", text, {}),))
    run_report.show_reports([reported], resumes=True)
    run_report.show_kept([Kept(name, [{query: text}], 3)])
    with live_line.progress_shown() as progress:
        progress(status(query, text))
        print(text, file=sys.stderr)
        print(text)
    printed = capsys.readouterr()
    assert IN_LINES.search(printed.out) is None
    assert IN_LINES.search(printed.err) is None
    assert IN_LINE.search(show_status(status(query, text))) is None


def status(name: str, text: str) -> Status:
    return Status(name, True, 1, 1, 0, 0, 0, 0, None, None, retrying=text)


def test_findings(random: Random) -> None:
    text = draw_text(random, 40)
    source = Source(draw_text(random), text)
    start = random.randrange(len(text))
    place = Span(source, start, random.randint(start, len(text)))
    parts = [draw_text(random) for _ in range(5)]
    finding = Diagnostic("N001", parts[0].replace("\n", ""), (Label(place, parts[1]),), parts[2], parts[3], parts[4])
    assert IN_LINES.search(render(finding)) is None
    assert IN_LINES.search(str(CompileError([finding]))) is None
    assert IN_LINES.search(str(RunError([finding]))) is None
    assert IN_LINES.search(str(RemoteError(parts[0], code="V001"))) is None
    rows = render(finding).split("\n")
    assert rows[3].index("^") <= count_cells(rows[2])
    told = report(finding)
    assert json.loads(show_json(json.dumps(told, ensure_ascii=False))) == told


def test_logs(random: Random) -> None:
    text = draw_text(random)
    try:
        raise ValueError(text)
    except ValueError:
        error = sys.exc_info()
    record = logging.LogRecord(text, logging.ERROR, "f", 1, "%s", (text,), error)
    first, *others = LogFormatter("%(message)s").format(record).split("\n")
    assert not any(map(IN_LINE.search, (first, *others)))
    assert all(line.startswith("  ") for line in others)


def test_scripts(random: Random, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    names, value = draw_names(random, 5), draw_text(random)
    sql = script(names, value, "p" + draw_text(random).replace("\x00", ""))
    compilation = compile(sql)
    assert parse(Source("again", format_script(Source("first", sql)))) == parse(Source("again", sql))
    with output_guarded():
        for stage in Stage:
            print(explain(compilation, stage))
        for answer in compilation.answers:
            print(answer_text(answer), end="")
    assert IN_LINES.search(capsys.readouterr().out) is None
    ast.parse(explain(compilation, Stage.CODE))
    refused = sql + f"SELECT STREAM {quote(draw_text(random))} FROM {quote(names[0])}"
    with pytest.raises(CompileError) as raised:
        compile(refused, name=draw_text(random))
    assert not any(IN_LINES.search(render(each)) for each in raised.value.diagnostics)
