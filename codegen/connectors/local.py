"""Generated rows, the terminal and the program's memory, for ejected programs."""

READ_RATE = '''
def read_rate(spark, columns, rows_per_second=1):
    """Numbered rows: a BIGINT column counts from 0, a TIMESTAMP column is the time."""
    generated = {"BIGINT": "value", "TIMESTAMP": "timestamp"}
    rows = spark.readStream.format("rate").option("rowsPerSecond", rows_per_second).load()
    return rows.select(*(F.col(generated[type_]).alias(name) for name, type_ in columns.items()))
'''

SHOW = '''
def write_console(rows, query, rows_shown=20):
    """A table for every batch that has rows."""

    def show(batch, number):
        batch.persist()
        if not batch.isEmpty():
            print(f"{query}, batch {number}")
            batch.show(rows_shown, truncate=False)
        batch.unpersist()

    return rows.writeStream.foreachBatch(show)
'''

KEEP = '''
KEPT = {}  # the rows of memory sinks, by query


def write_memory(rows, query, key=None, operation=None):
    """Rows in KEPT; in a table that changes, the newest row of each key, unless the column `operation` deletes it."""
    from pyspark.sql import Row

    kept = KEPT.setdefault(query, {})

    def keep(batch, number):
        for place, row in enumerate(batch.collect()):
            at = (number, place) if key is None else repr([row[name] for name in key])
            if operation is None:
                kept[at] = row
            elif row[operation] == "delete":
                kept.pop(at, None)
            else:
                names = [name for name in row.__fields__ if name != operation]
                kept[at] = Row(*names)(*(row[name] for name in names))

    return rows.writeStream.foreachBatch(keep)
'''
