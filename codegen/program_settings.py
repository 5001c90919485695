"""The settings of Spark that results depend on."""

from __future__ import annotations


def list_settings(state_partitions: int) -> tuple[tuple[str, str], ...]:
    """The settings of a program whose state has so many partitions unless a query says otherwise."""
    return (
        ("spark.sql.session.timeZone", "UTC"),
        ("spark.sql.ansi.enabled", "true"),
        ("spark.sql.timeType.enabled", "true"),
        ("spark.sql.caseSensitive", "false"),
        ("spark.sql.groupByOrdinal", "false"),
        ("spark.sql.parser.escapedStringLiterals", "false"),
        ("spark.sql.variable.substitute", "false"),
        ("spark.sql.runSQLOnFiles", "false"),
        # Re-used exchanges lose rows of self-joined aggregates.
        ("spark.sql.exchange.reuse", "false"),
        # By default Spark writes times as others read them wrongly outside of the years 1677 to 2262.
        ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS"),
        # What Spark would infer of columns takes it minutes where many are computed.
        ("spark.sql.constraintPropagation.enabled", "false"),
        ("spark.sql.streaming.multipleWatermarkPolicy", "min"),
        ("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true"),
        # A query that was killed in its first write leaves a file there that is not an entry.
        ("spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart", "false"),
        ("spark.sql.shuffle.partitions", str(state_partitions)),
    )
