"""How often a query starts a micro-batch."""

from __future__ import annotations

import pytest

from penstock.codegen import spark_text
from penstock.compilation import compile

DECLARED = """CREATE STREAM s (id BIGINT KEY, time TIMESTAMP, WATERMARK FOR time AS time - 1 SECOND)
  WITH (connector = 'files', path = 'in', format = 'json');
"""
GROWING = (
    "CREATE TABLE t AS SELECT id, COUNT(*) AS n FROM s GROUP BY id, TUMBLE(time, 1 HOUR) EMIT EARLY EVERY 5 SECONDS;"
)


@pytest.mark.parametrize(
    ("before", "query", "interval"),
    [
        ("", "CREATE STREAM t AS SELECT STREAM id FROM s;", 1_000),
        ("SET trigger_interval = 200 MILLISECONDS;", "CREATE STREAM t AS SELECT STREAM id FROM s;", 200),
        ("SET trigger_interval = 200 MILLISECONDS;", GROWING, 5_000),
    ],
    ids=["usual", "set", "emit early"],
)
def test_the_interval_is_that_of_the_query_or_of_the_script(before: str, query: str, interval: int) -> None:
    program = compile(before + DECLARED + query).program
    assert [each.interval for each in program.queries] == [interval]
    assert (f"a micro-batch every {interval} ms" in spark_text(program)) == bool(before)


def test_no_checkpoint_depends_on_it() -> None:
    texts = (f"{before}{DECLARED}{GROWING}" for before in ("", "SET trigger_interval = 200 MILLISECONDS;"))
    first, second = (compile(text).program.queries[0].fingerprint for text in texts)
    assert first == second
