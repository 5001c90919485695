"""Every statement that the language promises is accepted, or refused with its code alone."""

from __future__ import annotations

import pytest

import penstock
from tests.planner.language import ACCEPTED, DECLARATIONS, PROMISES, Promise


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: " ".join(promise.sql.split())[:60])
def test_promise(promise: Promise) -> None:
    try:
        compilation = penstock.compile(DECLARATIONS + promise.sql)
        assert len(compilation.program.queries) >= len(compilation.queries)
        outcome = {ACCEPTED}
    except penstock.CompileError as refusal:
        outcome = {finding.code for finding in refusal.diagnostics if finding.severity == "error"}
    assert outcome == {promise.outcome}
