"""Changes of a PostgreSQL table written by hand, as an expert would: `table.py QUERY HOW DATA URL`.

HOW is `copy`: each micro-batch goes into a temporary table by COPY, and from there into the target by one statement;
or `rows`: a statement for each row. Either is one transaction with a row that says which micro-batch it was.
"""

from __future__ import annotations

import sys
import tempfile
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.csv as arrow_csv
from pyspark.sql import DataFrame

from bench.programs.session import start_spark

COLUMNS = "k BIGINT, n BIGINT, p DECIMAL(18, 2), s STRING, z TIMESTAMP"
STAGE = (
    "CREATE TEMPORARY TABLE stage (k bigint, n bigint, p numeric(18, 2), s text, z timestamptz) ON COMMIT DELETE ROWS"
)
# Of several rows of a key the last one counts, of which `ctid` says the place.
LAST = "SELECT DISTINCT ON (k) k, n, p, s, z FROM stage ORDER BY k, ctid DESC"
# The columns that a statement uses, and the statement.
COPIED = {
    "upsert": (
        ["k", "n", "p", "s", "z"],
        f"""INSERT INTO profiles (k, n, p, s, z) {LAST}
            ON CONFLICT (k) DO UPDATE SET n = EXCLUDED.n, p = EXCLUDED.p, s = EXCLUDED.s, z = EXCLUDED.z""",
    ),
    "update": (
        ["k", "n", "s"],
        """INSERT INTO profiles (k, n, s, p) SELECT DISTINCT ON (k) k, n, s, 0 FROM stage ORDER BY k, ctid DESC
            ON CONFLICT (k) DO UPDATE SET n = EXCLUDED.n, s = EXCLUDED.s""",
    ),
    "count": (
        ["k", "n"],
        """INSERT INTO profiles (k, n) SELECT k, sum(n) FROM stage GROUP BY k ORDER BY k
            ON CONFLICT (k) DO UPDATE SET n = profiles.n + EXCLUDED.n""",
    ),
}
BY_ROW = {
    "upsert": """INSERT INTO profiles (k, n, p, s, z) VALUES (%s, %s, %s, %s, %s)
        ON CONFLICT (k) DO UPDATE SET n = EXCLUDED.n, p = EXCLUDED.p, s = EXCLUDED.s, z = EXCLUDED.z""",
    "update": """INSERT INTO profiles (k, n, s, p) VALUES (%s, %s, %s, 0)
        ON CONFLICT (k) DO UPDATE SET n = EXCLUDED.n, s = EXCLUDED.s""",
    "count": """INSERT INTO profiles (k, n) VALUES (%s, %s)
        ON CONFLICT (k) DO UPDATE SET n = profiles.n + EXCLUDED.n""",
}


def main(query: str, how: str, data: str, url: str) -> None:
    """Run it to the end of the files that are there."""
    spark = start_spark()
    names, statement = COPIED[query]
    reader = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).option("maxFileAge", "36500d")
    rows = reader.parquet(data).select(*names)
    with psycopg.connect(url) as connection, tempfile.TemporaryDirectory() as checkpoint:
        connection.execute("SET timezone = UTC")
        connection.execute(STAGE)
        connection.commit()

        def write(batch: DataFrame, number: int) -> None:
            noted = "INSERT INTO written VALUES (%s, %s) ON CONFLICT DO NOTHING"
            if connection.execute(noted, (query, number)).rowcount:
                if how == "copy":
                    copy(connection, batch.toArrow(), statement)
                else:
                    values = batch.toArrow().to_pylist()
                    connection.cursor().executemany(BY_ROW[query], [tuple(row.values()) for row in values])
            connection.commit()

        writer = rows.writeStream.option("checkpointLocation", checkpoint).foreachBatch(write)
        writer.trigger(availableNow=True).start().awaitTermination()
        spark.stop()


def copy(connection: psycopg.Connection[Any], rows: pa.Table, statement: str) -> None:
    """Loads rows into the temporary table, and from there into the target."""
    text = pa.BufferOutputStream()
    arrow_csv.write_csv(rows, text, arrow_csv.WriteOptions(include_header=False))
    with connection.cursor() as cursor:
        with cursor.copy(f"COPY stage ({', '.join(rows.column_names)}) FROM STDIN (FORMAT csv)") as into:
            into.write(text.getvalue())
        cursor.execute(statement)


if __name__ == "__main__":
    main(*sys.argv[1:])
