"""What is said where a query cannot begin in a folder: each advice leads out, and not to the next refusal."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.codegen.program import SparkQuery
from penstock.diagnostics.codes.running import R014
from penstock.runtime.checkpoint.checkpoint import refusal
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.connectors.files import FilesSink
from penstock.runtime.failure.errors import BEGIN_ANEW, RunError, check_all

OVERWRITE = "add --overwrite, which removes these rows, or take another path"


class Logs:
    """A storage that knows the newest batch in each log, and nothing else."""

    def __init__(self, **newest: int) -> None:
        self._newest = newest

    def is_file(self, path: str) -> bool:
        return False

    def newest(self, log: str) -> int:
        return self._newest.get(log.rpartition("/")[2], -1)


def hint_of(place: str | None, **newest: int) -> str | None:
    query = cast(SparkQuery, SimpleNamespace(output=SimpleNamespace(folder="/out", name="out")))
    with pytest.raises(RunError) as refused:
        FilesSink(query).check(cast(Storage, Logs(**newest)), place, -1)
    (found,) = refused.value.diagnostics
    assert (found.code, found.message) == (R014.id, "folder holds the rows of an earlier run: /out")
    return found.hint


def test_a_new_checkpoint_takes_another_path() -> None:
    hint = f"{OVERWRITE}, or give the --checkpoint of the earlier run, if it had one"
    assert hint_of("/state/out", _spark_metadata=0) == hint


def test_a_reset_takes_another_path() -> None:
    assert hint_of(None, _spark_metadata=0) == OVERWRITE


def test_an_older_checkpoint_begins_anew() -> None:
    """With another path it would belong to another query, and without the folder its log would be lost."""
    assert hint_of("/state/out", _spark_metadata=3, offsets=1) == f"restore the newest checkpoint, or {BEGIN_ANEW}"


def test_a_changed_query_is_told_of_the_folders() -> None:
    past: dict[str, Any] = {
        "fingerprint": "1",
        "inputs": [],
        "views": {},
        "output": "files /out",
        "mode": "append",
        "partitions": None,
    }
    past |= {"spark": "4.3", "store": None, "contract_views": []}
    found = refusal(past, past | {"fingerprint": "2"}, "/state/out")
    assert found is not None
    assert (found.code, found.hint) == ("R010", f"undo the change, or {BEGIN_ANEW}")
    assert "--overwrite" in BEGIN_ANEW


def test_all_folders_are_named_at_once() -> None:
    def refuse(path: str) -> None:
        raise RunError([R014.at(None, path=path)])

    with pytest.raises(RunError) as refused:
        check_all([partial(refuse, "/out"), lambda: None, partial(refuse, "/out_rejected/orders")])
    assert [each.message.rpartition(" ")[2] for each in refused.value.diagnostics] == ["/out", "/out_rejected/orders"]
