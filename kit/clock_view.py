"""A checkpoint -> the watermark in force and the micro-batch's number, as a view of one row.

Spark has no expression for either. But it plans each micro-batch anew, in a thread that knows the number of the
micro-batch, and has written the watermark to the checkpoint before (`watermark.py`). A table in memory is asked for its
rows then. So the checkpoint is read by the driver alone, through Spark's own file systems.
"""

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession

from penstock.kit.watermark import row_watermark_of, watermark_of


class ClockTable:
    """A table of Spark's with one row. Spark calls the methods that are named as in Java.

    Each micro-batch asks for its capabilities and its rows. Classes of Java are looked up before, as that takes long.
    """

    class Java:
        implements = (
            "org.apache.spark.sql.connector.catalog.SupportsRead",
            "org.apache.spark.sql.connector.read.ScanBuilder",
            "org.apache.spark.sql.connector.read.LocalScan",
        )

    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        self._context: Any = spark.sparkContext
        self._checkpoint = checkpoint
        self._jvm: Any = spark._jvm
        jvm: Any = spark._jvm
        self._path_class = jvm.org.apache.hadoop.fs.Path
        self._io_utils = jvm.org.apache.hadoop.io.IOUtils
        self._row_class = jvm.org.apache.spark.sql.catalyst.InternalRow
        self._generic_row_class = jvm.org.apache.spark.sql.catalyst.expressions.GenericInternalRow
        self._capabilities = jvm.java.util.HashSet()
        self._capabilities.add(jvm.org.apache.spark.sql.connector.catalog.TableCapability.BATCH_READ)
        now = "STRUCT(CAST(id AS TIMESTAMP) AS watermark, CAST(id AS TIMESTAMP) AS row_watermark, id AS batch) AS now"
        self._schema = spark.range(0).selectExpr(now)._jdf.schema()

    def name(self) -> str:
        return "clock"

    def id(self) -> None:
        return None

    def version(self) -> None:
        return None

    def capabilities(self) -> Any:
        return self._capabilities

    def columns(self) -> Any:
        return self._jvm.org.apache.spark.sql.connector.catalog.CatalogV2Util.structTypeToV2Columns(self._schema, False)

    def schema(self) -> Any:
        return self._schema

    def partitioning(self) -> Any:
        return self._array(self._jvm.org.apache.spark.sql.connector.expressions.Transform)

    def constraints(self) -> Any:
        return self._array(self._jvm.org.apache.spark.sql.connector.catalog.constraints.Constraint)

    def properties(self) -> Any:
        return self._jvm.java.util.HashMap()

    def newScanBuilder(self, options: Any) -> "ClockTable":
        return self

    def build(self) -> "ClockTable":
        return self

    def readSchema(self) -> Any:
        return self._schema

    def description(self) -> str:
        return "clock"

    def supportedCustomMetrics(self) -> Any:
        return self._array(self._jvm.org.apache.spark.sql.connector.metric.CustomMetric)

    def reportDriverMetrics(self) -> Any:
        return self._array(self._jvm.org.apache.spark.sql.connector.metric.CustomTaskMetric)

    def columnarSupportMode(self) -> Any:
        return getattr(self._jvm.org.apache.spark.sql.connector.read, "Scan$ColumnarSupportMode").UNSUPPORTED

    def rows(self) -> Any:
        """One row. Raises LookupError if Spark runs no micro-batch of this checkpoint."""
        keys = "streaming.sql.batchId", "sql.streaming.queryId"
        batch, query = (self._context._jsc.getLocalProperty(key) for key in keys)
        watermark = watermark_of(self._read, self._checkpoint, batch, query)
        now, row = self._generic_row_class(3), self._generic_row_class(1)
        for place, value in enumerate((watermark * 1000, row_watermark_of(watermark) * 1000, int(batch))):
            now.setLong(place, value)
        row.update(0, now)
        rows = self._array(self._row_class, 1)
        rows[0] = row
        return rows

    def toString(self) -> str:
        return f"clock of {self._checkpoint}"

    def hashCode(self) -> int:
        return hash(self._checkpoint) & 0x7FFFFFFF

    def equals(self, other: Any) -> bool:
        return bool(other is self)

    def _read(self, path: str) -> str:
        place = self._path_class(path)
        try:
            stream = place.getFileSystem(self._context._jsc.hadoopConfiguration()).open(place)
            try:
                return bytes(self._io_utils.readFullyToByteArray(stream)).decode()
            finally:
                stream.close()
        except Py4JJavaError as error:
            raise OSError(str(error.java_exception.toString())) from None

    def _array(self, kind: Any, length: int = 0) -> Any:
        return self._context._gateway.new_array(kind, length)


def clock_rows(spark: SparkSession, checkpoint: str) -> DataFrame:
    """One row with a struct `now`: the `watermark` of the micro-batch in which it is read, and `batch`, its number.

    `row_watermark` is the watermark of the rows of a query with sessions. There is one column. With two, Spark would
    run a job in each micro-batch to leave one out.
    """
    ensure_callback_server_started(spark.sparkContext._gateway)  # type: ignore[no-untyped-call]
    jvm: Any = spark._jvm
    none = jvm.scala.Option.empty()
    sources = jvm.org.apache.spark.sql.execution.datasources.v2
    relation = sources.DataSourceV2Relation.create(ClockTable(spark, checkpoint), none, none)
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, relation), spark)
