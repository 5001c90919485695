"""Whatever the text: a program, or coded findings at places inside the text."""

from __future__ import annotations

import penstock
from penstock.diagnostics import render
from penstock.diagnostics.all_codes import CATALOG
from tests.properties.mutations import Mutations, compiled

CODES = {code.id for code in CATALOG}
TEXTS = 5_000


def test_five_thousand_texts() -> None:
    mutations = Mutations(seed=1)
    for _ in range(TEXTS):
        text = mutations.text()
        try:
            compilation = penstock.compile(text)
            assert len(compilation.program.queries) >= len(compilation.queries)
            findings, outcome = compilation.diagnostics, "accepted"
        except penstock.CompileError as refusal:
            findings = refusal.diagnostics
            errors = [finding for finding in findings if finding.severity == "error"]
            outcome = errors[0].code[0]
        for finding in findings:
            assert finding.code in CODES
            assert finding.labels, (finding, text)
            assert all(0 <= label.span.start <= label.span.end <= len(text) for label in finding.labels), text
            assert finding.code in render(finding)
        compiled[outcome] += 1
    assert compiled.total() >= TEXTS
    assert compiled["accepted"] > TEXTS // 50
    assert {"S", "N", "T", "K", "J", "W", "C", "L", "B"} <= set(compiled)
