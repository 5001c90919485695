"""Work in steps: what it waits for is done in other threads, and its names are its own meanwhile."""

from __future__ import annotations

from threading import Event

import pytest

from penstock.server.running.steps import Steps, Works, await_steps


def test_results_and_errors_reach_the_work() -> None:
    works = Works(lambda: None)
    told: list[object] = []

    def fail() -> None:
        raise ValueError("away")

    def work() -> Steps[int]:
        told.append((yield works.submit(lambda: 7)))
        try:
            yield works.submit(fail)
        except ValueError as error:
            told.append(str(error))
        return 3

    assert await_steps(work()) == 3
    assert told == [7, "away"]
    with pytest.raises(ValueError, match="away"):
        await_steps(item for item in [works.submit(fail)])
    works.end([work(), work()])
    assert told[2:] == [7, 7, "away", "away"] or told[2:] == [7, "away", 7, "away"]


def test_work_goes_on_when_it_waits_no_more() -> None:
    woken, free = Event(), Event()
    works = Works(woken.set)
    ended: list[str] = []

    def work() -> Steps[None]:
        yield works.submit(lambda: free.wait(30))
        ended.append("a")

    works.begin(work(), frozenset({"a"}), frozenset({"s"}))
    works.go_on()
    assert ended == []
    assert works.forbid(frozenset({"a"})), "it is being made"
    assert works.forbid(frozenset(), frozenset({"a"})), "it is not there yet"
    assert works.forbid(frozenset({"s"})), "it is read"
    assert not works.forbid(frozenset({"b"}), frozenset({"s"})), "both read it"
    free.set()
    assert woken.wait(30)
    works.go_on()
    assert ended == ["a"]
    assert not works.forbid(frozenset({"a", "s"}))


def test_work_that_fails_is_not_kept() -> None:
    works = Works(lambda: None)

    def work() -> Steps[None]:
        yield from ()
        raise ValueError("at once")

    with pytest.raises(ValueError, match="at once"):
        works.begin(work(), frozenset({"a"}))
    assert not works.forbid(frozenset({"a"}))
