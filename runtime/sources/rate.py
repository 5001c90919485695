"""connector = 'rate' -> a stream of numbered rows: a BIGINT column counts from 0, a TIMESTAMP column is the time."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.codegen.program import Input
from penstock.diagnostics.codes.running import R007
from penstock.runtime.errors import RunError

_GENERATED = {"BIGINT": "value", "TIMESTAMP": "timestamp"}


def stream(spark: SparkSession, source: Input) -> DataFrame:
    """`rows_per_second` rows a second (1 if not given), under the declared names."""
    for name, type_ in source.columns:
        if type_ not in _GENERATED:
            problem = R007.at(None, name=source.name, type=type_)
            raise RunError([problem.because(f"{name} is {type_}; a rate stream makes BIGINT and TIMESTAMP values")])
    rows = dict(source.options).get("rows_per_second", 1)
    generated = spark.readStream.format("rate").option("rowsPerSecond", rows).load()
    return generated.select(*(F.col(_GENERATED[type_]).alias(name) for name, type_ in source.columns))
