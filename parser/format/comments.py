"""The comments of a text, each beside the token that it belongs to. The lexer passes over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from penstock.grammar import SEMICOLON, Token
from penstock.parser.format.layout import Comment

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n")
_CLOSES = frozenset({"COMMA", SEMICOLON})


@dataclass(slots=True)
class Remarks:
    """The comments of one token. `head` stand before it on lines of their own, `tail` behind it.

    `apart`: an empty line stands directly before the token.
    """

    head: list[Comment] = field(default_factory=list)
    tail: list[Comment] = field(default_factory=list)
    apart: bool = False


def find_remarks(text: str, tokens: Sequence[Token]) -> tuple[list[Remarks], list[Comment]]:
    """The comments of each token, and the comments behind the last one.

    A comment that begins on the line of a token belongs to that token, or to the comma or semicolon behind it.
    """
    remarks = [Remarks() for _ in tokens]
    rest: list[Comment] = []
    end = 0
    for index in range(len(tokens) + 1):
        at_end = index == len(tokens)
        gap = text[end : len(text) if at_end else tokens[index].start]
        behind, before, apart = _read_gap(gap, first=index == 0)
        if index and any(each.ends_line for each in remarks[index - 1].tail):
            before = [*(Comment(each.text, alone=True) for each in behind), *before]
            behind = []
        closes = not at_end and not before and tokens[index].type in _CLOSES
        if behind:
            remarks[index if closes else index - 1].tail += behind
        if at_end:
            rest = before
        else:
            remarks[index].head += before
            remarks[index].apart = apart
            end = tokens[index].end
    return remarks, rest


def _read_gap(gap: str, *, first: bool) -> tuple[list[Comment], list[Comment], bool]:
    """The comments on the line of the token before, the comments on further lines, and whether an empty line
    ends the gap.
    """
    behind: list[Comment] = []
    before: list[Comment] = []
    end = 0
    for match in _COMMENT.finditer(gap):
        space = gap[end : match.start()]
        text = "\n".join(line.rstrip() for line in match.group().split("\n"))
        if first or before or "\n" in gap[: match.start()]:
            before.append(Comment(text, alone=True, apart=_EMPTY_LINE.search(space) is not None))
        else:
            behind.append(Comment(text, alone=False))
        end = match.end()
    return behind, before, _EMPTY_LINE.search(gap[end:]) is not None


def list_comments(remarks: Sequence[Remarks], rest: Sequence[Comment]) -> Iterator[str]:
    """The texts of all comments, in order."""
    for remark in remarks:
        yield from (each.text for each in (*remark.head, *remark.tail))
    yield from (each.text for each in rest)
