"""The pictures of docs/semantics/, drawn from numbers. They follow the reader's choice of light or dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate, pairwise

WIDTH = 720
LEFT, RIGHT = 124, 26
ROW = 18
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.dim { fill: #57606a }
.axis { stroke: #8c959f; stroke-width: 1 }
.bar { fill: #54aeff; fill-opacity: .35; stroke: #0969da }
.row { fill: #24292f }
.late { fill: #cf222e }
.mark { stroke: #bc4c00; stroke-width: 2; fill: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .dim { fill: #9198a1 }
  .bar { fill: #388bfd; stroke: #58a6ff }
  .row { fill: #e6edf3 }
  .late { fill: #ff7b72 }
  .mark { stroke: #f0883e }
}
"""
Span = tuple[float, float]


def draw_picture(height: float, title: str, parts: Sequence[str]) -> str:
    """An SVG without a background."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", *parts, "</svg>", ""])


def place_text(x: float, y: float, text: str, *, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def draw_bar(span: Span, x: Scale, y: float) -> str:
    begin, end = (x.place(time) for time in span)
    return f'<rect x="{begin:g}" y="{y:g}" width="{end - begin:g}" height="{ROW - 5}" rx="3" class="bar"/>'


def draw_dot(x: float, y: float, kind: str = "row") -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="4" class="{kind}"/>'


def draw_line(begin: tuple[float, float], end: tuple[float, float], kind: str, dashes: str = "none") -> str:
    places = f'x1="{begin[0]:g}" y1="{begin[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}"'
    return f'<line {places} class="{kind}" stroke-dasharray="{dashes}"/>'


class Scale:
    """Minutes after 10:00 -> places from left to right."""

    def __init__(self, minutes: float) -> None:
        self._minutes = minutes

    def place(self, time: float) -> float:
        return round(LEFT + time / self._minutes * (WIDTH - LEFT - RIGHT), 1)

    def draw_axis(self, y: float, step: int) -> Iterator[str]:
        """A line with the times below it."""
        yield draw_line((LEFT, y), (WIDTH - RIGHT, y), "axis")
        for time in range(0, int(self._minutes) + 1, step):
            yield draw_line((self.place(time), y), (self.place(time), y + 4), "axis")
            label = f"{10 + time // 60}:{time % 60:02}"
            yield place_text(self.place(time), y + 18, label, kind="dim", anchor="middle")


def list_hops(size: int, slide: int, end: int) -> list[Span]:
    return [(begin, begin + size) for begin in range(0, end - size + 1, slide)]


def list_cumulated(step: int, size: int, end: int) -> list[Span]:
    return [(begin, begin + length) for begin in range(0, end, size) for length in range(step, size + 1, step)]


def list_sessions(times: Sequence[int], gap: int) -> list[Span]:
    """Each session ends a gap after its last row. A row exactly a gap after the one before belongs to it."""
    breaks = [place for place, (before, after) in enumerate(pairwise(times), 1) if after - before > gap]
    borders = [0, *breaks, len(times)]
    return [(times[begin], times[end - 1] + gap) for begin, end in pairwise(borders)]


def stack_spans(spans: Sequence[Span]) -> list[int]:
    """The line of each bar: the first one that is free."""
    ends: list[float] = []
    lines: list[int] = []
    for begin, end in spans:
        line = next((number for number, last in enumerate(ends) if last <= begin), len(ends))
        ends[line : line + 1] = [end]
        lines.append(line)
    return lines


def draw_windows() -> str:
    """The windows that rows fall into, for each kind of window."""
    times = [3, 8, 13, 27, 31, 48]
    kinds = {
        "TUMBLE 20": list_hops(20, 20, 60),
        "HOP 10, 20": list_hops(20, 10, 60),
        "CUMULATE 10, 30": list_cumulated(10, 30, 60),
        "SESSION 10": list_sessions(times, 10),
    }
    x = Scale(60)
    parts = [place_text(0, 20, "rows"), *(draw_dot(x.place(time), 16) for time in times)]
    y = 38.0
    for name, spans in kinds.items():
        parts.append(place_text(0, y + 12, name))
        lines = stack_spans(spans)
        parts += [draw_bar(span, x, y + line * ROW) for span, line in zip(spans, lines, strict=True)]
        y += ROW * (max(lines) + 1) + 10
    parts += x.draw_axis(y, 10)
    return draw_picture(y + 28, "Windows of TUMBLE, HOP, CUMULATE and SESSION over six rows, in minutes", parts)


def draw_watermark() -> str:
    """Event times by arrival. The watermark follows the newest one, and rows below it are late."""
    times = [4, 9, 7, 16, 12, 22, 6, 27, 24, 34, 15, 38]
    delay = 10
    marks = [0, *(max(0, newest - delay) for newest in accumulate(times, max))]
    bottom, scale, step = 210, 5, 45

    def place(arrival: float, time: float) -> tuple[float, float]:
        return LEFT + 20 + arrival * step, bottom - time * scale

    parts = [draw_line((LEFT, bottom), (WIDTH - RIGHT, bottom), "axis"), draw_line((LEFT, bottom), (LEFT, 10), "axis")]
    for time in range(0, 41, 10):
        parts.append(place_text(LEFT - 8, bottom - time * scale + 4, f"10:{time:02}", kind="dim", anchor="end"))
    corners = [place(arrival + side, mark) for arrival, mark in enumerate(marks[:-1]) for side in (-0.5, 0.5)]
    parts.append(f'<polyline points="{" ".join(f"{x:g},{y:g}" for x, y in corners)}" class="mark"/>')
    for arrival, (time, mark) in enumerate(zip(times, marks, strict=False)):
        is_late = time < mark
        x, y = place(arrival, time)
        parts.append(draw_dot(x, y, "late" if is_late else "row"))
        if is_late:
            parts.append(place_text(x + 8, y + 12, "late"))
    parts.append(place_text(WIDTH - RIGHT, corners[-1][1] + 18, "watermark", anchor="end"))
    parts.append(place_text(WIDTH - RIGHT, bottom + 18, "micro-batches of one row each →", kind="dim", anchor="end"))
    return draw_picture(bottom + 28, "Rows by arrival and event time, and the watermark 10 minutes behind", parts)


def draw_panes() -> str:
    """A pane of a join, and the rows that its rows can match."""
    pane, reach = 5, 5
    x = Scale(20)
    begin, end = pane, 2 * pane
    parts = [place_text(0, 32, "orders"), place_text(0, 82, "payments")]
    for border in range(0, 20, pane):
        span = (border, border + pane)
        if span == (begin, end):
            parts.append(draw_bar(span, x, 20))
        parts.append(draw_line((x.place(border), 16), (x.place(border), 42), "axis", "3"))
    parts.append(draw_bar((begin, end + reach), x, 70))
    parts += [draw_dot(x.place(time), 26) for time in (1, 3.5, 5.5, 7, 9, 12, 16)]
    parts += [draw_dot(x.place(time), 76) for time in (2, 4.5, 7.5, 11, 13.5, 17)]
    parts += [draw_line((x.place(7), 26), (x.place(time), 76), "axis") for time in (7.5, 11)]
    parts.append(draw_line((x.place(end + reach), 8), (x.place(end + reach), 108), "mark", "5"))
    parts.append(place_text(x.place(end + reach) + 6, 60, "watermark: now"))
    parts.append(place_text(x.place(end + reach) + 6, 104, "the pane is computed"))
    parts += x.draw_axis(112, 5)
    return draw_picture(140, "A pane of orders of 5 minutes, and the payments up to 5 minutes behind it", parts)


PICTURES = {"windows": draw_windows, "watermark": draw_watermark, "panes": draw_panes}
