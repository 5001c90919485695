"""Reading a script takes time that is linear in its length, whatever it holds: translate, check and fmt."""

from __future__ import annotations

import json
import subprocess
import sys
from textwrap import dedent

import pytest

from tests.campaign import take_some

# Pieces that a text repeats. Each is bad for some way of looking for quotes, comments, brackets or statements.
PIECES = (
    *(
        "-",
        "- ",
        "--",
        "-- a\n",
        "/*",
        "/* a */",
        "*/",
        ";",
        ";\n",
        "'",
        "''",
        '"',
        "`",
        "``",
        "\\",
        "\\'",
        "'a' ",
        "r'",
    ),
    *("(", "[", "{", "<", "f(", "a[", "a.", "a,", ")", "]", "1", "1.", "1e", "1 ", " ", "\n", "\t\n", "=", "=> ", "->"),
    *("password = 'x' ", "password=", "token: ", "a://b:c@d ", "a://", "%sql\n", "%md\n", "-- COMMAND ----------\n"),
    *(
        "SET a = 1;\n",
        "SET a = 1\n",
        "USE a\n",
        "SELECT 1 AS a;\n",
        "SELECT a FROM b;\n",
        "CREATE ",
        "WITH (",
        "BEGIN ",
    ),
    *("ROW<a ", "ARRAY<", "MAP<", "CASE ", "NOT ", "AND ", "+", "a + ", "SPLIT(a, ", "JSON_VALUE(a, ", "LIKE 'a_'"),
)
HEADS = ("", "CREATE TABLE t (a ", "SET ", "-- ", "CREATE VIEW v AS SELECT ", "SELECT a FROM b WHERE ", "SELECT ")
TIMES = 100
_PROGRAM = """
    import json, sys, time
    from penstock.diagnostics import CompileError, Source
    from penstock.diagnostics.secrets import hide_credentials, hide_secrets
    from penstock.parser import LayoutError, format_script
    from penstock.compilation import compile
    from penstock.translate import System, translate

    def try_each(text):
        for system in System:
            list(translate(Source("x", text), system))
        for read in (lambda: compile(text), lambda: format_script(Source("x", text))):
            try:
                read()
            except (CompileError, LayoutError):
                pass
        hide_credentials(text)
        hide_secrets(text)

    try_each("SELECT 1 AS a;")
    for head, piece, times in json.load(sys.stdin):
        found = []
        for factor in (1, 8):
            text = head + piece * (times * factor)
            begin = time.process_time()
            try_each(text)
            found.append(time.process_time() - begin)
        print(json.dumps([head, piece, *found]), flush=True)
"""


@pytest.mark.parametrize("head", take_some(HEADS, 4))
def test_time_is_linear(head: str) -> None:
    """Eight times the text takes at most 24 times as long; what is quadratic takes 64 times as long."""
    asked = json.dumps([(head, piece, TIMES) for piece in PIECES])
    run = subprocess.run(
        [sys.executable, "-c", dedent(_PROGRAM)], input=asked, capture_output=True, text=True, timeout=600, check=True
    )
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(found) == len(PIECES)
    slow = [(piece, once, more) for _, piece, once, more in found if more > 0.5 and more > 24 * once]
    assert not slow
