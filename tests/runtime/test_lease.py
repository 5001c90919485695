"""Leases in a store that many processes see: one holder at a time, whatever order their calls come in."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from penstock.runtime import RunError
from penstock.runtime.checkpoint.lease import Term, lease

PLACE = "s3a://bucket/state/q"
FOLDER = f"{PLACE}/lock"
QUICK = Term(length=0.5, renewal=0.02, patience=0.2)


class Store:
    """Files in memory. `is_exclusive`: whether it refuses to make a file that is there."""

    def __init__(self, is_exclusive: bool = True) -> None:
        self.files: dict[str, str] = {}
        self.is_exclusive = is_exclusive
        self.is_away = False
        self._mutex = threading.Lock()

    def names(self, folder: str) -> list[str]:
        self._answer()
        return [path.rpartition("/")[2] for path in list(self.files) if path.rpartition("/")[0] == folder]

    def read(self, path: str) -> str | None:
        self._answer()
        return self.files.get(path)

    def create(self, path: str, text: str) -> bool:
        self._answer()
        with self._mutex:
            if self.is_exclusive and path in self.files:
                return False
            self.files[path] = text
            return True

    def publish(self, path: str, text: str) -> None:
        self._answer()
        self.files[path] = text

    def delete(self, path: str) -> None:
        self._answer()
        self.files.pop(path, None)

    def _answer(self) -> None:
        if self.is_away:
            raise OSError("the store is away")


def hold(
    store: Store, host: str, losses: list[RunError], has_ended: Callable[[dict[str, Any]], bool] = lambda _: False
) -> Any:
    return lease(store, FOLDER, {"host": host, "python": [7, 0]}, has_ended, losses.append, QUICK)


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_epochs_grow_from_holder_to_holder() -> None:
    store, losses = Store(), list[RunError]()
    for epoch in (1, 2, 3):
        with hold(store, "a", losses) as mine:
            assert mine == epoch
        assert list(store.files) == [f"{FOLDER}/{epoch}"]
    assert losses == []


def test_one_that_is_renewed_is_not_taken() -> None:
    store, losses = Store(), list[RunError]()
    with hold(store, "a", losses), pytest.raises(RunError) as refused, hold(store, "b", losses):
        pass
    (found,) = refused.value.diagnostics
    assert (found.code, found.detail) == ("R012", "the process runs on a")
    assert PLACE in found.message
    assert losses == []


def test_that_of_a_killed_process_is_taken_after_a_term() -> None:
    store = Store()
    store.files[f"{FOLDER}/4"] = json.dumps({"host": "gone", "python": [1, 0], "beat": 9})
    begun = time.monotonic()
    with hold(store, "b", []) as epoch:
        assert epoch == 5
    assert time.monotonic() - begun >= QUICK.length


@pytest.mark.parametrize("text", ["", "{", "[]", '{"host": "gone"}'])
def test_a_damaged_file_is_no_sign_of_life(text: str) -> None:
    store = Store()
    store.files[f"{FOLDER}/4"] = text
    with hold(store, "b", []) as epoch:
        assert epoch == 5


def test_that_of_a_process_known_to_have_ended_is_taken_at_once() -> None:
    store = Store()
    store.files[f"{FOLDER}/1"] = json.dumps({"host": "b", "python": [1, 0], "beat": 9})
    begun = time.monotonic()
    with hold(store, "b", [], lambda held: held["python"] == [1, 0]) as epoch:
        assert epoch == 2
    assert time.monotonic() - begun < QUICK.length


def test_a_holder_that_was_asleep_learns_of_its_loss() -> None:
    store, losses = Store(), list[RunError]()
    with hold(store, "a", losses):
        store.files[f"{FOLDER}/2"] = json.dumps({"host": "b", "python": [8, 0], "beat": 0})
        wait_for(lambda: bool(losses))
    (found,) = losses[0].diagnostics
    assert found.code == "R018"
    assert "another process has taken it" in found.message
    assert json.loads(store.files[f"{FOLDER}/2"])["host"] == "b"


def test_a_holder_whose_store_is_away_gives_up_before_others_may_take_it() -> None:
    store, losses = Store(), list[RunError]()
    with hold(store, "a", losses):
        store.is_away, begun = True, time.monotonic()
        wait_for(lambda: bool(losses))
        assert time.monotonic() - begun < QUICK.length
    assert "could not be renewed" in losses[0].diagnostics[0].message


def test_a_store_that_makes_a_file_twice_is_refused() -> None:
    with pytest.raises(RunError) as refused, hold(Store(is_exclusive=False), "a", []):
        pass
    assert refused.value.diagnostics[0].code == "R019"


def test_of_many_at_once_one_holds_it() -> None:
    store, held, refused = Store(), list[int](), list[str]()
    start, done = threading.Barrier(8), threading.Event()

    def contend(number: int) -> None:
        with ExitStack() as resources:
            start.wait()
            try:
                held.append(resources.enter_context(hold(store, f"host-{number}", [])))
            except RunError as error:
                refused.append(error.diagnostics[0].code)
            done.wait()

    threads = [threading.Thread(target=contend, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    wait_for(lambda: len(held) + len(refused) == 8)
    done.set()
    for each in threads:
        each.join()
    assert held == [1]
    assert refused == ["R012"] * 7
