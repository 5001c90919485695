"""Pieces of text with places where a line may end, and the lines that they become.

A group stays on one line if it fits there. Otherwise each of its own breaks becomes a new line, and the groups inside
are tried in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

WIDTH = 100
STEP = 2


@dataclass(frozen=True, slots=True)
class Break:
    """A place where a line may end. On one line it is `flat`."""

    flat: str = " "


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as written. One that is `alone` has lines of its own, `apart` below an empty one."""

    text: str
    alone: bool
    apart: bool = False

    @property
    def ends_line(self) -> bool:
        """Whether nothing may follow on its line."""
        return self.alone or self.text.startswith("--")


@dataclass(frozen=True, slots=True)
class Indented:
    """Pieces whose new lines begin one step further right."""

    pieces: Pieces


@dataclass(frozen=True, slots=True)
class Group:
    """Pieces that stay on one line if they fit."""

    pieces: Pieces


Piece: TypeAlias = "str | Break | Comment | Indented | Group"
Pieces: TypeAlias = tuple[Piece, ...]

LINE = Break()
SOFT = Break("")


class Printer:
    """Lines that grow. An indentation is written with the first text of its line."""

    def __init__(self) -> None:
        self._done: list[str] = []
        self._line = ""
        self._ended = False

    def print(self, pieces: Pieces) -> str:
        """The lines, without a line break at the end. Breaks outside of groups end a line."""
        # What is still to be printed, the next one last: its indentation, and whether its breaks stay on the line.
        pending: list[tuple[int, bool, Piece]] = [(0, False, piece) for piece in reversed(pieces)]
        while pending:
            indent, flat, piece = pending.pop()
            match piece:
                case str():
                    self._write(piece, indent)
                case Comment():
                    self._write_comment(piece, indent)
                case Break() if flat:
                    self._write(piece.flat, indent)
                case Break():
                    self._end_line()
                case Indented():
                    pending.extend((indent + STEP, flat, each) for each in reversed(piece.pieces))
                case Group():
                    flat = flat or self._fits(piece, indent, pending)
                    pending.extend((indent, flat, each) for each in reversed(piece.pieces))
        return "\n".join([*self._done, self._line.rstrip()])

    def _write(self, text: str, indent: int) -> None:
        if self._ended:
            self._end_line()
        if not self._line:
            text = text.lstrip()
            self._line = " " * indent if text else ""
        self._line += text
        *lines, self._line = self._line.split("\n")  # a string may have several lines
        self._done += lines

    def _end_line(self) -> None:
        if self._line:
            self._done.append(self._line.rstrip())
        self._line = ""
        self._ended = False

    def _write_comment(self, comment: Comment, indent: int) -> None:
        if comment.alone and self._line:
            self._end_line()
        if comment.apart and self._done:
            self._done.append("")
        behind = self._line and not self._ended
        self._write(f"  {comment.text}" if behind and comment.ends_line else f" {comment.text}", indent)
        self._ended = comment.ends_line

    def _fits(self, group: Group, indent: int, behind: list[tuple[int, bool, Piece]]) -> bool:
        """Whether the group fits on the line, with all that follows it up to the next place where a line may end."""
        room = WIDTH - (indent if self._ended or not self._line else len(self._line))
        rest = len(behind)
        pending: list[tuple[bool, Piece]] = [(True, group)]
        while room >= 0:
            if not pending:
                if not rest:
                    return True
                rest -= 1
                pending.append(behind[rest][1:])
            flat, piece = pending.pop()
            match piece:
                case str() if "\n" in piece:
                    return not flat and len(piece.partition("\n")[0]) <= room
                case str():
                    room -= len(piece)
                case Comment() if piece.ends_line:
                    return not flat
                case Comment():
                    room -= len(piece.text) + 1
                case Break() if flat:
                    room -= len(piece.flat)
                case Break():
                    return True
                case Indented() | Group():
                    pending.extend((flat, each) for each in reversed(piece.pieces))
        return False
