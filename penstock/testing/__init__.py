"""Tests of scripts: rows that are given, and rows that are expected. Neither Spark nor a JVM takes part.

A file whose name ends in `_test.sql` has tests. `penstock test` runs them, and pytest collects them where Penstock is
installed. `case` runs a test from Python.
"""

from __future__ import annotations

from pathlib import Path

from penstock.diagnostics import Source, render
from penstock.parser import string_text
from penstock.testing.run_case import run_source

__all__ = ["case"]


def case(*statements: str, of: str | Path, at: str | None = None, folder: str | Path = ".") -> None:
    """Runs one test. Raises AssertionError with what differs, and CompileError for what is not a test.

    Args:
        statements: GIVEN and THEN, in order.
        of: the file of the script.
        at: the time that '0:00' stands for.
        folder: where paths begin that are not absolute.
    """
    begin = f"TEST 'case' OF {string_text(str(of))}" + (f" AT {string_text(at)}" if at is not None else "")
    text = "".join(f"{each.rstrip().removesuffix(';')};\n" for each in (begin, *statements))
    (result,) = run_source(Source("<case>", text), Path(folder))
    if not result.passes:
        raise AssertionError("\n\n".join(render(each) for each in result.findings))
