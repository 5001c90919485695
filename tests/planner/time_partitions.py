"""How long the partitions of a script of 200 statements take: `python -m tests.planner.time_partitions`."""

from __future__ import annotations

import random
from time import perf_counter

from penstock.compilation import compile
from penstock.planner.partitions.agree import find_partitions

STREAMS, REKEYED, JOINS = 40, 60, 100
COLUMNS = "(k BIGINT KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 1 SEC)"


def script(choice: random.Random) -> str:
    """Streams of one count, re-keyed ones, and joins of the former and the latter with the latter."""
    lines = [
        f"CREATE STREAM s{i} {COLUMNS} WITH (connector = 'files', path = 's{i}', format = 'json', partitions = 8);"
        for i in range(STREAMS)
    ]
    lines += [
        f"CREATE STREAM p{i} AS SELECT STREAM k, v, time FROM s{i % STREAMS} PARTITION BY k;" for i in range(REKEYED)
    ]
    for i in range(JOINS):
        one = choice.choice([f"p{choice.randrange(REKEYED)}", f"s{choice.randrange(STREAMS)}"])
        on = "ON a.k = b.k AND b.time BETWEEN a.time AND a.time + 5 SEC"
        text = f"SELECT STREAM a.k, b.v, a.time FROM {one} a JOIN p{choice.randrange(REKEYED)} b {on}"
        lines.append(f"CREATE STREAM j{i} AS {text};")
    return "\n".join(lines)


def main() -> None:
    sql = script(random.Random(1))
    begin = perf_counter()
    made = compile(sql)
    print(f"{len(made.statements)} statements compiled in {(perf_counter() - begin) * 1000:.0f} ms")
    times = []
    for _ in range(9):
        begin = perf_counter()
        found = find_partitions(made.queries, made.settings, made.catalog)
        times.append(perf_counter() - begin)
    median = sorted(times)[len(times) // 2]
    print(f"{len(found.script.joins)} joins: graph and counts in {median * 1000:.1f} ms (median of {len(times)})")


if __name__ == "__main__":
    main()
