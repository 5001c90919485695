"""Queries of a run to the end: which wait for which, and what becomes of those that run side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from threading import Barrier, Event
from typing import Any, cast

import pytest

from penstock.compilation import compile
from penstock.runtime.checkpoint.check_places import check_places
from penstock.runtime.query.side_by_side import list_waits, run_side_by_side

FILES = "connector = 'files', format = 'json', path = "
DECLARED = f"CREATE STREAM s (k STRING) WITH ({FILES}'in/s'); CREATE STREAM u (k STRING) WITH ({FILES}'in/u');"
PATIENCE = 30  # seconds until a test has failed


def read_from(source: str, name: str, place: str = "connector = 'memory'") -> str:
    return f"CREATE STREAM {name} WITH ({place}) AS SELECT STREAM k FROM {source};"


def waits(*statements: str, readers: Mapping[str, Collection[str]] | None = None) -> list[list[int]]:
    return list_waits(compile(DECLARED + "".join(statements)).program.queries, readers or {})


def test_queries_that_do_not_meet_wait_for_none() -> None:
    assert waits(read_from("s", "a"), read_from("s", "b"), read_from("u", "c", f"{FILES}'out/c'")) == [[], [], []]
    assert waits(read_from("s", "a", f"{FILES}'out/a'"), read_from("s", "b", f"{FILES}'out/b'")) == [[], []]


@pytest.mark.parametrize("readers", [{"a": ["b"]}, {"b": ["a"]}])
def test_a_reader_waits_for_its_writer_or_goes_first_if_it_stands_first(readers: Mapping[str, list[str]]) -> None:
    assert waits(read_from("s", "c"), read_from("s", "a"), read_from("s", "b"), readers=readers) == [[], [], [1]]


def test_places_that_are_not_paths_may_be_the_same_under_two_names() -> None:
    place = "connector = 'kafka', bootstrap_servers = '{}', format = 'json', topic = '{}'"
    declared = f"CREATE STREAM again (k STRING) WITH ({place.format('localhost:9092', 'a')});"
    writes, reads = read_from("s", "a", place.format("127.0.0.1:9092", "a")), read_from("again", "b")
    assert waits(declared, writes, reads, read_from("s", "c")) == [[], [0], []]
    assert waits(declared, reads, writes, read_from("s", "c")) == [[], [0], []]
    assert waits(read_from("s", "a", "connector = 'console'"), read_from("s", "b", "connector = 'console'")) == [
        [],
        [0],
    ]


def test_a_table_is_looked_up_before_or_after_it_changes_but_not_meanwhile() -> None:
    table = "CREATE TABLE t (k STRING PRIMARY KEY, v STRING) WITH (connector = 'sqlite', path = 'd', table = 't');"
    puts = "INSERT INTO t SELECT STREAM k, k AS v FROM s;"
    finds = "CREATE STREAM f WITH (connector = 'memory') AS SELECT STREAM u.k, t.v FROM u JOIN t ON u.k = t.k;"
    assert waits(table, puts, finds) == waits(table, finds, puts) == waits(table, puts, puts) == [[], [0]]


def test_queries_are_kept_apart_by_what_check_places_finds(tmp_path: Path) -> None:
    """Links, rejected rows beside the checkpoint, and intermediate streams."""
    timed = f"CREATE STREAM t (k STRING, at TIMESTAMP, WATERMARK FOR at AS at) WITH ({FILES}'in/t');"
    inner = "SELECT STREAM k, window_start AS at, COUNT(*) AS n FROM t GROUP BY k, TUMBLE(at, 1 MINUTE)"
    outer = f"SELECT STREAM k, window_start, SUM(n) AS n FROM ({inner}) GROUP BY k, TUMBLE(at, 1 HOUR)"
    (tmp_path / "link").symlink_to(tmp_path / "written")
    written, link = (f"{FILES}'{tmp_path}/{name}'" for name in ("written", "link"))
    rejected = f"{FILES}'{tmp_path}/state/w_rejected/s'"
    program = compile(
        f"{DECLARED}{timed}CREATE STREAM o WITH (connector = 'memory') AS {outer};"
        f"CREATE STREAM l (k STRING) WITH ({link}); CREATE STREAM r (k STRING) WITH ({rejected});"
        + read_from("s", "a", written)
        + read_from("l", "b")
        + read_from("s", "w")
        + read_from("r", "x")
    ).program
    storage = cast("Any", PlainStorage())
    assert list_waits(program.queries, check_places(storage, program, str(tmp_path / "state"))) == [
        *([], [0]),
        *([], [2]),
        *([], [4]),
    ]


class PlainStorage:
    """Stands for the storage, where nothing is there."""

    def qualify(self, path: str) -> str:
        return path

    def folder(self, path: str) -> None:
        """It is not made."""


def test_two_run_at_once_and_the_next_waits() -> None:
    met = Barrier(2)
    ended = [Event() for _ in range(4)]

    def work(number: int, _: Event) -> int:
        if number < 2:
            met.wait(PATIENCE)
        if number == 2:
            assert [each.is_set() for each in ended[:2]] == [True, True]
        ended[number].set()
        return number * 10

    assert run_side_by_side([[], [], [0, 1], []], work) == [0, 10, 20, 30]


def halts_when(happens: Callable[[int], None], stopping: Event | None = None) -> tuple[list[int], list[int]]:
    """Runs three, of which the first waits until it is told to halt. Returns which began, and which were halted."""
    begun, halted = [], []

    def work(number: int, halt: Event) -> None:
        begun.append(number)
        happens(number)
        assert halt.wait(PATIENCE)
        halted.append(number)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt if stopping is not None else ValueError):
        run_side_by_side([[], [], []], work, stopping)
    return sorted(begun), sorted(halted)


def test_a_failure_halts_the_one_beside_it_and_starts_no_other() -> None:
    def fail(number: int) -> None:
        if number == 1:
            raise ValueError

    assert halts_when(fail) == ([0, 1], [0])


def test_a_stop_halts_those_that_run() -> None:
    stopping, both = Event(), Barrier(2)

    def stop(_: int) -> None:
        both.wait(PATIENCE)
        stopping.set()

    assert halts_when(stop, stopping) == ([0, 1], [0, 1])
