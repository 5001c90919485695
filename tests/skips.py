"""Which tests are skipped for good: those of the campaign, and cases that do not exist. All others lack something here.

With PENSTOCK_NO_SKIPS, as in `.ci/run`, a test that lacks something fails.
"""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

CAMPAIGN = "runs with PENSTOCK_CAMPAIGN=1, as in `make campaign`"
_NO_CASE = "no such case: "
ARE_GAPS_REFUSED = os.environ.get("PENSTOCK_NO_SKIPS", "0") not in ("", "0")


def skip_no_case(reason: str) -> NoReturn:
    """Skips a combination of parameters that does not exist."""
    pytest.skip(f"{_NO_CASE}{reason}")


def is_gap(reason: str) -> bool:
    """Whether a test was skipped because this machine lacks something."""
    told = reason.removeprefix("Skipped: ")
    return told != CAMPAIGN and not told.startswith(_NO_CASE)


def refuse_gap(report: pytest.TestReport) -> None:
    """Lets a test fail that was skipped because this machine lacks something."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if report.skipped and not hasattr(report, "wasxfail") and is_gap(reason):
        report.outcome = "failed"
        report.longrepr = f"PENSTOCK_NO_SKIPS is set, and {report.nodeid} was skipped. {reason}"
