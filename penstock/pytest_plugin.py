"""The plugin for pytest, which collects the tests of all files `*_test.sql`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from penstock.testing.cases import Case

ENDING = "_test.sql"


class FailedTestError(Exception):
    """A test of a script fails. Its text has what differs."""


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    """A file of tests."""
    return ScriptTestFile.from_parent(parent, path=file_path) if file_path.name.endswith(ENDING) else None


class ScriptTestFile(pytest.File):
    """A file of tests, as `penstock test` runs it."""

    def collect(self) -> Iterator[ScriptTest]:
        """One item for each TEST. The compiled scripts are shared."""
        from penstock.diagnostics import CompileError, Source, render
        from penstock.testing.cases import read_cases

        scripts: dict[Any, Any] = {}
        try:
            text = self.path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as problem:
            raise self.CollectError(f"{self.path}: byte {problem.start} is not UTF-8") from None
        try:
            cases = read_cases(Source(str(self.path), text))
        except CompileError as refusal:
            raise self.CollectError("\n\n".join(render(each) for each in refusal.diagnostics)) from None
        for case in cases:
            yield ScriptTest.from_parent(self, name=case.begin.name.text, case=case, scripts=scripts)


class ScriptTest(pytest.Item):
    """One TEST of a file."""

    def __init__(self, *, case: Case, scripts: dict[Any, Any], **rest: Any) -> None:
        super().__init__(**rest)
        self.case = case
        self.scripts = scripts

    def runtest(self) -> None:
        """Runs the test. Raises FailedTestError if it fails."""
        from penstock.diagnostics import render
        from penstock.testing.run_case import run_case

        result = run_case(self.case, self.path.parent, self.scripts, to_end=False)
        if not result.passes:
            raise FailedTestError("\n\n".join(render(each) for each in result.findings))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What differs, without a traceback."""
        if isinstance(excinfo.value, FailedTestError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The place of TEST; pytest counts lines from 0."""
        span = self.case.begin.span
        return self.path, span.source.position(span.start)[0] - 1, self.name
