"""The ejected program: tidy, free of Penstock, and with the rows of the query."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import Row

from penstock.codegen import eject, lower
from penstock.kit.memory import KEPT, print_memory, write_memory
from penstock.planner.plan import BoundEnd, Emission, JoinType, Node, Settings, Sink, Tumble
from penstock.planner.types import STRING
from tests.codegen.plans import MINUTE, aggregate, grouped, item, joined, over, query, scan, where, windowed

K = item("k", "k", STRING)


def files(path: Path) -> Sink:
    return Sink("out", "files", (("path", str(path)), ("format", "json")))


def source(folder: Path) -> Node:
    (folder / "in").mkdir()
    times = [
        ("1", "a", "2026-01-01T12:00:00Z"),
        ("2", "a", "2026-01-01T12:05:00Z"),
        ("3", None, "2026-01-01T12:20:00Z"),
    ]
    lines = [json.dumps({"id": id_, "k": k, "time": time, "v": int(id_)}) for id_, k, time in times]
    (folder / "in" / "1.json").write_text("\n".join([*lines, '{"id": 4, "time": "never"}', '{"id": "5", "k": "x"}']))
    return where(scan(path=str(folder / "in")), "k IS NULL OR k <> 'it\\'s \"\"\" \\\\'")


@pytest.mark.parametrize("framed", [False, True])
def test_the_program_is_plain_python_without_penstock(tmp_path: Path, framed: bool) -> None:
    window = windowed(source(tmp_path), Tumble(10 * MINUTE), aggregate("n", "COUNT"), keys=[K])
    queries = [query(window, "a b", sink=files(tmp_path / "out")), query(window, "import")]
    used = {"pyspark", "py4j"}
    if framed:
        queries.append(query(over(scan(), (aggregate("first", "FIRST", "id", STRING), MINUTE)), "frames"))
        used |= {"duckdb", "numpy", "pyarrow"}
    text = eject(lower(queries))
    modules = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    }
    assert used <= modules
    assert modules - used <= sys.stdlib_module_names
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--stdin-filename", "job.py", "-"]
    checked = subprocess.run(ruff, input=text, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_a_table_in_memory_has_columns_of_any_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(KEPT, "t", raising=False)
    rows: Any = SimpleNamespace(writeStream=SimpleNamespace(foreachBatch=lambda keep: keep))
    keep: Any = write_memory(rows, "t", 10, key=("self",), operation="op")
    first = [Row("self", "cls", "op")(1, "a", "insert"), Row("self", "cls", "op")(2, "b", "insert")]
    second = [Row("self", "cls", "op")(1, "c", "update"), Row("self", "cls", "op")(2, "b", "delete")]
    for number, batch in enumerate((first, second)):
        keep(SimpleNamespace(collect=lambda batch=batch: batch), number)
    print_memory("t")
    assert capsys.readouterr().out == "Row(self=1, cls='c')\n"


@pytest.mark.spark
def test_the_program_gives_the_rows(tmp_path: Path) -> None:
    below = source(tmp_path)
    windows = windowed(below, Tumble(10 * MINUTE), aggregate("n", "COUNT"), keys=[K])
    pairs = joined(JoinType.LEFT, below, below, lower=BoundEnd(0, False), upper=BoundEnd(5 * MINUTE, True))
    frames = over(below, (aggregate("total", "SUM", "v"), 10 * MINUTE))
    table = grouped(below, aggregate("n", "COUNT"), keys=[K])
    program = lower(
        [
            query(windows, "windows", sink=files(tmp_path / "windows")),
            query(pairs, "pairs", sink=files(tmp_path / "pairs")),
            query(frames, "frames"),
            query(table, "table", emission=Emission.CHANGES, key=("k",), sink=Sink("t", "console", ())),
        ],
        Settings(state_partitions=1),
    )
    (tmp_path / "job.py").write_text(eject(program), encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    job = subprocess.run(
        [sys.executable, "-I", str(tmp_path / "job.py")],
        cwd=tmp_path,
        env={
            **clean,
            "PYSPARK_PYTHON": sys.executable,
            "TZ": "UTC",
            "PYSPARK_SUBMIT_ARGS": "--master local[2] pyspark-shell",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert job.returncode == 0, job.stderr[-2000:]
    assert written(tmp_path / "windows") == [
        {"k": "a", "window_start": at("00"), "window_end": at("10"), "n": 2},
        {"k": None, "window_start": at("20"), "window_end": at("30"), "n": 1},
    ]
    assert [(row["l.id"], row["r.id"]) for row in written(tmp_path / "pairs")] == [("1", "2"), ("2", None), ("3", None)]
    assert [str(row["reason"]).partition(":")[0] for row in written(tmp_path / "windows_rejected" / "orders")] == [
        "malformed record",
        "no event time",
    ]
    for name in ("windows", "pairs"):
        assert f"{tmp_path / name}_rejected/orders" in job.stdout
    assert "out: 5 rows of orders = 2 rejected + 0 late + 0 filtered + 3 used" in job.stdout
    assert "total=3)" in job.stdout
    assert "|a   |2  |" in job.stdout


def at(minute: str) -> str:
    return f"2026-01-01T12:{minute}:00.000000Z"


def written(folder: Path) -> list[dict[str, object]]:
    lines = [line for path in folder.glob("*.json") for line in path.read_text().splitlines()]
    return [json.loads(line) for line in sorted(lines)]
