"""What codegen and the runtime call columns of their own: reserved, or never beside the columns of a script."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

import penstock
from penstock.diagnostics import CompileError
from penstock.planner.plan.reserved import STREAM_COLUMNS, TABLE_COLUMNS
from tests.house.files import ROOT, list_files

# Of views that have a script's columns in structs, or by the names `alias.column`, or none of them.
APART = frozenset(
    {
        "_after",
        "_asked",
        "_before",
        "_bucket",
        "_current",
        "_decoded",
        "_found",
        "_first",
        "_folder",
        "_last",
        "_made",
        "_entry",
        "_group",
        "_keys",
        "_newest",
        "_number",
        "_parsed",
        "_plain",
        "_record",
        "_row",
        "_rows",
        "_seen",
        "_size",
        "_start",
        "_text",
        "_texts",
        "_told",
        "_time",
        "_update",
        "_updates",
        "_version",
    }
)
# Attributes of objects, options of SQLAlchemy, and the end of the name of a folder.
NO_COLUMNS = frozenset({"_where", "_origin", "_printed", "_rejected"})
# Made different from the names of the columns beside them.
UNUSED = frozenset({"_window"})
STREAM = "CREATE STREAM s (id BIGINT KEY, v BIGINT, time TIMESTAMP{}, WATERMARK FOR time AS time) "
TABLE = "CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT{}) "
FILES = "WITH (connector = 'files', path = 'x', format = 'json'{});"


def texts(tree: ast.AST) -> Iterator[str]:
    """The string constants of a module but for documentation, and f-strings, which make names of views."""
    documentation = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    formatted = (each for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for each in node.values)
    left_out = {id(node) for node in (*documentation, *formatted)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.value


def test_each_name_is_reserved_or_stands_apart() -> None:
    rooms = ("codegen", "kit", "runtime", "planner/connectors")
    files = [path for room in rooms for path in list_files(ROOT / room, ".py")]
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in files)
    found = {
        name for tree in trees for text in texts(tree) for name in re.findall(r"(?<![\w.{}/])_[a-z]+\b(?!\()", text)
    }
    assert found | {"_lateness"} == TABLE_COLUMNS | APART | UNUSED | NO_COLUMNS


def codes(sql: str) -> list[str]:
    try:
        penstock.compile(sql)
    except CompileError as refused:
        return [found.code for found in refused.diagnostics]
    return []


@pytest.mark.parametrize("name", sorted(TABLE_COLUMNS))
def test_no_table_has_a_column_of_a_reserved_name(name: str) -> None:
    declared = STREAM.format("") + FILES.format("")
    written = (
        "CREATE TABLE t WITH (connector = 'files', path = 't', format = 'json'{}) AS SELECT id, COUNT(*) AS n{} FROM s"
    )
    windows = " GROUP BY id, TUMBLE(time, 1 MIN) EMIT FINAL"
    assert codes(TABLE.format(f", {name.upper()} INT") + FILES.format("")) == ["K016"]
    assert codes(TABLE.format("") + FILES.format(f", operation = '{name}'")) == ["K016"]
    shown = f", MAX(v) AS {name}"
    assert codes(declared + written.format(", operation = 'op'", shown) + " GROUP BY id") == ["K016"]
    assert codes(declared + written.format("", shown) + windows) == ["K016"]
    assert codes(declared + written.format(f", operation = '{name}'", "") + " GROUP BY id") == ["K016"]


@pytest.mark.parametrize("name", sorted(TABLE_COLUMNS | APART | UNUSED))
def test_streams_have_columns_of_all_but_the_reserved_names(name: str) -> None:
    over = f"SELECT STREAM id, time, SUM(v) OVER (PARTITION BY id ORDER BY time RANGE 1 MIN PRECEDING) AS {name} FROM s"
    chain = f"SELECT STREAM {name}, COUNT(*) AS n FROM ({over}) x GROUP BY {name}, TUMBLE(time, 1 MIN)"
    expected = ["K016"] if name in STREAM_COLUMNS else []
    assert codes(STREAM.format(f", {name} INT") + FILES.format("")) == expected
    assert codes(STREAM.format("") + FILES.format("") + chain) == expected


def test_the_page_of_the_error_lists_the_names() -> None:
    page = (ROOT / "docs" / "errors" / "K016.md").read_text(encoding="utf-8")
    lists = [frozenset(re.findall(r"`(\w+)`", line)) for line in page.splitlines() if line.startswith("- ")]
    assert lists == [STREAM_COLUMNS, TABLE_COLUMNS - STREAM_COLUMNS]
