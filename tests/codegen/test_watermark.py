"""The watermark in force is that of the micro-batch and of the query, or an error: never that of 1970."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock.codegen import folder_name
from penstock.codegen.ejected.watermark import watermark_of

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint of the query `mine` before its micro-batch 1."""
    folder = tmp_path / "a %2F b"
    (folder / "offsets").mkdir(parents=True)
    (folder / "metadata").write_text('{"id":"mine"}')
    for batch, moment in ((0, datetime(1970, 1, 1, tzinfo=UTC)), (1, MOMENT)):
        line = f'{{"batchWatermarkMs":{int(moment.timestamp() * 1000)},"batchTimestampMs":1}}'
        (folder / "offsets" / str(batch)).write_text(f"v1\n{line}\n-")
    return folder


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_it_is_that_of_the_micro_batch(checkpoint: Path, scheme: str) -> None:
    assert watermark_of(f"{scheme}{checkpoint}", "1", "mine") == MOMENT
    assert watermark_of(f"{scheme}{checkpoint}", "0", "mine").year == 1970


@pytest.mark.parametrize(("batch", "query"), [("2", "mine"), ("1", "other"), (None, "mine"), ("1", None)])
def test_no_other_is_taken_for_it(checkpoint: Path, batch: str | None, query: str | None) -> None:
    with pytest.raises(LookupError, match=r"^no watermark in "):
        watermark_of(str(checkpoint), batch, query)


@pytest.mark.parametrize("place", ["/nowhere", "file:/nowhere", "nowhere://host/x"])
def test_a_folder_that_a_worker_cannot_see_is_an_error(place: str) -> None:
    with pytest.raises(LookupError, match=r"^no watermark in "):
        watermark_of(place, "1", "mine")


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
