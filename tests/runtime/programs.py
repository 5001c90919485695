"""Programs built by hand, in the shape that codegen gives them, and what their sinks hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.codegen.program import Input, Metric, Program, QueryOutput, Rejects, SparkQuery, View, ViewWatermark

SETTINGS = (
    ("spark.sql.shuffle.partitions", "2"),
    ("spark.sql.variable.substitute", "false"),
    ("spark.sql.exchange.reuse", "false"),
    ("spark.sql.runSQLOnFiles", "false"),
)
COLUMNS = (("id", "BIGINT"), ("v", "INT"), ("ts", "TIMESTAMP"))
REASON = (
    "CASE WHEN _malformed IS NOT NULL THEN 'malformed record' WHEN ts IS NULL THEN 'no event time' "
    "WHEN ts > _arrived + INTERVAL '1' HOUR THEN 'future' END"
)

REJECTED = (("reason", "STRING"), ("record", "STRING"), ("file", "STRING"))


@dataclass
class Place:
    """A folder with the files of the stream `orders`, and programs that read it."""

    root: Path
    options: tuple[tuple[str, str | int | bool], ...] = (("format", "json"),)

    @property
    def input(self) -> Path:
        return self.root / "orders"

    def put(self, name: str, *rows: dict[str, Any] | str) -> None:
        """Adds a JSON file; a row given as a string is written as it is."""
        self.input.mkdir(exist_ok=True)
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        draft = self.root / f".{name}"
        draft.write_text("\n".join(lines) + "\n")
        draft.rename(self.input / f"{name}.json")

    def source(self) -> Input:
        return Input("orders", "orders_raw", "files", (("path", str(self.input)), *self.options), COLUMNS)

    def kept(self, expression: str = "v", *, connector: str = "memory", **options: str) -> Program:
        """`SELECT id, <expression> AS v FROM orders WHERE v >= 10`."""
        read = View(
            "orders_read",
            f"SELECT *, {REASON} AS _reason, COALESCE(v >= 10, false) AS _wanted FROM orders_raw",
            metrics=(
                Metric("in:orders", "COUNT(*)"),
                Metric("rejected:orders", "COUNT(_reason)"),
                Metric("filtered:orders", "COUNT_IF(_reason IS NULL AND NOT _wanted)"),
                Metric("used:orders", "COUNT_IF(_reason IS NULL AND _wanted)"),
            ),
        )
        result = View("kept_result", f"SELECT id, {expression} AS v FROM orders_read WHERE _reason IS NULL AND _wanted")
        aside = (
            View(
                "orders_suspect",
                f"SELECT {REASON} AS reason, COALESCE(_malformed, TO_JSON(STRUCT(id, v, ts))) AS record, _file AS file "
                "FROM orders_raw",
            ),
            View("orders_rejected", "SELECT * FROM orders_suspect WHERE reason IS NOT NULL"),
        )
        query = SparkQuery(
            name="kept",
            inputs=(self.source(),),
            views=(read, result),
            result="kept_result",
            output=QueryOutput("kept", connector, tuple(options.items()), (("id", "BIGINT"), ("v", "INT"))),
            mode="append",
            timed=False,
            key=(),
            rejects=(Rejects("orders", self.source(), aside, "orders_rejected", REJECTED),),
            fingerprint=f"kept {expression}",
        )
        return Program(SETTINGS, (query,))

    def windows(
        self, aggregate: str = "COUNT(*)", *, mode: str = "append", connector: str = "memory", **options: str
    ) -> Program:
        """`SELECT window_start, <aggregate> AS n FROM orders GROUP BY TUMBLE(ts, INTERVAL 10 MINUTES)`, delay 5 min."""
        views = (
            View(
                "orders_read",
                f"SELECT *, {REASON} AS _reason FROM orders_raw",
                metrics=(Metric("in:orders", "COUNT(*)"), Metric("rejected:orders", "COUNT(_reason)")),
            ),
            View(
                "orders_timed",
                "SELECT id, v, ts FROM orders_read WHERE _reason IS NULL "
                "UNION ALL SELECT CAST(NULL AS BIGINT), CAST(NULL AS INT), time FROM windows_end",
                ViewWatermark("ts", 300_000),
            ),
            View(
                "orders_split",
                "SELECT id, v, ts, ts < _watermark AS _late FROM orders_timed "
                "CROSS JOIN (SELECT now.watermark AS _watermark FROM windows_clock) WHERE ts < TIMESTAMP '9000-01-01'",
                metrics=(Metric("late:orders", "COUNT_IF(_late)"), Metric("used:orders", "COUNT_IF(NOT _late)")),
            ),
            View(
                "windows_result",
                f"SELECT w.start AS window_start, n FROM (SELECT WINDOW(ts, '10 minutes') AS w, {aggregate} AS n "
                "FROM orders_split WHERE NOT _late GROUP BY WINDOW(ts, '10 minutes'))",
            ),
        )
        query = SparkQuery(
            name="windows",
            inputs=(self.source(),),
            views=views,
            result="windows_result",
            output=QueryOutput(
                "windows", connector, tuple(options.items()), (("window_start", "TIMESTAMP"), ("n", "BIGINT"))
            ),
            mode="update" if mode == "update" else "append",
            timed=True,
            key=("window_start",) if mode == "update" else (),
            rejects=(),
            fingerprint=f"windows {aggregate}",
        )
        return Program(SETTINGS, (query,))


def at(minute: int) -> str:
    """An event time on the morning that the tests are about."""
    return f"2026-01-01T{10 + minute // 60:02d}:{minute % 60:02d}:00Z"


def written(folder: Path) -> list[dict[str, Any]]:
    """The rows of a files sink of JSON that its log knows of: those of finished batches."""
    rows: list[dict[str, Any]] = []
    for entry in logged(folder):
        rows += [json.loads(line) for line in Path(entry).read_text().splitlines()]
    return rows


def logged(folder: Path) -> Sequence[str]:
    log = folder / "_spark_metadata"
    numbered = {int(file.name.split(".")[0]): file for file in sorted(log.iterdir()) if file.name[0].isdigit()}
    compacted = max((number for number, file in numbered.items() if file.suffix == ".compact"), default=-1)
    lines = [
        line
        for number, file in sorted(numbered.items())
        if number >= compacted
        for line in file.read_text().splitlines()
    ]
    return [json.loads(line)["path"].removeprefix("file://") for line in lines if line.startswith("{")]
