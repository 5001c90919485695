"""Rows that arrive otherwise give the same result, and if not, the shortest list of rows is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from penstock.evaluator import Row, incremental
from penstock.evaluator.incremental import WindowState
from tests.penstock.testing.shop import explain_one, run_one

GIVEN = """
GIVEN orders (id, price, time) VALUES (1, 5, '0:00'), (2, 5, '0:59'), (3, 5, '2:30'), (4, 5, '2:25'), (5, 5, NULL);
GIVEN END;
"""
TRUE = "THEN per_minute (n) VALUES (2), (2);"


class Forgetful(WindowState):
    """Windows that see the first row of each micro-batch alone."""

    def step(self, tables: list[list[Row]], watermark: datetime) -> Iterator[Row]:
        return super().step([tables[0][:1]], watermark)


class Latest(WindowState):
    """Windows that lose a row which comes behind a later one, although it is not late."""

    newest = datetime.min

    def step(self, tables: list[list[Row]], watermark: datetime) -> Iterator[Row]:
        kept = [row for row in tables[0] if row["time"] >= self.newest]
        self.newest = max([self.newest, *(row["time"] for row in kept)])
        return super().step([kept], watermark)


def test_a_right_script_passes(tmp_path: Path) -> None:
    assert run_one(tmp_path, GIVEN + TRUE) == []


def test_rows_that_depend_on_micro_batches_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "WindowState", Forgetful)
    text = f"{GIVEN} THEN per_minute (n) VALUES (1);"
    assert run_one(tmp_path, text) == ["T115"]
    shown = explain_one(tmp_path, text)
    assert "the rows of per_minute depend on where micro-batches begin" in shown
    assert shown.count("GIVEN orders (id, price, time)") == 2, "two rows are enough"


def test_rows_that_depend_on_their_order_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "WindowState", Latest)
    rows = ", ".join(f"({number}, 5, '0:{50 + number // 2}')" for number in range(20))
    text = f"GIVEN orders (id, price, time) VALUES {rows}; GIVEN END; THEN per_minute (n) VALUES (20);"
    assert run_one(tmp_path, text) == ["T115"]
    assert "the order in which rows arrive" in explain_one(tmp_path, text)


def test_lookups_and_changelogs_keep_their_order(tmp_path: Path) -> None:
    text = """GIVEN products VALUES ('lamp', 'red'); GIVEN orders (id, product, time) VALUES (1, 'lamp', '0:00');
    GIVEN products VALUES ('lamp', 'blue');
    THEN coloured VALUES (1, 'blue');
    GIVEN products VALUES ('lamp', 'green');
    GIVEN orders (id, product, time) VALUES (2, 'lamp', '0:00');
    THEN coloured VALUES (2, 'green');"""
    assert run_one(tmp_path, text) == []
