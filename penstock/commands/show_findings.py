"""Findings as commands show them."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable

from penstock.diagnostics import Diagnostic, render
from penstock.diagnostics.terminal import styled

MOST_SHOWN = 20
"""Findings that are shown to people. What is wrong with one statement is often wrong with the next thousand."""


def show_findings(diagnostics: Iterable[Diagnostic]) -> None:
    """To standard error, with colours where it is a terminal: errors before warnings, and no more than people read."""
    color = "NO_COLOR" not in os.environ and sys.stderr.isatty()
    findings = sorted(diagnostics, key=lambda each: each.severity != "error")
    for finding in findings[:MOST_SHOWN]:
        print(render(finding, color=color) + "\n", file=styled(sys.stderr), flush=True)
    rest = Counter(each.severity for each in findings[MOST_SHOWN:])
    if rest:
        counts = [f"{count:,} more {kind}{'s' * (count != 1)}" for kind, count in rest.items()]
        print(f"… and {' and '.join(counts)}: penstock check --format json lists all\n", file=sys.stderr, flush=True)
