"""CSV files -> their records as text, and the fields of each."""

import csv
import io
import itertools
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.kit.files.openable_files import pattern_of_names
from penstock.kit.spark_columns import quote_name

CSV_WRITER_OPTIONS = {
    "quote": '"',
    "escape": '"',
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
"""How Spark writes CSV by RFC 4180."""
CSV_OPTIONS = {
    **CSV_WRITER_OPTIONS,
    "multiLine": "true",
    "lineSep": "\n",
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": "_malformed",
    "maxColumns": "20480",  # each parser allocates arrays of this length
    "nullValue": "\ue5f7",  # beside a field without text; it is in the private use area, so that no field is this
}
"""How Spark reads CSV by RFC 4180."""


def whole_records(reader: Any, path: str, fields: int) -> DataFrame:
    """The records of CSV files as text, in the column `value`. A field in quotes may have line ends.

    Spark is told of another number of fields than records have: so it takes each for malformed, and gives its text.
    """
    names = ["_0", "_1"] if fields == 1 else ["_0"]
    schema = ", ".join(f"{name} STRING" for name in [*names, "_malformed"])
    rows: DataFrame = reader.options(columnPruning=False, **CSV_OPTIONS).schema(schema).csv(path)
    *others, last = map(F.col, names)
    # The last field may end in the CR of CR LF.
    written = F.to_csv(F.struct(*others, without_cr(last)), CSV_WRITER_OPTIONS)
    value = F.coalesce(without_cr(F.col("_malformed")), written)
    # An enclosed field without text is none.
    line = F.col("_malformed") if fields == 1 else F.nullif(F.col("_0"), F.lit(""))
    return rows.where(~F.coalesce(is_blank(line, fields), F.lit(False))).select(value.alias("value"), "_metadata")


def whole_lines(reader: Any, path: str, fields: int) -> DataFrame:
    """The lines of CSV files that are not blank, in the column `value`."""
    rows: DataFrame = reader.option("lineSep", "\n").text(path)
    value = F.col("value")
    return rows.where(~is_blank(value, fields)).select(without_cr(value).alias("value"), "_metadata")


def is_blank(line: Column, fields: int) -> Column:
    """Whether a line is no record. A line of spaces and tabs is one if there is one field, which they are."""
    blanks = "\r" if fields == 1 else " \t\r"
    # Most lines begin with no blank, which is quicker to see than that they are none.
    return (line < "!") & (F.rtrim(line, F.lit(blanks)) == "")


def without_cr(line: Column) -> Column:
    """The text without the CR at its end."""
    return F.when(F.endswith(line, F.lit("\r")), F.left(line, F.length(line) - 1)).otherwise(line)


def csv_rows(
    reader: Any,
    path: str,
    fields: Sequence[str],
    header: Sequence[str] | None,
    origin: Iterable[str],
    multi_line: bool,
    elsewhere: Iterable[str] = (),
) -> DataFrame:
    """Records of CSV files as text, and their fields in the struct `_parsed`, beside what is known of their origin.

    With a `header` the first record of each file has to match it, and is left out. A task has to read one file
    then. The columns `elsewhere` are no fields of the files, and NULL in the struct.
    """
    rows = whole_records(reader, path, len(fields)) if multi_line else whole_lines(reader, path, len(fields))
    first = "_metadata.file_block_start = 0 AND MONOTONICALLY_INCREASING_ID() & 8589934591 = 0 AS _first"
    rows = divide_records(rows.selectExpr("value", *([] if header is None else [first]), *origin), fields)
    for name in elsewhere:
        nothing = F.lit(None).cast("string")
        rows = rows.withColumn("_parsed", F.col("_parsed").withField(quote_name(name), nothing))
    if header is None:
        return rows
    found = F.lower(F.to_json(F.array(*(F.coalesce(F.col("_parsed")[name], F.lit("")) for name in fields))))
    expected = F.lower(F.to_json(F.array(*map(F.lit, header))))
    other = F.raise_error(F.concat(F.lit("CSV header of "), "_file", F.lit(" "), "value")).cast("boolean")
    return rows.where(F.when(~F.col("_first"), True).when(found == expected, False).otherwise(other))


def divide_records(rows: DataFrame, fields: Sequence[str]) -> DataFrame:
    """The records in the column `value`, with their fields in the struct `_parsed`.

    The fields of a record that has more or fewer are there, too, with its text as `_malformed`. `_plain` says that a
    record is UTF-8, and has neither quotes nor CR.
    """
    # SPLIT finds a quote faster than CONTAINS does. What is not UTF-8 comes out of it as another text.
    rows = rows.selectExpr("*", "GET(SPLIT(value, '\"', 2), 0) = value AND NOT CONTAINS(value, '\r') AS _plain")
    rows = rows.withColumn("_texts", F.when(F.col("_plain"), F.split("value", ",", -1)))
    # Commas alone divide a plain record: Spark's parser would take several times as long.
    texts = [F.nullif(F.get("_texts", F.lit(place)), F.lit("")).alias(name) for place, name in enumerate(fields)]
    schema = ", ".join(f"`{name.replace('`', '``')}` STRING" for name in [*fields, "_malformed"])
    parsed = F.from_csv("value", schema, CSV_OPTIONS)
    divided = F.struct(*texts, F.lit(None).cast("string").alias("_malformed"))
    return rows.withColumn("_parsed", F.when(F.size("_texts") == len(fields), divided).otherwise(parsed))


def list_files(spark: SparkSession, path: str) -> list[str]:
    """The files that are there now, as URIs, in order."""
    reader = spark.read.option("recursiveFileLookup", True).option("pathGlobFilter", pattern_of_names(spark, path))
    return sorted(reader.format("text").load(path).inputFiles())


def header_of(spark: SparkSession, path: str) -> tuple[str, list[str]] | None:
    """The first file that has a record, and the fields of it; None if there is no such file yet."""
    for file in list_files(spark, path):
        # The name of a file is no pattern. A line of blanks names no columns, however many there are.
        first = whole_records(spark.read.option("__globPaths__", False), unquote(file), fields=3).first()
        if first is not None:
            return file, next(csv.reader(io.StringIO(first["value"], newline="")))
    return None


def match_header(header: Sequence[str], columns: Iterable[str]) -> tuple[list[str], list[str]]:
    """The columns in the order of the header, and the columns that it lacks or has twice.

    Fields that are no columns get names that no column has.
    """
    declared = {name.lower(): name for name in columns}
    present = [name.lower() for name in header]
    missing = [name for lower, name in declared.items() if present.count(lower) != 1]
    others = (f"_{place}" for place in itertools.count() if f"_{place}" not in declared)
    return [declared.get(name) or next(others) for name in present], missing
