"""Intermediate streams, for ejected programs: Parquet files in the checkpoint of the query that writes them."""

READ_STAGE = '''
def read_intermediate(spark, columns, path):
    """The rows that another query of this program has written, each of its micro-batches as a whole."""
    make_folder(spark, path)
    declared = ", ".join(f"{quoted(name)} {type_}" for name, type_ in columns.items())
    return spark.readStream.option("maxFileAge", "36500d").schema(declared).parquet(path)
'''

WRITE_STAGE = '''
def write_intermediate(rows, query, path):
    """Rows for the queries above this one."""
    return rows.writeStream.format("parquet").option("path", path)
'''
