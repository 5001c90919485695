"""A query that is built beside the one in force: its rounds, its failures, its end. Spark is a fake."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, cast

import pytest

from penstock import codegen
from penstock.diagnostics.codes.running import R020
from penstock.runtime import RunError, RuntimeSession
from penstock.server.running import building_query
from penstock.server.running.building_query import BuildingQuery
from penstock.server.running.live_query import RestartPolicy
from penstock.server.running.live_script import LiveScript
from penstock.server.running.steps import await_steps
from tests.server.running.scripts import HOME, HOURS, declare_clicks, tell

POLICY = RestartPolicy(attempts=1, window=600, pauses=(0.0,))


class FakeSession:
    """Each round does what the next action says; without one it ends at once."""

    def __init__(self, *actions: Callable[[Event], None]) -> None:
        self.actions = list(actions)
        self.rounds = self.closed = 0

    def run_once(self, _: Any, *, drain: bool, progress: Any, stopping: Event) -> None:
        assert not drain
        self.rounds += 1
        if self.actions:
            self.actions.pop(0)(stopping)

    def close(self) -> None:
        self.closed += 1


def fail(_: Event) -> None:
    raise RunError([R020.at(None, query="hourly", reason="division by zero in hourly")])


def last(seconds: float) -> Callable[[Event], None]:
    return lambda _: time.sleep(seconds)


def wait_until_stopped(stopping: Event) -> None:
    assert stopping.wait(20)
    raise KeyboardInterrupt


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def make(pool: ThreadPoolExecutor, session: FakeSession) -> BuildingQuery:
    script = LiveScript(HOME)
    tell(script, declare_clicks())
    definition = tell(script, HOURS)
    program = codegen.lower(definition.queries)
    return BuildingQuery(definition, lambda: cast(RuntimeSession, session), program, pool.submit, POLICY)


def look_until(query: BuildingQuery, condition: Callable[[], bool]) -> None:
    """Looks at the query as the engine does."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, query.state
        steps = query.look()
        if steps is not None:
            await_steps(steps)
        time.sleep(0.01)


def test_rounds_go_on_until_one_is_short(pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building_query, "ROUND_SECONDS", 0.1)
    session = FakeSession(last(0.2), last(0.2), last(0))
    query = make(pool, session)
    assert query.name == "hourly (new)"
    await_steps(query.start())
    look_until(query, lambda: query.is_caught_up)
    assert (session.rounds, session.closed) == (3, 1)


def test_there_is_a_last_round(pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building_query, "ROUND_SECONDS", -1)
    session = FakeSession()
    query = make(pool, session)
    await_steps(query.start())
    look_until(query, lambda: query.is_caught_up)
    assert session.rounds == building_query.MOST_ROUNDS


def test_a_query_that_fails_at_once_is_refused(pool: ThreadPoolExecutor) -> None:
    query = make(pool, FakeSession(fail))
    with pytest.raises(RunError, match="R020"):
        await_steps(query.start())
    assert query.state == "STOPPED"


def test_a_query_that_fails_later_is_tried_again_and_then_held(
    pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building_query, "START_SECONDS", 0.01)

    def fail_late(stopping: Event) -> None:
        time.sleep(0.1)
        fail(stopping)

    session = FakeSession(fail_late, fail_late, last(0))
    query = make(pool, session)
    await_steps(query.start())
    look_until(query, lambda: query.state == "HELD")
    assert (session.rounds, query.restarts, session.closed) == (2, 1, 2)
    [reason] = query.list_reasons()
    assert reason.cause == "replacing"
    assert reason.text.startswith(
        "The new query of hourly does not run, and readers see the old one: The query has been held"
    )
    assert "R020: division by zero in hourly" in reason.text
    assert reason.text.endswith("DROP QUERY `hourly (new)` gives it up.")
    await_steps(query.resume())
    look_until(query, lambda: query.is_caught_up)


def test_a_round_is_stopped_in_the_middle_and_begun_again(
    pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building_query, "START_SECONDS", 0.01)
    session = FakeSession(wait_until_stopped, last(0))
    query = make(pool, session)
    await_steps(query.start())
    assert query.state == "RUNNING"
    assert "has been built for" in query.describe().text
    await_steps(query.pause())
    assert (query.state, query.look(), session.closed) == ("PAUSED", None, 1)
    assert "has been paused" in query.describe().text
    await_steps(query.resume())
    look_until(query, lambda: query.is_caught_up)
