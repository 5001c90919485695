"""Rows of a stream beside rows of a PostgreSQL table, by hand as an expert would: `lookup.py DATA URL KEYS OUT`.

KEYS: of one statement at most. Each Python worker keeps a connection, which prepares the statement after some times.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import psycopg
import pyarrow as pa

from bench.programs.session import start_spark

CONNECTIONS: dict[str, Any] = {}
FOUND = "k BIGINT, n BIGINT, name STRING, p DECIMAL(18, 2)"


def main(data: str, url: str, keys: int, out: str) -> None:
    """Run it to the end of the files that are there."""
    spark = start_spark()

    def look_up(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow.compute as pc

        kept = sys.modules.setdefault("connections", type(sys)("connections")).__dict__
        if url not in kept:
            kept[url] = psycopg.connect(url, autocommit=True)
        connection = kept[url]
        for batch in batches:
            asked = pc.unique(batch["k"]).to_pylist()
            found: list[Any] = []
            for begin in range(0, len(asked), keys):
                some = asked[begin : begin + keys]
                cursor = connection.execute("SELECT k, s, p FROM profiles WHERE k = ANY(%s)", [some])
                found += cursor.fetchall()
            names = ("k", "name", "p")
            types = (pa.int64(), pa.string(), pa.decimal128(18, 2))
            columns = list(zip(*found, strict=True)) or [()] * 3
            arrays = [pa.array(values, type_) for values, type_ in zip(columns, types, strict=True)]
            rows = pa.Table.from_batches([batch]).join(pa.table(arrays, names), "k", use_threads=False)
            yield from rows.select(["k", "n", "name", "p"]).combine_chunks().to_batches()

    reader = spark.readStream.schema("k BIGINT, n BIGINT").option("maxFilesPerTrigger", 1)
    rows = reader.option("maxFileAge", "36500d").parquet(data).mapInArrow(look_up, FOUND)
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = rows.writeStream.format("parquet").option("path", out).option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
