"""Why rows do not come out of a query: each cause, from what is known of the query. No JVM."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock.codegen.program import SparkQuery
from penstock.compilation import compile
from penstock.runtime import InputAccount, Status
from penstock.runtime.progress.list_reasons import find_chain, list_reasons
from penstock.runtime.progress.status import BatchMark, Reason
from penstock.runtime.progress.times import moment_text, span_text

STREAM = (
    "CREATE STREAM {0} (k INT, v INT, t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '1' MINUTE {1}) "
    "WITH (connector = 'files', path = 'data/{0}', format = 'json');"
)
WINDOWS = "SELECT STREAM window_start, COUNT(*) AS n FROM {0} GROUP BY TUMBLE(t, 1 HOUR)"
BOTH = "(SELECT STREAM t FROM a UNION ALL SELECT STREAM t FROM b) u"
LEFT = "SELECT STREAM a.k AS k, b.v AS v FROM a LEFT JOIN b ON a.k = b.k AND b.t BETWEEN a.t AND a.t + 10 MINUTES"
NOW = datetime(2026, 1, 2, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def queries(select: str, idle: str = "") -> tuple[SparkQuery, ...]:
    declared = STREAM.format("a", "") + STREAM.format("b", idle)
    return compile(f"{declared} CREATE STREAM made AS {select};").program.queries


def at(hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 1, 1, hour, minute, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def count(name: str, read: int, *, rejected: int = 0, late: int = 0, filtered: int = 0) -> InputAccount:
    return InputAccount(name, read, rejected, late, filtered, read - rejected - late - filtered)


def status(*inputs: InputAccount, out: int = 0, state_rows: int = 0, **more: Any) -> Status:
    """A query that was started an hour ago, and had its last rows a second ago."""
    given = {"running": True, "watermark": None, "heard": {each.name: ago(1) for each in inputs if each.read}, **more}
    return Status(
        name="made",
        batches=3,
        rows=sum(each.read for each in inputs),
        late=0,
        rejected=0,
        out=out,
        state_rows=state_rows,
        batch_seconds=0.1,
        inputs=inputs,
        started=ago(3600),
        has_looked=bool(given.pop("has_looked", True)),
        **given,
    )


def only(parts: list[tuple[SparkQuery, Status]]) -> Reason:
    (reason,) = list_reasons(parts, NOW)
    return reason


def test_nothing_holds_back_what_goes_on() -> None:
    (query,) = queries("SELECT STREAM k FROM a")
    assert list_reasons([(query, status(count("a", 5), out=5))], NOW) == ()
    assert list_reasons([], NOW) == ()


def test_it_starts() -> None:
    (query,) = queries("SELECT STREAM k FROM a")
    reason = only([(query, status(count("a", 0), has_looked=False))])
    assert (reason.cause, reason.numbers["seconds"]) == ("starting", 3600)
    assert "1 h ago, at 2026-01-01 23:00:00" in reason.text


def test_a_database_is_away() -> None:
    (query,) = queries("SELECT STREAM k FROM a")
    secret = "postgresql://me:secret@db: connection refused"
    reason = only([(query, status(count("a", 5), out=5, retrying=secret, retrying_since=ago(90)))])
    assert (reason.cause, reason.numbers["seconds"]) == ("retrying", 90)
    assert "for 1 min 30 s" in reason.text
    assert "connection refused" in reason.text
    assert "secret" not in reason.text


def test_no_row_has_come() -> None:
    (query,) = queries("SELECT STREAM k FROM a")
    reason = only([(query, status(count("a", 0)))])
    assert (reason.cause, reason.numbers["seconds"]) == ("no_rows", 3600)
    assert reason.text.endswith("Files are read from data/a.")


def test_no_new_row_has_come() -> None:
    (query,) = queries("SELECT STREAM k FROM a")
    rested = status(count("a", 5), out=5, heard={"a": ago(1920)})
    reason = only([(query, rested)])
    assert (reason.cause, reason.numbers["rows"], reason.numbers["seconds"]) == ("no_new_rows", 5, 1920)
    assert "for 32 min" in reason.text


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        (count("a", 1200, filtered=1200), "1,200 filtered"),
        (count("a", 9, late=8, rejected=1), "8 late and 1 rejected"),
        (count("a", 3, rejected=3), "3 rejected"),
    ],
)
def test_all_rows_are_left_out(counts: InputAccount, word: str) -> None:
    (query,) = queries("SELECT STREAM k FROM a WHERE v > 1")
    reason = only([(query, status(counts))])
    assert (reason.cause, reason.numbers["in"], reason.numbers["used"]) == ("all_left_out", counts.read, 0)
    assert word in reason.text


def test_some_rows_are_left_out() -> None:
    (query,) = queries("SELECT STREAM k FROM a WHERE v > 1")
    reason = only([(query, status(count("a", 10, late=2, filtered=3), out=5))])
    assert (reason.cause, reason.numbers["late"]) == ("some_left_out", 2)
    assert reason.text.startswith("2 late of 10 rows of a were left out.")


def test_rows_are_used_and_none_comes_out() -> None:
    (query,) = queries("SELECT STREAM k FROM a")
    reason = only([(query, status(count("a", 7)))])
    assert (reason.cause, reason.numbers) == ("no_result", {"used": 7})


def test_the_last_query_of_a_chain_filters_all_rows() -> None:
    late = "CREATE STREAM late (k INT, v INT, t TIMESTAMP, lateness BIGINT) WITH (connector = 'console');"
    made = f"CREATE STREAM made AS {WINDOWS.format('a')} LATE INTO late;"
    first, _, last = compile(STREAM.format("a", "") + late + made).program.queries
    parts = [(first, status(count("a", 3), out=3)), (last, status(count(first.output.name, 3, filtered=3)))]
    reason = only(parts)
    assert (reason.cause, reason.numbers["used"]) == ("all_left_out", 0)
    assert reason.text.startswith(f"No row of {first.output.name} was used: 3 rows were read, 3 filtered.")


def test_a_window_has_not_ended() -> None:
    (query,) = queries(WINDOWS.format("a"))
    read = status(count("a", 5), state_rows=1, watermark=at(10, 19), newest={"a": at(10, 20)}, oldest=at(10, 1))
    reason = only([(query, read)])
    assert reason.cause == "not_final"
    assert reason.numbers == {
        "watermark": "2026-01-01T10:19:00+00:00",
        "end": "2026-01-01T11:00:00+00:00",
        "missing_seconds": 2460,
    }
    assert "ends at 2026-01-01 11:00:00, and the watermark is at 2026-01-01 10:19:00" in reason.text
    assert "Rows of a with times from 2026-01-01 11:01:00 on" in reason.text
    assert "EMIT EARLY" in reason.text


def test_windows_that_have_ended_gave_no_row() -> None:
    (query,) = queries(f"{WINDOWS.format('a')} HAVING COUNT(*) > 100")
    read = status(count("a", 5), state_rows=1, watermark=at(10, 19), newest={"a": at(10, 20)}, oldest=at(9))
    assert [each.cause for each in list_reasons([(query, read)], NOW)] == ["no_result", "not_final"]
    late = status(count("a", 5, late=1), state_rows=1, watermark=at(10, 19), newest={"a": at(10, 20)}, oldest=at(9))
    assert "no_result" not in [each.cause for each in list_reasons([(query, late)], NOW)]


def test_what_was_drained_waits_for_nothing() -> None:
    (query,) = queries(WINDOWS.format("a"))
    drained = status(count("a", 5), out=1, state_rows=1, watermark=datetime(9998, 12, 31, tzinfo=UTC), running=False)
    assert list_reasons([(query, drained)], NOW) == ()


def test_a_run_that_has_ended_is_told_to_drain() -> None:
    (query,) = queries(WINDOWS.format("a"))
    ended = status(
        *(count("a", 5),), state_rows=1, watermark=at(10), newest={"a": at(10, 1)}, running=False, heard={"a": ago(99)}
    )
    reason = only([(query, ended)])
    assert reason.cause == "not_final"
    assert "--drain" in reason.text


def test_a_session_waits_for_its_gap() -> None:
    (query,) = queries("SELECT STREAM COUNT(*) AS n FROM a GROUP BY SESSION(t, 30 MINUTES)")
    held = at(10) - timedelta(milliseconds=1)
    reason = only([(query, status(count("a", 5), state_rows=1, watermark=held, newest={"a": at(10, 1)}))])
    assert (reason.cause, reason.numbers["end"]) == ("not_final", at(10, 31).isoformat())
    assert "the watermark is at 2026-01-01 10:00:00." in reason.text


def two(b: InputAccount, newest: dict[str, datetime], watermark: datetime | None, **more: Any) -> Status:
    """A query of a and b."""
    return status(count("a", 5), b, state_rows=5, watermark=watermark, newest=newest, **more)


@pytest.mark.parametrize("select", [WINDOWS.format(BOTH), LEFT])
def test_an_input_is_behind(select: str) -> None:
    (query,) = queries(select)
    reasons = list_reasons([(query, two(count("b", 5), {"a": at(12), "b": at(10, 15)}, at(10, 14)))], NOW)
    assert [each.cause for each in reasons] == ["behind", "not_final"]
    assert reasons[0].numbers == {
        "input": "b",
        "watermark": at(10, 14).isoformat(),
        "others": at(11, 59).isoformat(),
        "behind_seconds": 105 * 60,
    }
    assert "b is 1 h 45 min behind" in reasons[0].text


def test_an_input_that_is_behind_holds_no_window_that_is_open_without_it() -> None:
    (query,) = queries(WINDOWS.format(BOTH))
    reason = only([(query, two(count("b", 5), {"a": at(10, 50), "b": at(10, 15)}, at(10, 14)))])
    assert reason.cause == "not_final"


def test_an_input_never_spoke() -> None:
    (query,) = queries(WINDOWS.format(BOTH))
    reason = only([(query, two(count("b", 0), {"a": at(12)}, EPOCH))])
    assert (reason.cause, reason.numbers["input"], reason.numbers["seconds"]) == ("silent", "b", 3600)
    assert "there is no watermark" in reason.text
    assert "IDLE AFTER" in reason.text


def test_an_input_has_fallen_silent() -> None:
    (query,) = queries(WINDOWS.format(BOTH))
    heard = {"a": ago(1), "b": ago(600)}
    reasons = list_reasons([(query, two(count("b", 5), {"a": at(12), "b": at(10, 15)}, at(10, 14), heard=heard))], NOW)
    assert [each.cause for each in reasons] == ["silent", "not_final"]
    assert "No row of b has come for 10 min, since 2026-01-01 23:50:00" in reasons[0].text
    assert "the watermark stays at 2026-01-01 10:14:00" in reasons[0].text


def test_an_input_will_be_idle_or_is_so() -> None:
    (query,) = queries(WINDOWS.format(BOTH), "IDLE AFTER 30 MINUTES")
    newest = {"a": at(12), "b": at(10, 15)}
    waits = two(count("b", 5), newest, at(10, 14), heard={"a": ago(1), "b": ago(600)})
    assert "It counts as idle after 30 min of silence." in list_reasons([(query, waits)], NOW)[0].text
    idle = two(count("b", 5), newest, at(11, 59), heard={"a": ago(1), "b": ago(1900)})
    assert [each.cause for each in list_reasons([(query, idle)], NOW)] == ["not_final"]


def test_of_a_resumed_query_less_is_known() -> None:
    (query,) = queries(WINDOWS.format(BOTH))
    resumed = status(count("a", 5), count("b", 0), state_rows=5, watermark=at(10, 14), newest={"a": at(12)})
    reasons = list_reasons([(query, resumed)], NOW)
    assert [each.cause for each in reasons] == ["silent", "not_final"]
    assert "the watermark stays at 2026-01-01 10:14:00" in reasons[0].text


def test_state_grows() -> None:
    (query,) = queries(LEFT)
    recent = tuple(BatchMark(rows, 7) for rows in (1000, 3000, 5000))
    grows = status(count("a", 5000), count("b", 1), out=7, state_rows=5000, recent=recent)
    reason = only([(query, grows)])
    assert (reason.cause, reason.numbers["rows_before"], reason.numbers["rows"]) == ("state_grows", 1000, 5000)
    assert "from 1,000 to 5,000 rows in the last 2 micro-batches" in reason.text
    writes = status(count("a", 5000), count("b", 1), out=8, recent=(*recent, BatchMark(6000, 8)))
    assert list_reasons([(query, writes)], NOW) == ()


CHAIN = (
    "SELECT STREAM x.window_start, x.n AS n, y.n AS m FROM "
    "(SELECT k, COUNT(*) AS n FROM a GROUP BY k, TUMBLE(t, 1 HOUR)) x LEFT JOIN "
    "(SELECT k, COUNT(*) AS n FROM b GROUP BY k, TUMBLE(t, 1 HOUR)) y ON x.k = y.k"
)


def test_in_a_chain_the_source_is_named() -> None:
    first, second, last = queries(CHAIN)
    one, other = (each.name for each in (first, second))
    reader = status(
        *(count(one, 3), count(other, 1)), state_rows=3, watermark=at(10), newest={one: at(14), other: at(10)}
    )
    parts = [
        (first, status(count("a", 5), out=3, watermark=at(14, 1), newest={"a": at(14, 2)})),
        (second, status(count("b", 5), out=1, watermark=at(10, 1), newest={"b": at(10, 2)})),
        (last, reader),
    ]
    reasons = list_reasons(parts, NOW)
    assert [each.cause for each in reasons] == ["behind", "not_final"]
    assert (reasons[0].numbers["input"], reasons[0].numbers["behind_seconds"]) == ("b", 4 * 3600)
    assert find_chain(last, (first, second, last)) == [first, second, last]
    assert find_chain(first, (first, second, last)) == [first]


def test_times_are_for_people() -> None:
    assert [span_text(each) for each in (0, 0.2504, 1, 59.9, 3600, 3661, 90_061)] == [
        *("0 ms", "250 ms", "1 s", "59 s", "1 h", "1 h 1 min", "1 d 1 h"),
    ]
    assert moment_text(at(10)) == "2026-01-01 10:00:00"
    assert moment_text(at(10) + timedelta(milliseconds=250)) == "2026-01-01 10:00:00.250"
    assert moment_text(at(10) - timedelta(milliseconds=1)) == "2026-01-01 10:00:00"
