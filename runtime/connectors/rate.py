"""A stream of numbered rows: a BIGINT column counts from 0, a TIMESTAMP column is the time."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.program import Input
from penstock.diagnostics.codes.running import R007
from penstock.kit.rate import GENERATED, read_rate
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSource
from penstock.runtime.failure.errors import RunError


class RateSource(RuntimeSource):
    """`rows_per_second` rows a second, under the declared names."""

    def __init__(self, source: Input) -> None:
        self._source = source

    def stream(self, spark: SparkSession) -> DataFrame:
        """Raises RunError for a column of another type."""
        source = self._source
        for name, type_ in source.columns:
            if type_ not in GENERATED:
                problem = R007.at(None, name=source.name, type=type_)
                raise RunError([problem.because(f"{name} is {type_}; a rate stream makes BIGINT and TIMESTAMP values")])
        return read_rate(spark, dict(source.columns), source.number("rows_per_second"))


CONNECTOR = RuntimeConnector(source=RateSource)
