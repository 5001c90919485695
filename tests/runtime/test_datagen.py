"""Rows of `datagen`: one seed makes the same rows, and as many as are declared."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable

import penstock
from penstock.kit import datagen
from penstock.runtime import RuntimeSession
from tests.house.files import ROOT
from tests.runtime.programs import Place

pytestmark = pytest.mark.spark

TYPES = {
    "i": "TINYINT",
    "b": "BIGINT",
    "d": "DECIMAL(38, 20)",
    "f": "FLOAT",
    "x": "DOUBLE",
    "s": "STRING",
    "ok": "BOOLEAN",
    "day": "DATE",
    "at": "TIMESTAMP",
    "n": "INT",
    "t": "STRING",
}
ROWS = 300
DRAWN = f"""CREATE STREAM made ({", ".join(f"{name} {type_}" for name, type_ in TYPES.items())}) WITH (
  connector = 'datagen', rows_per_second = 100, number_of_rows = {ROWS}, start_time = '2026-01-01T00:00:00+00:00',
  seed = {{seed}}, fields.i.min = -3, fields.i.max = 3, fields.d.min = -0.5, fields.d.max = 0.5, fields.x.min = -1e300,
  fields.x.max = 1e300, fields.s.length = 20, fields.at.max_past = 1 HOUR, fields.day.max_past = 3 DAYS,
  fields.n.kind = 'sequence', fields.n.start = -5, fields.t.kind = 'sequence', fields.s.null_rate = 0.25
);
CREATE STREAM seen WITH (connector = 'memory') AS SELECT STREAM * FROM made;"""


def run(spark: SparkSession, script: str, checkpoint: Path | None = None) -> list[dict[str, Any]]:
    """What a run to the end of the input shows."""
    program = penstock.compile(script).program
    with RuntimeSession(spark, None if checkpoint is None else str(checkpoint)) as session:
        session.run_once(program, drain=False)
        return sorted(session.rows(program.queries[-1].name), key=str)


def test_a_seed_makes_the_same_rows_with_any_borders(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(spark, DRAWN.format(seed=1))
    monkeypatch.setattr(datagen, "MOST", 70)
    monkeypatch.setattr(datagen, "PART", 16)
    assert run(spark, DRAWN.format(seed=1)) == whole
    other = run(spark, DRAWN.format(seed=2))
    assert {row["n"] for row in other} == {row["n"] for row in whole}
    assert len({row["b"] for row in whole} & {row["b"] for row in other}) == 0


def test_values_are_what_their_options_say(spark: SparkSession) -> None:
    rows = run(spark, DRAWN.format(seed=1))
    assert sorted(row["n"] for row in rows) == [*range(-5, ROWS - 5)]
    assert sorted(int(row["t"]) for row in rows) == [*range(1, ROWS + 1)]
    assert Counter(row["i"] for row in rows).keys() == {*range(-3, 4)}
    assert len({row["b"] for row in rows}) == ROWS
    assert min(row["b"] for row in rows) < -(2**60) < 2**60 < max(row["b"] for row in rows)
    assert all(abs(row["d"]) <= Decimal("0.5") for row in rows)
    assert max(row["d"] for row in rows) > Decimal("0.4")
    assert min(row["d"] for row in rows) < Decimal("-0.4")
    assert any(row["d"] != round(row["d"], 17) for row in rows)
    assert all(0 <= row["f"] < 1 for row in rows)
    assert all(abs(row["x"]) < 1e300 for row in rows)
    assert max(row["x"] for row in rows) > 5e299
    texts = [row["s"] for row in rows if row["s"] is not None]
    assert all(len(text) == 20 and int(text, 16) >= 0 for text in texts)
    assert len(set(texts)) == len(texts)
    assert ROWS * 0.6 < len(texts) < ROWS * 0.9
    assert ROWS * 0.4 < sum(row["ok"] for row in rows) < ROWS * 0.6
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    for row in rows:
        made = begin + timedelta(milliseconds=10 * (row["n"] + 5))
        assert made - timedelta(hours=1) <= row["at"].replace(tzinfo=UTC) <= made
        assert made.date() - timedelta(days=3) <= row["day"] <= made.date()
    assert {row["day"].isoformat() for row in rows} >= {"2025-12-29", "2025-12-30", "2025-12-31"}


def test_a_run_goes_on_where_the_last_one_was(spark: SparkSession, tmp_path: Path) -> None:
    """Two runs with a larger number of rows each make what one run makes, and the sink has each row once."""
    script = f"""CREATE STREAM made (id BIGINT, n BIGINT, at TIMESTAMP) WITH (connector = 'datagen', seed = 3,
      rows_per_second = 9, number_of_rows = $rows, start_time = '2026-01-01', fields.id.kind = 'sequence');
    CREATE STREAM kept WITH (connector = 'files', path = '{tmp_path}/$place', format = 'json')
      AS SELECT STREAM id, n, at FROM made;"""

    def write(place: str, rows: int) -> list[str]:
        program = penstock.compile(script.replace("$place", place).replace("$rows", str(rows))).program
        with RuntimeSession(spark, str(tmp_path / f"{place}_checkpoint")) as session:
            session.run_once(program, drain=False)
        return sorted(line for each in (tmp_path / place).glob("*.json") for line in each.read_text().splitlines())

    assert len(write("twice", 40)) == 40
    assert len(write("twice", 40)) == 40
    assert write("twice", 100) == write("once", 100)
    assert len(write("once", 100)) == 100


def test_windows_close_and_all_rows_are_accounted_for(spark: SparkSession) -> None:
    script = """CREATE STREAM made (id BIGINT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '1' SECOND) WITH (
      connector = 'datagen', rows_per_second = 10, number_of_rows = 1000, start_time = '2026-01-01 00:00:00');
    CREATE STREAM counts WITH (connector = 'memory') AS
      SELECT STREAM window_start, COUNT(*) AS n FROM made GROUP BY TUMBLE(at, INTERVAL '10' SECOND);"""
    with RuntimeSession(spark) as session:
        (report,) = session.run_once(penstock.compile(script).program, drain=True)
        assert [row["n"] for row in session.rows("counts")] == [100] * 10
    (account,) = report.inputs
    assert (account.read, account.late, account.used) == (1000, 0, 1000)


def test_a_sequence_ends_the_stream_and_another_one_begins_with_a_second(spark: SparkSession) -> None:
    script = """CREATE STREAM made (id INT, at TIMESTAMP) WITH (connector = 'datagen', rows_per_second = 50 $options);
    CREATE STREAM seen WITH (connector = 'memory') AS SELECT STREAM id, at FROM made;"""
    ended = run(spark, script.replace("$options", ", fields.id.kind = 'sequence', fields.id.end = 7"))
    assert sorted(row["id"] for row in ended) == [1, 2, 3, 4, 5, 6, 7]
    now = datetime.now(UTC)
    assert all(timedelta(0) <= now - row["at"].replace(tzinfo=UTC) < timedelta(minutes=2) for row in ended)
    assert len(run(spark, script.replace("$options", ""))) >= 50


def test_a_sequence_without_an_end_goes_on(spark: SparkSession) -> None:
    """The page of C028 has such a stream. A run that does not go on has the rows of a second, which is just over."""
    page = (ROOT / "docs" / "errors" / "C028.md").read_text(encoding="utf-8")
    script = page.split("## Accepted")[1].split("```sql\n")[1].split("```")[0]
    script = script.replace("tags AS ARRAY(tag)", "made TIMESTAMP, tags AS ARRAY(tag)")
    script = script.replace(
        "SELECT STREAM id,", "CREATE STREAM seen WITH (connector = 'memory', rows = 99999) AS SELECT STREAM id, made,"
    )
    begin = datetime.now(UTC)
    rows = run(spark, script)
    ids = sorted(row["id"] for row in rows)
    assert ids == [*range(1, len(ids) + 1)]
    assert len(ids) % 10_000 == 0
    assert ids
    first = min(row["made"] for row in rows).replace(tzinfo=UTC)
    assert begin - timedelta(seconds=1) <= first <= datetime.now(UTC)


def test_no_rows_are_made_without_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The type of a sequence without an end has 127 numbers. They end the rows, and do not move the first one."""
    now = 1_800_000_000 * datagen.SECOND
    seconds = iter((0, 0, 1, 2, 3, 0, 0))
    clock = SimpleNamespace(time_ns=lambda: (now + next(seconds) * datagen.SECOND) * 1000)
    monkeypatch.setattr(datagen, "time", clock)
    reader = datagen.NumberReader(datagen.RowSchedule(rate=50, most=127))
    begin = reader.initialOffset()
    assert begin["first"] == now - datagen.SECOND
    ends = [reader.latestOffset(begin, ReadAllAvailable())["row"] for _ in range(4)]
    assert ends == [50, 100, 127, 127]
    once = datagen.NumberReader(datagen.RowSchedule(rate=50, most=127))
    once.prepareForTriggerAvailableNow()
    assert once.latestOffset(once.initialOffset(), ReadAllAvailable())["row"] == 50


