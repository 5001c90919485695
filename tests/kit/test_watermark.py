"""The watermark in force is that of the micro-batch and of the query, or an error: never that of 1970."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock.codegen.folders import folder_name
from penstock.kit.watermark import watermark_of

MOMENT = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)


def read(path: str) -> str:
    return Path(path).read_text()


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint of the query `mine` before its micro-batch 1."""
    folder = tmp_path / "a %2F b"
    (folder / "offsets").mkdir(parents=True)
    (folder / "metadata").write_text('{"id":"mine"}')
    for batch, moment in ((0, 0), (1, MOMENT)):
        line = f'{{"batchWatermarkMs":{moment},"batchTimestampMs":1}}'
        (folder / "offsets" / str(batch)).write_text(f"v1\n{line}\n-")
    return folder


def test_it_is_that_of_the_micro_batch(checkpoint: Path) -> None:
    assert watermark_of(read, str(checkpoint), "1", "mine") == MOMENT
    assert watermark_of(read, str(checkpoint), "0", "mine") == 0


@pytest.mark.parametrize(("batch", "query"), [("2", "mine"), ("1", "other"), (None, "mine"), ("1", None)])
def test_no_other_is_taken_for_it(checkpoint: Path, batch: str | None, query: str | None) -> None:
    with pytest.raises(LookupError, match=r"^no watermark in "):
        watermark_of(read, str(checkpoint), batch, query)


def test_a_folder_that_is_not_there_is_an_error() -> None:
    with pytest.raises(LookupError, match=r"^no watermark in "):
        watermark_of(read, "/nowhere", "1", "mine")


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("orders_2", "orders_2"),
        ("größe-1.x", "größe-1.x"),
        ("../../x", "%2E.%2F..%2Fx"),
        ("..", "%2E."),
        ("a b*{%\n€", "a%20b%2A%7B%25%0A%E2%82%AC"),
    ],
)
def test_a_name_is_one_part_of_a_path(name: str, folder: str) -> None:
    assert folder_name(name) == folder
