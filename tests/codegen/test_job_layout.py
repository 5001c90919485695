"""Calls of Python in lines that people read."""

from __future__ import annotations

import ast

import pytest

from penstock.codegen.job_layout import WIDTH, Brackets, lay_out, write_call, write_text


def test_a_call_that_fits_is_one_line() -> None:
    assert write_call("q.view", ['"v"'], watermark=["time", 10]) == 'q.view("v", watermark=["time", 10])'


def test_a_longer_one_has_as_many_arguments_in_a_line_as_there_is_room_for() -> None:
    text = write_call("q.view", [f'"{"v" * 50}"', f'"{"w" * 50}"', f'"{"x" * 50}"'], counts={"n" * 70: "m" * 60})
    assert [line.count('"') for line in text.splitlines()] == [0, 4, 2, 0, 4, 0, 0]
    assert [line for line in text.splitlines() if len(line) > WIDTH] == [f'        "{"n" * 70}": "{"m" * 60}",']
    ast.parse(text)


@pytest.mark.parametrize("text", ["", "it's", 'a "b"', "a\\b", "a\nb", "ü", "\x1b[0m", "\u202e", "🙂", "\ud800"])
def test_texts_come_back(text: str) -> None:
    written = write_text(text)
    assert ast.literal_eval(written) == text
    assert written.isprintable()


def test_brackets_close_where_they_have_begun() -> None:
    items = tuple(f'"{letter * 60}"' for letter in "abc")
    assert lay_out(Brackets("f(", (Brackets("[", items, "]"),), ")")).splitlines() == [
        "f(",
        "    [",
        *(f"        {each}," for each in items),
        "    ],",
        ")",
    ]
