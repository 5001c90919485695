"""No character steers a terminal, and none is lost."""

from __future__ import annotations

import io
import json
import logging
import sys
import unicodedata

import pytest

from penstock.diagnostics.logs import LogFormatter
from penstock.diagnostics.terminal import (
    GuardedStream,
    align_texts,
    count_cells,
    exact,
    output_guarded,
    show_json,
    show_lines,
    show_text,
    styled,
)

STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
ALL = [chr(code) for code in range(sys.maxunicode + 1)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_all_characters_that_steer_are_shown_and_visible_ones_stay() -> None:
    for char in ALL:
        category, shown = unicodedata.category(char), show_text(char)
        if category in STEERING:
            assert shown.isascii()
            assert shown.isprintable()
        elif category[0] in "LNPS" and char not in "\u115f\u1160\u3164\uffa0":
            assert shown == char


def test_no_two_characters_are_shown_alike() -> None:
    shown = [show_text(char) for char in ALL]
    assert len(set(shown)) == len(shown)


@pytest.mark.parametrize(
    ("char", "shown"),
    [
        ("\x1b", r"\x1b"),
        ("\x07", r"\x07"),
        ("\x08", r"\x08"),
        ("\x7f", r"\x7f"),
        ("\x9b", r"\x9b"),
        ("\t", r"\t"),
        ("\r", r"\r"),
        ("\n", r"\n"),
        ("\u200b", r"\u200b"),
        ("\u2067", r"\u2067"),
        ("\ud83d", r"\ud83d"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_escapes_are_those_of_python(char: str, shown: str) -> None:
    assert show_text(f"a{char}b") == f"a{shown}b"
    assert show_text(show_text(char)) == shown
    assert show_lines(char) == ("\n" if char == "\n" else shown)


def test_json_keeps_values() -> None:
    for char in (*(char for char in ALL if show_text(char) != char), "é", "水", "\U0001f600"):
        text = show_json(json.dumps({f"a{char}": f"{char}b"}, ensure_ascii=False, indent=1))
        assert json.loads(text) == {f"a{char}": f"{char}b"}
        assert show_lines(text) == text


def test_wide_characters_and_escapes_keep_columns_aligned() -> None:
    rows = [[show_text(text), "|"] for text in ("ab", "水", "e\u0301", "\x1b[1m", "")]
    lines = align_texts(rows)
    assert {count_cells(line.partition("|")[0]) for line in lines} == {len(r"\x1b[1m") + 2}


def test_a_guarded_stream_shows_what_is_printed_and_cannot_be_passed() -> None:
    behind = io.StringIO()
    stream = GuardedStream(behind)
    print("a\x1b[2J\tb\r\n\u202e", file=stream)
    assert behind.getvalue() == "a\\x1b[2J\\tb\\r\n\\u202e\n"
    assert not hasattr(stream, "buffer")
    assert styled(stream) is behind  # type: ignore[arg-type]


def test_what_others_read_is_exact_unless_a_terminal_reads_it() -> None:
    file, terminal = io.StringIO(), Terminal()
    for behind in (file, terminal):
        exact(GuardedStream(behind)).write("SELECT\t'\x1b'\n")  # type: ignore[arg-type]
    assert file.getvalue() == "SELECT\t'\x1b'\n"
    assert terminal.getvalue() == "SELECT\t'\\x1b'\n"


def test_streams_are_guarded_once_and_given_back() -> None:
    before = sys.stdout
    with output_guarded():
        guarded = sys.stdout
        with output_guarded():
            assert sys.stdout is guarded
        assert isinstance(guarded, GuardedStream)
    assert sys.stdout is before


def test_a_stream_without_a_character_shows_its_escape() -> None:
    behind = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="")
    print("水", file=GuardedStream(behind))
    behind.seek(0)
    assert behind.read() == "\\u6c34\n"


def test_a_message_is_one_line_of_a_log_and_its_traceback_is_indented() -> None:
    try:
        raise ValueError("x\n2026-01-01 ERROR forged\x1b[2J")
    except ValueError:
        error = sys.exc_info()
    record = logging.LogRecord("n", logging.ERROR, "f", 1, "lost %s", ("a\n2026 ERROR forged\r\x9b",), error)
    first, *others = LogFormatter("%(levelname)s %(message)s").format(record).split("\n")
    assert first == r"ERROR lost a\n2026 ERROR forged\r\x9b"
    assert all(line.startswith("  ") for line in others)
    assert others[-1] == r"  2026-01-01 ERROR forged\x1b[2J"
