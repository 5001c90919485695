"""`bench.script_tests` runs the tests that it counts."""

from __future__ import annotations

from bench.script_tests import measure


def test_tests_are_run_and_timed() -> None:
    seconds, cpu = measure(3)
    assert 0 < cpu < 60
    assert 0 < seconds < 60
