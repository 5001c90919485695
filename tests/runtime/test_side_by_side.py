"""Queries of a run to the end: which wait for which, and what becomes of those that run side by side."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Event

import pytest

from penstock.compilation import compile
from penstock.runtime.side_by_side import list_waits, run_side_by_side

FILES = "connector = 'files', format = 'json', path = "
DECLARED = f"CREATE STREAM s (k STRING) WITH ({FILES}'in/s'); CREATE STREAM u (k STRING) WITH ({FILES}'in/u');"
PATIENCE = 30  # seconds until a test has failed


def read_from(source: str, name: str, place: str = "connector = 'memory'") -> str:
    return f"CREATE STREAM {name} WITH ({place}) AS SELECT STREAM k FROM {source};"


def waits(*statements: str) -> list[list[int]]:
    return list_waits(compile(DECLARED + "".join(statements)).program.queries)


def test_queries_that_do_not_meet_wait_for_none() -> None:
    assert waits(read_from("s", "a"), read_from("s", "b"), read_from("u", "c", f"{FILES}'out/c'")) == [[], [], []]
    assert waits(read_from("s", "a", f"{FILES}'out/a'"), read_from("s", "b", f"{FILES}'out/ab'")) == [[], []]


@pytest.mark.parametrize(
    "path", ["out/a", "out", "out/a/x", "./out/a/", "out/*", "o?t/b", "out/a_rejected", "file:{}/out/a"]
)
def test_a_reader_of_files_waits_for_what_is_written_there(path: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    here = tmp_path_factory.mktemp("here")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        declared = f"CREATE STREAM again (k STRING) WITH ({FILES}'{path.format(here)}');"
        assert waits(read_from("s", "a", f"{FILES}'out/a'"), declared, read_from("again", "b")) == [[], [0]]


def test_places_that_are_not_paths_may_be_the_same_under_two_names() -> None:
    place = "connector = 'kafka', bootstrap_servers = '{}', format = 'json', topic = '{}'"
    declared = f"CREATE STREAM again (k STRING) WITH ({place.format('localhost:9092', 'a')});"
    writes = read_from("s", "a", place.format("127.0.0.1:9092", "a"))
    assert waits(writes, declared, read_from("again", "b"), read_from("s", "c")) == [[], [0], []]
    assert waits(read_from("s", "a", "connector = 'console'"), read_from("s", "b", "connector = 'console'")) == [
        [],
        [0],
    ]


def test_a_reader_of_an_intermediate_stream_waits_for_its_writer() -> None:
    timed = f"CREATE STREAM t (k STRING, at TIMESTAMP, WATERMARK FOR at AS at) WITH ({FILES}'in/t');"
    inner = "SELECT STREAM k, window_start AS at, COUNT(*) AS n FROM t GROUP BY k, TUMBLE(at, 1 MINUTE)"
    outer = f"SELECT STREAM k, window_start, SUM(n) AS n FROM ({inner}) GROUP BY k, TUMBLE(at, 1 HOUR)"
    found = waits(timed, f"CREATE STREAM o WITH (connector = 'memory') AS {outer};", read_from("s", "a"))
    assert found == [[], [0], []]


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
        run_side_by_side([[], [], [1]], work, stopping)
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