def test_a_running_query_gets_rows_by_and_by(spark: SparkSession) -> None:
    script = """CREATE STREAM made (id BIGINT) WITH (connector = 'datagen', rows_per_second = 20, number_of_rows = 70,
      fields.id.kind = 'sequence');
    CREATE STREAM seen WITH (connector = 'memory') AS SELECT STREAM id FROM made;"""
    with RuntimeSession(spark) as session:
        (handle,) = session.start(penstock.compile(script).program)
        counts = []
        while len(session.rows("seen")) < 70:
            counts.append(len(session.rows("seen")))
            assert not handle.await_done(0.2)
        handle.stop()
        assert sorted(row["id"] for row in session.rows("seen")) == [*range(1, 71)]
        assert any(0 < count < 70 for count in counts)


def test_print_writes_a_line_for_each_row(
    session: RuntimeSession, place: Place, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    place.put("a", {"id": 1, "v": "x\u001b[2J\ny"}, {"id": 2})
    script = f"""CREATE STREAM orders (id BIGINT, v STRING) WITH (connector = 'files', path = '{place.input}',
      format = 'json');
    CREATE STREAM shown WITH (connector = 'print', print_identifier = 'o') AS
      SELECT STREAM id, v, ARRAY(id, NULL) AS both, id = 1 AS first FROM orders;
    CREATE TABLE counts WITH (connector = 'print') AS SELECT COUNT(*) AS n FROM orders;"""
    session.run_once(penstock.compile(script).program, drain=False)
    lines = capsys.readouterr().out.splitlines()
    shown = [line for line in lines if "[" in line]
    assert sorted(shown) == ["+U[2]", r"o> +I[1, x\x1b[2J\ny, [1, null], true]", "o> +I[2, null, [2, null], false]"]


def test_print_says_what_changes(
    session: RuntimeSession, place: Place, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    script = f"""CREATE STREAM orders (id BIGINT, v INT) WITH (connector = 'files', path = '{place.input}',
      format = 'json', files_per_batch = 1);
    CREATE TABLE few WITH (connector = 'print') AS
      SELECT id, COUNT(*) AS n FROM orders GROUP BY id HAVING COUNT(*) < 2;"""
    place.put("a", {"id": 1, "v": 1}, {"id": 2, "v": 1})
    place.put("b", {"id": 1, "v": 1})
    session.run_once(penstock.compile(script).program, drain=False)
    lines = [line for line in capsys.readouterr().out.splitlines() if "[" in line]
    assert sorted(lines) == ["+I[1, 1]", "+I[2, 1]", "-D[1, 1]"]


def test_a_blackhole_counts_what_it_drops(session: RuntimeSession, place: Place) -> None:
    place.put("a", {"id": 1, "v": 4}, {"id": 2, "v": 5}, {"id": 3, "v": 5})
    script = f"""CREATE STREAM orders (id BIGINT, v INT) WITH (connector = 'files', path = '{place.input}',
      format = 'json');
    CREATE STREAM all_of_them WITH (connector = 'blackhole') AS SELECT STREAM id, v FROM orders WHERE v > 4;
    CREATE TABLE totals WITH (connector = 'blackhole') AS SELECT v, COUNT(*) AS n FROM orders GROUP BY v;"""
    stream, table = session.run_once(penstock.compile(script).program, drain=False)
    assert [(each.inputs[0].read, each.inputs[0].used, each.out) for each in (stream, table)] == [(3, 2, 2), (3, 3, 2)]
