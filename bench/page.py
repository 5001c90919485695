"""What was measured -> the tables of docs/performance.md, between its markers, and the plots beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from bench.report import Runs, batches_told, times
from bench.workload import BOUNDS, FRAMES, SIZES, SYSTEMS

COLOURS = {
    "penstock": "#0072B2",
    "penstock-rocksdb": "#56B4E9",
    "penstock-partials": "#F0E442",
    "penstock-whole": "#332288",
    "spark": "#D55E00",
    "spark-rocksdb": "#E69F00",
    "spark-join-4": "#CC79A7",
    "flink": "#009E73",
    "duckdb": "#999999",
}
TITLES = {system.name: system.title for system in SYSTEMS}


def write_page(docs: Path, measured: dict[str, Runs]) -> None:
    """Rewrites what lies between `<!-- name -->` and `<!-- end -->`, for every set of queries that was measured."""
    for name, runs in measured.items():
        table = _sizes(runs) if runs.watched else _table(runs)
        replace_block(docs / "performance.md", name, [_conditions(runs), "", *table])
    if "main" in measured:
        _bars(measured["main"]).savefig(docs / "performance.svg")
    if "frames" in measured and "bounds" in measured:
        _lines(measured["frames"], measured["bounds"]).savefig(docs / "linear.svg")
    if "table-size" in measured:
        _growth(measured["table-size"]).savefig(docs / "table-size.svg")


def replace_block(page: Path, name: str, lines: Iterable[str]) -> None:
    """Rewrites what lies between `<!-- name -->` and `<!-- end -->`, if the page has that."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(f"<!-- {name} -->\n")
    _, end, behind = rest.partition("<!-- end -->")
    if end:
        block = "\n".join(lines)
        page.write_text(f"{before}{begin}{block}\n{end}{behind}", encoding="utf-8")


def _conditions(runs: Runs) -> str:
    about = dict(runs.machine)
    date, machine = about.pop("date"), about.pop("machine")
    versions = ", ".join(f"{name} {version}" for name, version in about.items())
    recipe = runs.recipe
    rounds = max(len(runs.of(query.query, runs.systems()[0])) for query in runs.queries())
    if runs.watched:
        batches = f"{recipe['files']} micro-batches"
        return f"{date}, {machine}; {versions}.\nMedians of {rounds} interleaved runs, each with {batches}."
    rounds //= 2
    return (
        f"{date}, {machine}; {versions}.\n{recipe['events']:,} events in {recipe['files']} files of each stream "
        f"({recipe['format']}), medians of {rounds} interleaved runs."
    )


def _table(runs: Runs) -> Iterator[str]:
    """Markdown: thousands of rows for each further CPU second, and the CPU seconds to start."""
    systems = runs.systems()
    yield "| query | rows in | rows out | " + " | ".join(TITLES[system] for system in systems) + " |"
    yield "|---|--:|--:|" + "--:|" * len(systems)
    for query in runs.queries():
        cells = []
        for system in systems:
            cost = runs.cost(query.query, system)
            told = cost and f"{cost.speed}{times(runs, query.query, system)} + {cost.start:.0f} s"
            cells.append(told or "–")
        name = f"{query.query}: {query.title}"
        yield f"| {name} | {query.rows:,} | {query.out:,} | " + " | ".join(cells) + " |"


def _sizes(runs: Runs) -> Iterator[str]:
    """Markdown: what a micro-batch costs."""
    systems = [system for system in runs.systems() if any(run.batches for run in runs.runs if run.system == system)]
    yield "| query | " + " | ".join(TITLES[system] for system in systems) + " |"
    yield "|---|" + "--:|" * len(systems)
    for query in runs.queries():
        found = [runs.batches(query.query, system) for system in systems]
        cells = [batches_told(batches) if batches else "–" for batches in found]
        yield f"| {query.title} | " + " | ".join(cells) + " |"


def _growth(runs: Runs) -> Figure:
    """The CPU time of a micro-batch, and the memory, over the size of the table."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    sizes = sorted({query.size for query in SIZES})
    for folder, style in (("table_join", "-"), ("lookup", "--")):
        queries = [query for query in SIZES if query.folder == folder]
        for system in runs.systems():
            known = [(each.size, found) for each in queries for found in [runs.batches(each.name, system)] if found]
            if not known:
                continue
            places = [size for size, _ in known]
            label = f"{TITLES[system]}: {folder.replace('_', ' ')}"
            for axes, values in (
                (left, [each.cpu for _, each in known]),
                (right, [each.memory / 2**30 for _, each in known]),
            ):
                axes.plot(places, values, marker="o", linestyle=style, color=COLOURS[system], label=label)
    for axes, title in ((left, "CPU seconds of a micro-batch: 10,000 records of each table"), (right, "GiB of memory")):
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel("rows of the table")
        axes.set_title(title, loc="left", fontsize="medium")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#dddddd")
    left.legend(frameon=False)
    return figure


def _bars(runs: Runs) -> Figure:
    """A group of bars for each query: rows per CPU second, on a logarithmic axis."""
    queries, systems = runs.queries(), [system for system in runs.systems() if system != "duckdb"]
    figure = Figure(figsize=(10, 5), layout="constrained")
    axes = figure.add_subplot()
    width = 0.8 / len(systems)
    for place, system in enumerate(systems):
        costs = [runs.cost(query.query, system) for query in queries]
        speeds = [cost.rate if cost and cost.is_told else 0 for cost in costs]
        left = [number - 0.4 + width * (place + 0.5) for number in range(len(queries))]
        axes.bar(left, speeds, width, color=COLOURS[system], label=TITLES[system])
    axes.set_yscale("log")
    for set_formatter in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        set_formatter(FuncFormatter(lambda rows, _: f"{rows / 1000:,.0f} k"))
    axes.set_xticks(range(len(queries)), [query.query for query in queries], rotation=30, ha="right")
    axes.set_title("Rows for each further CPU second (more is better)", loc="left", fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd")
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=len(systems), frameon=False)
    return figure


def _lines(frames: Runs, bounds: Runs) -> Figure:
    """CPU seconds for a million rows over the length of the frame and of the bound."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    panels = (("OVER: frame, minutes", frames, FRAMES), ("join: bound, minutes", bounds, BOUNDS))
    for axes, (title, runs, queries) in zip(figure.subplots(1, 2), panels, strict=True):
        for system in runs.systems():
            costs = [(int(query.parameters["length"]), runs.cost(query.name, system)) for query in queries]
            known = [(minutes, 1e6 / cost.rate) for minutes, cost in costs if cost and cost.is_told]
            if known:
                axes.plot(*zip(*known, strict=True), marker="o", color=COLOURS[system], label=TITLES[system])
        axes.set_xscale("log")
        lengths = [int(query.parameters["length"]) for query in queries]
        axes.set_xticks(lengths, [str(length) for length in lengths])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel(title)
        axes.set_ylabel("CPU seconds for a million rows")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#dddddd")
        axes.legend(frameon=False)
    return figure
