"""What is run: the queries, each a folder with a program for every system, and the systems, each a command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from rich.console import Console

from bench.changelog import TABLES as CHANGELOGS

QUERIES = Path(__file__).parent / "queries"
FLINK_PYTHON = Path(__file__).parent / ".flink" / "bin" / "python"

_HERE = "bench.programs."
_ROCKSDB = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
# Evicts rows in the order of their times; for RocksDB only.
_JOIN_FORMAT = {"spark.sql.streaming.join.stateFormatVersion": "4"}


def install_flink(console: Console) -> None:
    """An environment of its own, because its requirements do not go together with ours."""
    if not FLINK_PYTHON.exists():
        folder = FLINK_PYTHON.parent.parent
        with console.status("installing Flink from the package index (700 MB: some minutes on a slow line)"):
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
            requirements = str(Path(__file__).parent / "requirements-flink.txt")
            subprocess.run([str(FLINK_PYTHON), "-m", "pip", "install", "--quiet", "-r", requirements], check=True)


@dataclass(frozen=True, slots=True)
class Query:
    """`folder` is the one below `queries/`, `reads` its inputs, `parameters` what its texts leave open.

    `share`: which part of the events it is run over, for what takes too long over all of them. `key`: of a table, which
    is sent as changes. Where micro-batches are measured, `size` is how many rows the tables have before they change, or
    `per_batch` how many events a micro-batch has.
    """

    name: str
    title: str
    reads: tuple[str, ...]
    folder: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    share: float = 1.0
    key: tuple[str, ...] = ()
    size: int = 0
    per_batch: int = 0

    @property
    def is_of_batches(self) -> bool:
        """Whether micro-batches are measured, and not rows."""
        return bool(self.size or self.per_batch)

    @property
    def inputs(self) -> Path:
        """The folder of what declares them."""
        return QUERIES / ("tables" if set(self.reads) & set(CHANGELOGS) else "streams")

    @property
    def path(self) -> Path:
        return QUERIES / (self.folder or self.name)


@dataclass(frozen=True, slots=True)
class System:
    """`language` names the file of a query that is its program, before which stands `head`; `settings` go to Spark.

    `follows`: the program keeps running, and reads the files that come.
    """

    name: str
    title: str
    language: str
    settings: dict[str, str] = field(default_factory=dict)
    head: str = ""
    follows: bool = False

    @property
    def command(self) -> list[str]:
        match self.language:
            case "penstock":
                way = ["--checkpoint", "state"] if self.follows else ["--once"]
                return [sys.executable, "-c", "from penstock.commands.cli import main; main()", "run", *way]
            case "flink":
                return [str(FLINK_PYTHON), "-m", _HERE + "flink"]
            case language:
                return [sys.executable, "-m", _HERE + language + "_files" * self.follows]


_BOUND = {"length": "10", "unit": "MINUTE"}
_OVER = {"key": "auction", **_BOUND}
_HOPS = {"length": "60", "slide": "10", "unit": "SECOND", "hops": "6"}
# A hundred keys that are there all the time, so that an hour's frame holds sixty times the rows of a minute's.
_KEYS = "MOD(auction, 100)"

MAIN = (
    Query("q0", "pass through", ("bid",)),
    Query("q1", "currency conversion", ("bid",)),
    Query("q2", "filter", ("bid",)),
    Query("q3", "join within 10 min, filtered", ("person", "auction")),
    Query("q5", "top 3 of hopping counts", ("bid",)),
    Query("q7", "highest bids, 1 min", ("bid",)),
    Query("q8", "join of windows, 1 min", ("person", "auction")),
    Query("q11", "sessions, 10 s", ("bid",), parameters={"length": "10", "unit": "SECOND"}),
    Query("q12", "tumbling count, 10 s", ("bid",)),
    Query("tumble", "tumbling aggregates, 1 min", ("bid",), parameters={"length": "1", "unit": "MINUTE"}),
    Query("hop", "hopping aggregates, 1 min by 10 s", ("bid",), parameters=_HOPS),
    Query("over", "OVER RANGE 10 min", ("bid",), parameters=_OVER),
    Query("join", "join within 10 min", ("auction", "bid"), parameters=_BOUND),
    Query("left_join", "left join within 10 min", ("auction", "bid"), parameters=_BOUND),
)
HOPS = tuple(each for each in MAIN if each.name in ("q5", "hop"))
SELF_JOIN = (Query("over_small", "OVER RANGE 10 min, a tenth", ("bid",), "over", _OVER, share=0.1),)
FRAMES = tuple(
    Query(f"over_{length}", f"OVER RANGE {length} min", ("bid",), "over", {**_OVER, "key": _KEYS, "length": length})
    for length in ("1", "10", "60")
)
BOUNDS = tuple(
    Query(f"join_{length}", f"join within {length} min", ("auction", "bid"), "join", {**_BOUND, "length": length})
    for length in ("2", "8", "32")
)
TABLES = (
    Query("table_join", "left join of tables by key", ("item", "offer"), key=("id",)),
    Query("retraction", "count and sum by another column", ("item",), key=("category",)),
)
SIZES = tuple(
    Query(f"{folder}_{size}", f"{title}, {size:,} rows", reads, folder, key=key, size=size)
    for folder, title, reads, key in (
        ("table_join", "left join of tables by key", ("item", "offer"), ("id",)),
        ("lookup", "stream with table", ("visit", "item"), ()),
    )
    for size in (10_000, 100_000, 1_000_000)
)
SMALL_BATCHES = tuple(
    Query(f"{each.name}_batch", each.title, each.reads, each.name, each.parameters, per_batch=1_000)
    for each in MAIN
    if each.name in ("q1", "tumble", "hop", "q11", "join", "over")
)
QUERY_SETS = {
    "main": MAIN,
    "hops": HOPS,
    "self-join": SELF_JOIN,
    "frames": FRAMES,
    "bounds": BOUNDS,
    "tables": TABLES,
    "table-size": SIZES,
    "small-batches": SMALL_BATCHES,
}

SYSTEMS = (
    System("penstock", "Penstock", "penstock"),
    System("penstock-partials", "Penstock, partial aggregates", "penstock", head="SET partial_aggregates = ON;\n"),
    System("penstock-whole", "Penstock, whole windows", "penstock", head="SET partial_aggregates = OFF;\n"),
    System("spark", "Spark by hand", "spark"),
    System("spark-rocksdb", "Spark by hand, RocksDB", "spark", _ROCKSDB),
    System("spark-join-4", "Spark by hand, RocksDB, join format 4", "spark", {**_ROCKSDB, **_JOIN_FORMAT}),
    System("penstock-rocksdb", "Penstock, RocksDB", "penstock", head="SET state_store = 'rocksdb';\n"),
    System("flink", "Flink SQL", "flink"),
    System("duckdb", "DuckDB, batch", "duckdb"),
)


READ_ALL = {"delay": "4", "limit": ", files_per_batch = 1", "halves": "-halves", "follow": ""}
"""How streams are read to their end. Flink has a file for each of its two tasks, in the order of arrival."""


def can_run(system: System, query: Query) -> bool:
    """Whether there is a program, and one that ends in time.

    The self-join that stands for OVER takes time that grows with the square of the rows: only few of them. Flink has no
    micro-batches, on which also depends what a row of a lookup meets. Only windows of HOP have partial aggregates.
    """
    if query.folder == "lookup":
        return system.language in ("penstock", "duckdb")
    if system.name in ("penstock-partials", "penstock-whole"):
        return query in HOPS
    if query.is_of_batches and system.language == "flink":
        return False
    if query.folder == "over" or query.name == "over":
        return query.share < 1 or system.language != "spark"
    return True


def program(
    system: System, query: Query, data: Path, out: Path, work: Path, format_: str, given: Mapping[str, str] = READ_ALL
) -> list[str]:
    """The command that runs a query, its texts written to the folder `work`. `given`: how the streams are read."""
    if system.language == "spark":
        parameters = [f"{name}={value}" for name, value in query.parameters.items()]
        return [*system.command, str(query.path / "spark.py"), str(data), str(out), format_, *query.reads, *parameters]
    open_ = {
        "data": str(data),
        "out": str(out),
        "format": format_,
        "csv": ", header = false, multi_line = false" if format_ == "csv" else "",
        **given,
        **query.parameters,
    }
    texts = [query.inputs / f"{system.language}.sql", query.path / f"{system.language}.sql"]
    file = work / "script.sql"
    file.write_text(
        system.head + "\n".join(Template(each.read_text(encoding="utf-8")).substitute(open_) for each in texts), "utf-8"
    )
    return [*system.command, str(file)] if system.language == "penstock" else [*system.command, str(file), str(out)]
