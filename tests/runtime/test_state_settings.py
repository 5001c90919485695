"""What a session is told of a query's state, and what a checkpoint says to another number of partitions. No JVM."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.codegen.program import FORMAT_SETTING, PARTITIONS_SETTING, SparkQuery
from penstock.compilation import compile
from penstock.runtime.checkpoint.checkpoint import describe_query, refusal
from penstock.runtime.query.query_sessions import configure

SQL = """CREATE STREAM a (k BIGINT KEY, time TIMESTAMP, WATERMARK FOR time AS time - 10 SEC)
WITH (connector = 'files', path = 'a', format = 'json', partitions = {count});
SELECT STREAM l.k FROM a l JOIN a r ON l.k = r.k AND r.time BETWEEN l.time AND l.time + 1 MIN;
"""


def query(count: int) -> SparkQuery:
    (found,) = compile(SQL.format(count=count)).program.queries
    return found


def test_every_query_tells_the_session_its_own_number() -> None:
    told: dict[str, str] = {}
    session: Any = SimpleNamespace(conf=SimpleNamespace(set=told.__setitem__))
    for count in (8, 16, 4):
        configure(session, query(count))
        assert told[PARTITIONS_SETTING] == str(count)
    stateless = replace(query(8), store=None, partitions=None)
    configure(session, stateless)
    assert told[PARTITIONS_SETTING] == "4"


def test_a_query_in_micro_batches_does_not_take_the_form_of_one_in_real_time() -> None:
    told: dict[str, str] = {}
    session: Any = SimpleNamespace(conf=SimpleNamespace(set=told.__setitem__))
    for real_time, form in ((5_000, "2"), (None, "1")):
        configure(session, replace(query(8), real_time=real_time))
        assert told[FORMAT_SETTING] == form


def test_a_checkpoint_with_the_same_number_is_taken() -> None:
    assert refusal(describe_query(query(8)), describe_query(query(8)), "here") is None


def test_a_checkpoint_with_another_number_is_refused_with_both() -> None:
    found = refusal(describe_query(query(8)), describe_query(query(16)), "here")
    assert found is not None
    assert found.code == "R010"
    assert found.detail == "changed since it was made: its state had 8 partitions and would have 16"
    assert "EXPLAIN PARTITIONS" in cast(str, found.hint)


@pytest.mark.parametrize("key", ["fingerprint", "views"])
def test_a_checkpoint_of_an_earlier_version_says_what_it_can(key: str) -> None:
    past = describe_query(query(8))
    del past["partitions"]
    past[key] = "other" if key == "fingerprint" else {}
    past["fingerprint"] = "other"
    found = refusal(past, describe_query(query(16)), "here")
    assert found is not None
    assert "partitions" not in cast(str, found.hint)


def test_a_checkpoint_of_a_query_without_state_says_so() -> None:
    past = describe_query(replace(query(8), store=None, partitions=None, fingerprint="other"))
    found = refusal(past, describe_query(query(8)), "here")
    assert found is not None
    assert "it kept no state and would keep some" in cast(str, found.detail)
    assert "None" not in f"{found.detail} {found.hint}"
