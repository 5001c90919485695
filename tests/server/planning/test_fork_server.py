"""Jobs in processes of their own: slow, large and broken ones end, and others go on."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import socket
import time
from collections.abc import Iterator

import pytest

from penstock.server.planning.fork_client import ForkClient, Outcome
from penstock.server.planning.fork_server import ForkServer
from penstock.server.planning.job_messages import Done, Ended, News


class OddJobs:
    """Does what it is told."""

    def __init__(self) -> None:
        self.known: list[object] = []

    def note(self, news: object) -> None:
        if news == "wrong":
            raise ValueError
        self.known.append(news)

    def run(self, work: object) -> object:
        match work:
            case "spin":
                while True:
                    pass
            case "sleep":
                time.sleep(60)
            case "regex":  # holds Python's lock
                re.match(r"(a+)+$", "a" * 60 + "b")
            case "memory":
                return [bytearray(1 << 26) for _ in range(100)]
            case "deep":
                return deep(0)
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "fault":
                raise ZeroDivisionError
            case "nest":
                nested: list[object] = []
                for _ in range(5000):
                    nested = [nested]
                return nested
            case "ignore":
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGALRM])
                while True:
                    pass
        return work, self.known


def deep(level: int) -> int:
    return deep(level + 1) + 1


def serve(plug: socket.socket, other: socket.socket) -> None:
    other.close()
    ForkServer(plug, OddJobs()).serve()


class OddClient(ForkClient):
    """A client of the planner above."""

    def _start(self) -> None:
        self._plug, other = socket.socketpair()
        self._plug.setblocking(False)
        self.served = multiprocessing.get_context("spawn").Process(target=serve, args=(other, self._plug), daemon=True)
        self.served.start()
        other.close()
        self._received, self._unsent = bytearray(), bytearray()
        self._heard = time.monotonic()
        for news in self._tell():
            self._send(News(news))


@pytest.fixture
def client() -> Iterator[OddClient]:
    made = OddClient("checks", lambda: ["told"])
    yield made
    made.close()
    made.served.join(10)
    assert made.served.exitcode is not None


def wait_for(client: ForkClient, *numbers: int, seconds: float = 30) -> dict[int, Outcome]:
    found: dict[int, Outcome] = {}
    ends = time.monotonic() + seconds
    while not found.keys() >= set(numbers):
        assert time.monotonic() < ends, found
        found |= dict(client.poll())
        time.sleep(0.005)
    return found


@pytest.mark.parametrize("work", ["spin", "sleep", "regex", "ignore"])
def test_a_job_that_takes_too_long(client: OddClient, work: str) -> None:
    """Those of others are done meanwhile, and later ones as well."""
    began = time.monotonic()
    slow = client.submit("eve", work, 2)
    other = client.submit("ada", "x", 10)
    assert wait_for(client, other, seconds=1.9)[other] == Done(("x", ["told"]))
    assert wait_for(client, slow)[slow] == Ended("time")
    assert 1.9 < time.monotonic() - began < 15
    later = client.submit("eve", "y", 10)
    assert wait_for(client, later)[later] == Done(("y", ["told"]))


@pytest.mark.parametrize(
    ("work", "because"), [("memory", "memory"), ("crash", "memory"), ("fault", "fault"), ("deep", "fault")]
)
def test_why_a_job_has_ended(client: OddClient, work: str, because: str) -> None:
    number = client.submit("eve", work, 20)
    ended = wait_for(client, number)[number]
    assert isinstance(ended, Ended)
    assert ended.because == because


def test_an_owner_has_its_share(client: OddClient) -> None:
    many = [client.submit("eve", "spin", 2) for _ in range(6)]
    began = time.monotonic()
    other = client.submit("ada", "x", 10)
    assert wait_for(client, other, seconds=1.9)[other] == Done(("x", ["told"]))
    assert time.monotonic() - began < 1.9
    assert all(isinstance(each, Ended) for each in wait_for(client, *many, seconds=60).values())


def test_news_are_known_to_later_jobs(client: OddClient) -> None:
    first = client.submit("ada", 1, 10)
    assert wait_for(client, first)[first] == Done((1, ["told"]))
    client.note("more")
    client.note("wrong")
    second = client.submit("ada", 2, 10)
    assert wait_for(client, second)[second] == Done((2, ["told", "more"]))


def test_deep_outcomes_arrive(client: OddClient) -> None:
    number = client.submit("ada", "nest", 10)
    assert isinstance(wait_for(client, number)[number], Done)


def test_a_process_that_ends_is_started_anew(client: OddClient) -> None:
    lost = client.submit("ada", "sleep", 30)
    assert client.served.pid is not None
    os.kill(client.served.pid, signal.SIGKILL)
    assert isinstance(wait_for(client, lost)[lost], Ended)
    again = client.submit("ada", "x", 10)
    assert wait_for(client, again)[again] == Done(("x", ["told"]))


def test_a_process_that_says_nothing_is_started_anew(client: OddClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.server.planning.fork_client.SILENT_SECONDS", 2)
    lost = client.submit("ada", "sleep", 30)
    client.poll()
    assert client.served.pid is not None
    os.kill(client.served.pid, signal.SIGSTOP)
    stopped = client.served
    assert isinstance(wait_for(client, lost)[lost], Ended)
    stopped.kill()
    stopped.join()
    again = client.submit("ada", "x", 10)
    assert wait_for(client, again)[again] == Done(("x", ["told"]))


def test_jobs_end_with_their_server(client: OddClient) -> None:
    client.submit("ada", "spin", 60)
    client.submit("ada", "spin", 60)
    time.sleep(0.5)
    client.close()
    client.served.join(10)
    assert client.served.exitcode == 0
