"""Rows of a read, printed."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from penstock.commands.answers import show_answer

ROW = {
    "n": 1,
    "total": Decimal("10.50"),
    "at": datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
    "day": date(2024, 1, 2),
    "name": "a,\n'ü'",
    "sure": True,
    "none": None,
    "ratio": float("-inf"),
    "raw": b"\x00\xff",
    "parts": [{"x": Decimal("1.0")}, None],
    "map": {1: 0.5},
}
PLAIN = {
    "n": 1,
    "total": "10.50",
    "at": "2024-01-02T03:04:05.000006Z",
    "day": "2024-01-02",
    "name": "a,\n'ü'",
    "sure": True,
    "none": None,
    "ratio": "-Infinity",
    "raw": "AP8=",
    "parts": [{"x": "1.0"}, None],
    "map": {"1": 0.5},
}


def test_json_has_an_object_for_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    show_answer(tuple(ROW), [ROW, ROW], "json")
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [PLAIN, PLAIN]


def test_csv_has_a_header_also_without_rows(capsys: pytest.CaptureFixture[str]) -> None:
    show_answer(("a", "b"), [], "csv")
    assert capsys.readouterr().out == "a,b\n"
    show_answer(tuple(ROW), [ROW], "csv")
    assert capsys.readouterr().out.splitlines(keepends=True) == [
        "n,total,at,day,name,sure,none,ratio,raw,parts,map\n",
        '1,10.50,2024-01-02T03:04:05.000006Z,2024-01-02,"a,\n',
        """'ü'",true,,-Infinity,AP8=,"[{""x"": ""1.0""}, null]","{""1"": 0.5}"\n""",
    ]


@pytest.mark.parametrize(("count", "heading"), [(0, "0 rows"), (1, "1 row"), (30, "30 rows")])
def test_text_has_all_rows(count: int, heading: str, capsys: pytest.CaptureFixture[str]) -> None:
    show_answer(("n",), [{"n": 1000 + number} for number in range(count)], "text")
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == heading
    assert [line.strip() for line in lines if line.strip().isdigit()] == [str(1000 + n) for n in range(count)]
