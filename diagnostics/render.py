"""Diagnostic -> text for people: the place, the lines of SQL with carets under them, notes and hints.

error[J001]: stream-stream join has no time bound
  --> paid.sql:3:6
3 | FROM orders o
  |      ^^^^^^^^ left stream
  = hint: ON o.id = p.order_id AND p.time BETWEEN o.time AND o.time + INTERVAL '5' MINUTE
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from penstock.diagnostics.diagnostic import Diagnostic, Label
from penstock.diagnostics.source import Source
from penstock.diagnostics.terminal import count_cells, show_lines, show_text

WIDTH = 100
"""Cells of a source line that are shown; a longer line is clipped around each caret."""

_LONGEST = 4 * WIDTH
"""Characters of a line that is looked at as a whole. Marks on letters take no cells."""

TAB = "    "

RED, YELLOW, BLUE, CYAN = "1;31", "1;33", "1;34", "36"


MOST = 20
"""Findings that the text of an exception shows."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """The part of a label that lies on one line: characters `start` to `end` of it, and the words behind the carets."""

    line: int
    start: int
    end: int
    text: str


def render(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """The diagnostic as lines of text without a final line break; ANSI colours only when asked for."""

    def paint(style: str, text: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if color and text else text

    tone = RED if diagnostic.severity == "error" else YELLOW
    places = [
        (source, sorted((mark for label in labels for mark in _marks(label)), key=lambda mark: (mark.line, mark.start)))
        for source, labels in _by_source(diagnostic.labels)
    ]
    gutter = max((len(str(mark.line)) for _, marks in places for mark in marks), default=1)
    margin = " " * gutter

    rows = [paint(tone, f"{diagnostic.severity}[{diagnostic.code}]") + f": {diagnostic.message}"]
    for arrow, (source, marks) in zip(_arrows(), places, strict=False):
        anchor = next(label for label in diagnostic.labels if label.span.source is source)
        line, column = source.position(anchor.span.start)
        rows.append(f"{margin} {paint(BLUE, arrow)} {show_text(source.name)}:{line}:{column}")
        shown: int | None = None
        for number, group in _excerpts(source, marks):
            if shown is not None and number > shown + 1:
                rows.append(paint(BLUE, "..."))
            shown = number
            text, carets = _line_with_carets(source.line(number), group)
            rows.append(f"{paint(BLUE, f'{number:>{gutter}} |')} {text}".rstrip())
            for before, under, words in carets:
                rows.append(f"{paint(BLUE, f'{margin} |')} {before}{paint(tone, f'{under} {words}'.rstrip())}")
    for word, sentence in (("note", diagnostic.detail), ("hint", diagnostic.hint)):
        if sentence:
            indented = show_lines(sentence).replace("\n", f"\n{margin}{' ' * len(f' = {word}: ')}")
            rows.append(f"{margin} {paint(BLUE, '=')} {paint(CYAN, word)}: {indented}")
    if diagnostic.fix:
        # No gutter beside these lines: they are there to be copied.
        rows.append(f"{margin} {paint(BLUE, '=')} {paint(CYAN, 'fix')}:")
        rows += [f"{TAB}{line}".rstrip() for line in show_lines(diagnostic.fix).splitlines()]
    return "\n".join(rows)


def render_all(diagnostics: Sequence[Diagnostic]) -> str:
    """The findings as the text of an exception: code and message first, then places, notes and hints."""
    shown = [render(each).replace(f"{each.severity}[{each.code}]", each.code, 1) for each in diagnostics[:MOST]]
    if len(diagnostics) > MOST:
        shown.append(f"… and {len(diagnostics) - MOST:,} more")
    return "\n\n".join(shown)


def _arrows() -> Iterator[str]:
    """The arrow before each source: the first is where the finding is, the others only take part in it."""
    yield "-->"
    while True:
        yield ":::"


def _by_source(labels: tuple[Label, ...]) -> list[tuple[Source, list[Label]]]:
    """Labels per source; sources in the order in which they are first named."""
    groups: dict[int, tuple[Source, list[Label]]] = {}
    for label in labels:
        groups.setdefault(id(label.span.source), (label.span.source, []))[1].append(label)
    return list(groups.values())


def _marks(label: Label) -> Iterator[_Mark]:
    """A label's underlines.

    A span of several lines has underlines in its first and its last line that are not blank.
    """
    source, span = label.span.source, label.span
    (first, start), (last, end) = source.position(span.start), source.position(max(span.start, span.end))
    if first == last:
        yield _Mark(first, start - 1, max(end - 1, start), label.text)
        return
    parts = []
    for number in range(first, last + 1):
        line = source.line(number)
        left = start - 1 if number == first else 0
        right = end - 1 if number == last else len(line)
        if body := line[left:right].strip():
            left = line.index(body, left)
            parts.append((number, left, left + len(body)))
    if not parts:
        yield _Mark(first, start - 1, start, label.text)
        return
    if len(parts) > 1:
        yield _Mark(*parts[0], "")
    yield _Mark(*parts[-1], label.text)


def _excerpts(source: Source, marks: list[_Mark]) -> Iterator[tuple[int, list[_Mark]]]:
    """Lines to show with their marks; a line that has to be clipped is shown once for each of its marks."""
    for number, group in groupby(marks, key=lambda mark: mark.line):
        if _is_shown_whole(source.line(number)):
            yield number, list(group)
        else:
            yield from ((number, [mark]) for mark in group)


def _line_with_carets(line: str, marks: list[_Mark]) -> tuple[str, list[tuple[str, str, str]]]:
    """The line as shown, and for each mark the blanks before its carets, the carets, and the words behind them."""
    left, right = _clip(line, marks[0])
    before, after = "…" if left > 0 else "", "…" if right < len(line) else ""
    carets = []
    for mark in marks:
        start = max(mark.start, left)
        blanks = len(before) + _cells(line[left:start])
        carets.append((" " * blanks, "^" * max(1, _cells(line[start : min(mark.end, right)])), show_text(mark.text)))
    return before + _print(line[left:right]) + after, carets


def _clip(line: str, mark: _Mark) -> tuple[int, int]:
    """The characters of the line that are shown: all, or WIDTH cells with the mark's start a third into them."""
    if _is_shown_whole(line):
        return 0, len(line)
    left = min(mark.start, len(line))
    first = max(0, left - _LONGEST)
    while left > first and _cells(line[left - 1 : mark.start]) <= WIDTH // 3:
        left -= 1
    right = left
    used = 0
    last = min(len(line), left + 2 * _LONGEST)
    while right < last and used + _cells(line[right]) <= WIDTH:
        used += _cells(line[right])
        right += 1
    return left, right


def _is_shown_whole(line: str) -> bool:
    """Whether the line need not be clipped."""
    return len(line) <= _LONGEST and _cells(line) <= WIDTH


def _print(text: str) -> str:
    """A part of a line as printed: tabs as blanks, what steers a terminal or the direction of text as escapes."""
    return show_text(text.replace("\t", TAB))


def _cells(text: str) -> int:
    """Terminal cells that the text takes when shown."""
    return count_cells(_print(text))
