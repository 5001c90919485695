"""Spark's own list of errors about streams, state and checkpoints: each has a code of ours, or a reason why not."""

from __future__ import annotations

import json
import re
import zipfile
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from penstock.runtime.failure import storage_failures
from penstock.runtime.failure.failures import find_rule
from penstock.runtime.failure.layers import Layer

ABOUT = re.compile(
    r"(STREAM|STATE_|CHECKPOINT_|CONCURRENT_|STDS_|CANNOT_(LOAD_STATE|LOAD_CHECKPOINT|WRITE_STATE|RESTORE_PERM)"
    r"|FAILED_RENAME|RENAME_SRC|TASK_WRITE)"
)
ELSEWHERE = {
    r"STATEFUL_|STATE_STORE_(CANNOT_|HANDLE_|INCORRECT_|NULL_TYPE|VARIABLE_SIZE|UNSUPPORTED_)": "not called",
    r"STATE_STORE_(INVALID_PROVIDER|PROVIDER_|CHECKPOINT_IDS_NOT_SUPPORTED)": "settings that users cannot change",
    r"STATE_STORE_(INVALID_STATE_MACHINE|OPERATION_OUT_OF_ORDER|UNEXPECTED_EMPTY)": "faults of Spark's own",
    r"CANNOT_LOAD_STATE_STORE\.UNRELEASED_THREAD_ERROR": "a fault of Spark's own: a task that does not end",
    r"STATE_REPARTITION_|STATE_REWRITER_|STDS_": "told to who calls Spark's tools for state; no query does",
    r"STREAMING_(ASYNC_|OUTPUT_MODE|SHUFFLE_)": "modes that Penstock does not use, and transport between tasks",
    r"STREAMING_REAL_TIME_MODE": "the planner refuses such queries, and state in the other form is R084",
    r"STREAMING_QUERY_EVOLUTION_ERROR": "names are given as the checkpoint has them; what is not there is R050",
    r"STREAM_FAILED|STREAM_STREAM_JOIN_INCOMPATIBLE": "a frame around the fact; the settings of Spark's own join",
    r"CHECKPOINT_RDD_BLOCK": "not about streams",
}
CODES = {
    "STREAMING_UNFINISHED_REPARTITION_DETECTED": "R058",
    "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS": "R054",
    "CANNOT_LOAD_STATE_STORE.HDFS_STORE_PROVIDER_OUT_OF_MEMORY": "R059",
    "STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED": "R054",
    "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE": "R010",
    "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA": "R010",
    "CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED": "R050",
    "STREAMING_CHECKPOINT_LOG_WRITE_FAILURE.OFFSET_LOG": "R057",
    "CONCURRENT_STREAM_LOG_UPDATE": "R015",
    "STREAMING_CHECKPOINT_MISSING_METADATA_FILE": "R050",
    "STREAMING_PYTHON_RUNNER_INITIALIZATION_FAILURE": "R047",
}


def list_conditions() -> list[str]:
    """The names in the archive of Spark that is installed, without starting it."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    (archive,) = Path(spec.origin).parent.glob("jars/spark-common-utils_*.jar")
    with zipfile.ZipFile(archive) as opened:
        conditions = json.loads(opened.read("error/error-conditions.json"))
    return [
        ".".join(filter(None, (name, part)))
        for name, condition in conditions.items()
        if ABOUT.match(name)
        for part in condition.get("subClass", {"": None})
    ]


def code_of(condition: str, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """The code of the finding for a query that such an error has ended."""
    layer = Layer(condition, {"batchId": "7"}, "", f"told of file:/state/q/offsets/7: {condition}", "")
    monkeypatch.setattr(storage_failures, "list_layers", lambda error: iter([layer]))
    monkeypatch.setattr(storage_failures, "_find_damaged_state", lambda *_: None)
    found = storage_failures.explain_storage(ValueError(), "q", MagicMock(), "file:/state/q", [])
    rule = find_rule(condition)
    if found is None and rule is not None:
        found = rule(layer, [], "q")
    return None if found is None else found.code


def test_each_condition_has_a_code_or_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    conditions = list_conditions()
    assert len(conditions) > 100
    unknown = [
        each
        for each in conditions
        if code_of(each, monkeypatch) in (None, "R099") and not any(re.match(known, each) for known in ELSEWHERE)
    ]
    assert unknown == []
    assert [known for known in ELSEWHERE if not any(re.match(known, each) for each in conditions)] == []


@pytest.mark.parametrize("condition", CODES)
def test_a_condition_that_users_bring_about_has_its_code(condition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert condition in list_conditions()
    assert code_of(condition, monkeypatch) == CODES[condition]
