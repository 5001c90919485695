r"""What people read on a terminal or in a log: no character of data, names or messages steers it.

Such a character is shown as Python writes it: `\x1b`, `\t`, `\u202e`. A program guards its streams, and everything
that is printed passes them. Two doors are beside: `styled` for text with colours, whose parts were made visible
before, and `exact` for scripts, programs and data that others read.
"""

from __future__ import annotations

import io
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO, cast

STEERING = (
    # The control characters of ASCII and Latin-1, the marks of direction, the spaces without width, lone surrogates.
    r"\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    # Letters and marks that show nothing. U+FE0E and U+FE0F choose between a letter and an emoji.
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0d\uffa0"
)
"""The inside of a character class: what a terminal obeys or does not show."""
IN_LINE = re.compile(f"[{STEERING}]")
IN_LINES = re.compile(f"(?!\n)[{STEERING}]")
IN_PROGRAMS = re.compile(f"(?![\n\t])[{STEERING}]")
SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def show_text(text: str) -> str:
    r"""A value, a name or a message on one line: a line break is `\n`, a tab is `\t`."""
    return IN_LINE.sub(_show_character, text)


def show_lines(text: str) -> str:
    """A text of several lines. Its line breaks stay."""
    return IN_LINES.sub(_show_character, text)


def show_json(text: str) -> str:
    """A JSON text with the escapes of JSON in its strings, so that whoever reads it gets the same values."""
    return IN_LINES.sub(_escape_json, text)


def count_cells(text: str) -> int:
    """The columns of a terminal that a line takes in which nothing steers it."""
    return len(text) if text.isascii() else sum(map(_count_cells, text))


def align_texts(rows: Sequence[Sequence[str]]) -> list[str]:
    """A line for each row, in which the texts of a column begin below each other. Each text is one line."""
    widths = [max(map(count_cells, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(_pad, row, widths)).rstrip() for row in rows]


class GuardedStream(io.TextIOBase):
    """A stream that shows each character that would steer a terminal. It has no `buffer`, by which one could pass it.

    Attributes:
        styled: the stream behind it, for text with colours.
    """

    def __init__(self, stream: TextIO, escaped: re.Pattern[str] = IN_LINES) -> None:
        self.styled = stream
        self._escaped = escaped
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # it may lack characters, too

    def write(self, text: str) -> int:
        """Writes the text as it is shown. Returns the number of characters that were given."""
        self.styled.write(self._escaped.sub(_show_character, text))
        return len(text)

    def writable(self) -> bool:
        """True."""
        return True

    def flush(self) -> None:
        """Writes what is kept back."""
        self.styled.flush()

    def fileno(self) -> int:
        """The descriptor, for processes that are given it."""
        return self.styled.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self.styled.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """How characters become bytes."""
        return self.styled.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """What becomes of characters without bytes."""
        return self.styled.errors


def guard_output() -> None:
    """Guards the standard streams of this process, for good."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, GuardedStream):
            setattr(sys, name, GuardedStream(stream))


@contextmanager
def output_guarded() -> Iterator[None]:
    """Guards the standard streams while the body runs."""
    before = sys.stdout, sys.stderr
    guard_output()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def styled(stream: TextIO) -> TextIO:
    """The stream for text with colours, whose parts have passed `show_text` or `show_lines`."""
    return stream.styled if isinstance(stream, GuardedStream) else stream


def exact(stream: TextIO) -> TextIO:
    """The stream for what others read, character by character. A terminal shows what would steer it."""
    if not isinstance(stream, GuardedStream):
        return stream
    return cast("TextIO", GuardedStream(stream.styled, IN_PROGRAMS)) if stream.isatty() else stream.styled


def _pad(text: str, width: int) -> str:
    return text + " " * (width - count_cells(text))


def _show_character(found: re.Match[str]) -> str:
    char = found[0]
    code = ord(char)
    return SHORT.get(char) or (rf"\x{code:02x}" if code < 0x100 else _escape(code))


def _escape_json(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return _escape(code)
    return _escape(0xD800 + (code - 0x10000 >> 10)) + _escape(0xDC00 + (code & 0x3FF))


def _escape(code: int) -> str:
    return rf"\u{code:04x}" if code < 0x10000 else rf"\U{code:08x}"


def _count_cells(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1
