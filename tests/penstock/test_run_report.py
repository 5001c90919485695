"""Results of runs -> what is printed at their end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from rich.spinner import Spinner

from penstock.commands.live_line import LiveLine, progress_shown, sum_up
from penstock.commands.run_report import make_report, show_kept, show_reports
from penstock.runtime import InputAccount, Kept, LookupReport, PlainConsole, QueryReport, Status, TableReport


def test_a_table_in_memory_is_shown_with_its_first_rows(capsys: pytest.CaptureFixture[str]) -> None:
    hour = datetime(2024, 1, 1, 5, tzinfo=UTC)
    show_kept([Kept("hourly", [{"hour": hour, "n": n, "mean": None} for n in range(12)], 0)])
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[0] == ["hourly:", "12", "rows"]
    assert lines[1] == ["hour", "n", "mean"]
    assert lines[3:13] == [["2024-01-01", "05:00:00", str(n), "NULL"] for n in range(10)]
    assert lines[13] == ["and", "2", "more"]


def test_evicted_rows_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    show_kept([Kept("big", [{"[b]": True}], 1_234)])
    printed = capsys.readouterr().out
    assert printed.startswith("big: the newest 1 of 1,235 rows\n")
    assert "[b]" in printed


def test_an_empty_table_has_no_rows_to_show(capsys: pytest.CaptureFixture[str]) -> None:
    show_kept([Kept("none", [], 0)])
    assert capsys.readouterr().out == "none: 0 rows\n"


def test_accounts_have_a_line_for_each_input(capsys: pytest.CaptureFixture[str]) -> None:
    orders = InputAccount("orders", read=1_000, rejected=1, late=2, filtered=3, used=994, rejected_to="aside/orders")
    payments = InputAccount("payments", read=5, rejected=0, late=0, filtered=0, used=5)
    reports = [QueryReport("paid", (orders, payments), 4, 2, 7, None, drained=False)]
    show_reports(reports, resumes=True)
    printed = capsys.readouterr().out
    rows = [line.replace("│", " ").split() for line in printed.splitlines() if line.startswith("│")]
    assert rows == [["paid", "orders", "1,000", "1", "2", "3", "994", "4"], ["payments", "5", "0", "0", "0", "5"]]
    assert "paid: rejected rows of orders are in aside/orders\n" in printed
    assert "paid keeps 7 rows of state for the next run\n" in printed
    show_reports(reports, resumes=False)
    assert "state" not in capsys.readouterr().out


def status(name: str = "paid", batches: int = 3, **more: Any) -> Status:
    """A query as it is after some micro-batches."""
    return Status(name, True, batches, 1_234, 2, 1, 5, 7, None, 0.5, **more)


def test_progress_is_a_line_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_shown() as line:
        line.say("starting Spark …")
        line(status())
    told = capsys.readouterr()
    assert told.err == "starting Spark …\npaid: 1,234 rows in, 5 out, 2 late, 1 rejected, batch 3\n"
    assert told.out == ""


def test_lines_are_sparse_where_there_is_no_terminal() -> None:
    shown, now = StringIO(), [0.0]
    line = LiveLine(PlainConsole(shown), Spinner("dots", ""), lambda: now[0])
    for seconds, batches, retrying in (
        (0, 0, None),
        (0, 1, None),
        (9, 2, None),
        (11, 2, None),
        (12, 3, None),
        (12, 3, "away"),
    ):
        now[0] = seconds
        line(status(batches=batches, retrying=retrying))
    assert [each.rpartition("batch ")[2] for each in shown.getvalue().splitlines()] == [
        "1",
        "3",
        "3, paid tries again: away",
    ]
    assert [each.batches for each in line.statuses] == [3]


def test_a_terminal_has_one_line_with_sums_and_the_largest_lag() -> None:
    now = datetime(2024, 1, 1, 5, tzinfo=UTC)
    paid = status(read_rate=100.4, newest={"orders": now - timedelta(seconds=3)})
    text = "paid: 1,234 rows in, 100 rows/s, 5 out, lag 3 s, 2 late, 1 rejected"
    assert sum_up([paid], now) == text
    late = status("late", newest={"orders": now - timedelta(hours=1)})
    assert sum_up([paid, late, status("untimed", retrying="away")], now) == (
        "3 queries: 3,702 rows in, 100 rows/s, 15 out, lag 1 h, 6 late, 3 rejected, untimed tries again: away"
    )


def test_a_query_that_was_stopped_is_accounted_for(capsys: pytest.CaptureFixture[str]) -> None:
    orders = InputAccount("orders", read=1_234, rejected=1, late=2, filtered=3, used=1_228)
    show_reports([make_report(status(inputs=(orders,)))], resumes=True)
    printed = capsys.readouterr().out
    rows = [line.replace("│", " ").split() for line in printed.splitlines() if line.startswith("│")]
    assert rows == [["paid", "orders", "1,234", "1", "2", "3", "1,228", "5"]]
    assert "paid keeps 7 rows of state for the next run\n" in printed


def test_reports_of_tables_have_a_line_for_each_query_and_table(capsys: pytest.CaptureFixture[str]) -> None:
    changes = TableReport(
        "crm.profiles", 1_234, 5, 6, 7, 8, retries=2, failures=0, seconds_retrying=1.25, p50_ms=3.21, p99_ms=1_000.0
    )
    lookups = LookupReport("users", 9, 8, 1, 4, 0, 0, failures=0, seconds_retrying=0.0, p50_ms=None, p99_ms=None)
    clicks = InputAccount("clicks", 1, 0, 0, 0, 1)
    show_reports([QueryReport("put", (clicks,), 1, 1, 0, None, False, changes, (lookups,))], resumes=False)
    _, *tables = capsys.readouterr().out.split("tables of databases: ")
    found = {}
    for each in tables:
        lines = [line.strip("│┃").replace("┃", "│").split("│") for line in each.splitlines() if line[0] in "│┃"]
        found[each.split()[0]] = [[cell.strip() for cell in line] for line in lines]
    common = ["p50 ms", "p99 ms", "retries", "retrying s"]
    assert found == {
        "changes": [
            ["query", "table", "puts", "updates", "deletes", "rejected", "batches", *common],
            ["put", "crm.profiles", "1,234", "5", "6", "7", "8", "3.2", "1,000.0", "2", "1.2"],
        ],
        "lookups": [
            ["query", "table", "gets", "hits", "misses", "cache hits", "batches", *common],
            ["put", "users", "9", "8", "1", "4", "0", "", "", "0", "0.0"],
        ],
    }
