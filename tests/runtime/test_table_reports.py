"""Figures of micro-batches -> the reports of lookups."""

from __future__ import annotations

import pytest

from penstock.runtime.progress.table_reports import LookupCounters, find_percentile_ms


def test_percentiles_of_times() -> None:
    seconds = [number / 1000 for number in range(200, 0, -1)]
    assert find_percentile_ms(seconds, 50) == pytest.approx(101)
    assert find_percentile_ms(seconds, 99) == pytest.approx(199)
    assert find_percentile_ms([0.25], 99) == 250
    assert find_percentile_ms([], 50) is None


def test_sums_of_micro_batches_and_one_failure() -> None:
    sums = LookupCounters("users")
    sums.add({"gets": 3, "hits": 2, "misses": 1, "retries": 1, "seconds_retrying": 0.5, "batch_seconds": [0.1, 0.3]})
    sums.add({"gets": None, "hits": None, "seconds_retrying": None, "batch_seconds": []})  # no task had rows
    sums.add({"gets": 4, "hits": 4, "misses": 0, "retries": 0, "seconds_retrying": 0.0, "batch_seconds": [0.2]})
    for _ in range(2):
        sums.fail(9, 1.5)
    report = sums.report
    assert (report.name, report.gets, report.hits, report.misses, report.cache_hits) == ("users", 7, 6, 1, 0)
    assert (report.retries, report.failures, report.seconds_retrying) == (10, 1, 2.0)
    assert (report.p50_ms, report.p99_ms) == (200, 300)
