"""Rates of rows fall to 0 when no row comes any more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from penstock.runtime.progress.row_rates import SECONDS, RowRates
from penstock.server.running.live_query import rest_figures


def test_rates_are_those_of_the_last_half_minute() -> None:
    now = 0.0
    rates = RowRates(lambda: now)
    assert rates.find() == (0.0, 0.0)
    now = 10.0
    rates.add(1000, 10)
    assert rates.find() == (100.0, 1.0)
    now = 20.0
    rates.add(3000, 20)
    assert rates.find() == (150.0, 1.0)
    now = 40.0  # the first thousand came 30 seconds ago
    read, written = rates.find()
    assert (round(read * SECONDS), round(written * SECONDS)) == (2000, 10)
    now = 50.1
    assert rates.find() == (0.0, 0.0)
    now = 1000.0
    rates.add(3300, 20)
    assert rates.find() == (10.0, 0.0)


def test_a_first_micro_batch_has_no_endless_rate() -> None:
    now = 0.0
    rates = RowRates(lambda: now)
    rates.add(500, 5)
    assert rates.find() == (500.0, 5.0)


def test_a_query_that_does_not_run_has_no_rate_and_a_growing_lag() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    newest = (now - timedelta(seconds=90)).isoformat()
    shown = rest_figures({"input_rate": 7.0, "output_rate": 2.0, "newest": newest, "lag_seconds": 3.0, "out": 5}, now)
    assert shown == {"input_rate": 0.0, "output_rate": 0.0, "newest": newest, "lag_seconds": 90.0, "out": 5}
    assert rest_figures({"newest": None}, now)["lag_seconds"] is None
