"""A test that this machine cannot run fails where PENSTOCK_NO_SKIPS is set. Cases that do not exist stay skipped."""

from __future__ import annotations

import pytest

from tests import skips


def report_of(reason: str) -> pytest.TestReport:
    longrepr = ("file.py", 1, f"Skipped: {reason}")
    return pytest.TestReport("file.py::test", ("file.py", 1, "test"), {}, "skipped", longrepr, "setup")


def test_what_a_machine_lacks_is_a_failure() -> None:
    for reason in (
        "Maven is not installed",
        "apt-get install chromium chromium-driver",
        "a disk cannot be mounted here",
    ):
        report = report_of(reason)
        skips.refuse_gap(report)
        assert (report.outcome, reason in str(report.longrepr)) == ("failed", True)


def test_the_campaign_and_cases_that_do_not_exist_stay_skipped() -> None:
    with pytest.raises(pytest.skip.Exception) as skipped:
        skips.skip_no_case("SQLite has no schemas")
    for reason in (skips.CAMPAIGN, str(skipped.value)):
        report = report_of(reason)
        skips.refuse_gap(report)
        assert report.outcome == "skipped"
