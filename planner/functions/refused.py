"""Functions that Spark or another system has and a query may not call, with the reason."""

from __future__ import annotations

_RANDOM = "it gives another value each time, so a restarted query would not give the same rows"
_PLACE = "its value depends on how Spark splits and places the work"
_SESSION = "its value belongs to the Spark session and not to the data"
_CODE = "it runs code outside the query"
_FAILS = "it ends the query at the first row that reaches it"
_WINDOW = (
    "windows are written TUMBLE(time, size), HOP(time, slide, size), CUMULATE(time, step, size) or SESSION(time, gap)"
)
_ROWS = "it makes several rows of one"
_ORDER = "its value depends on the order of rows, and a stream has no order; MIN_BY and MAX_BY over the time do not"
_UNBOUNDED = "it keeps all rows of a group"
_KEY = "keys do not belong in the text of a query"
_RANKING = "it ranks the rows of a whole partition, which is never complete on a stream"
_SETS = "it belongs to GROUP BY: ROLLUP, CUBE and GROUPING SETS stand there, and GROUPING beside it"
_FILES = "its schema is read from outside of the query"

_BY_REASON = {
    _RANDOM: "RAND RANDN RANDOM RANDSTR UNIFORM UUID SHUFFLE",
    _PLACE: "INPUT_FILE_BLOCK_LENGTH INPUT_FILE_BLOCK_START INPUT_FILE_NAME MONOTONICALLY_INCREASING_ID "
    "SPARK_PARTITION_ID",
    _SESSION: "CURRENT_CATALOG CURRENT_DATABASE CURRENT_SCHEMA CURRENT_TIMEZONE CURRENT_USER SESSION_USER USER VERSION",
    _CODE: "JAVA_METHOD REFLECT TRY_REFLECT",
    _FAILS: "ASSERT_TRUE RAISE_ERROR",
    _WINDOW: "SESSION_WINDOW WINDOW WINDOW_TIME",
    _ROWS: "EXPLODE EXPLODE_OUTER INLINE INLINE_OUTER JSON_TUPLE POSEXPLODE POSEXPLODE_OUTER STACK",
    _ORDER: "ANY_VALUE ARRAY_AGG COLLECT_LIST LISTAGG MODE STRING_AGG",
    _UNBOUNDED: "COLLECT_SET HISTOGRAM_NUMERIC MEDIAN PERCENTILE PERCENTILE_CONT PERCENTILE_DISC",
    _KEY: "AES_DECRYPT AES_ENCRYPT TRY_AES_DECRYPT",
    _RANKING: "CUME_DIST NTH_VALUE NTILE PERCENT_RANK",
    _SETS: "CUBE GROUPING GROUPING_ID ROLLUP",
    _FILES: "FROM_AVRO TO_AVRO",
}

REFUSED: dict[str, str] = {name: reason for reason, names in _BY_REASON.items() for name in names.split()}

_TOP = "it gives an array; QUALIFY ROW_NUMBER() OVER (PARTITION BY … ORDER BY … DESC) <= n gives the rows"
_LATEST = "the order in which rows arrive is not part of the data"
_WHOLE_TEXT = "what it gives for objects, arrays or nulls differs from Spark's function"
_ENCODED = "it decodes what Spark's function leaves encoded"
_NULLS = "systems differ in what it gives for NULLs, repeated keys or values out of range"
_ZONES = "the type of its first argument decides what it means"

FOREIGN: dict[str, tuple[str, str | None]] = {
    "LATEST_BY_OFFSET": (_LATEST, "MAX_BY({0}, time)"),
    "EARLIEST_BY_OFFSET": (_LATEST, "MIN_BY({0}, time)"),
    "TOPK": (_TOP, None),
    "TOPKDISTINCT": (_TOP, None),
    "HISTOGRAM": (_UNBOUNDED, None),
    "GROUP_CONCAT": (_ORDER, None),
    "RAND_INTEGER": (_RANDOM, None),
    "GEN_RANDOM_UUID": (_RANDOM, None),
    "CURRENT_ROW_TIMESTAMP": (_RANDOM, "CURRENT_TIMESTAMP"),
    "CLOCK_TIMESTAMP": (_RANDOM, "CURRENT_TIMESTAMP"),
    "CURRENT_WATERMARK": (_PLACE, None),
    "JSON_VALUE": (_WHOLE_TEXT, "GET_JSON_OBJECT({0}, {1})"),
    "JSON_QUERY": (_WHOLE_TEXT, "GET_JSON_OBJECT({0}, {1})"),
    "JSON_EXISTS": (_WHOLE_TEXT, "GET_JSON_OBJECT({0}, {1}) IS NOT NULL"),
    "JSON_STRING": (_WHOLE_TEXT, "TO_JSON({0})"),
    "TO_JSON_STRING": (_WHOLE_TEXT, "TO_JSON({0})"),
    "URL_EXTRACT_PATH": (_ENCODED, "PARSE_URL({0}, 'PATH')"),
    "URL_EXTRACT_QUERY": (_ENCODED, "PARSE_URL({0}, 'QUERY')"),
    "URL_EXTRACT_FRAGMENT": (_ENCODED, "PARSE_URL({0}, 'REF')"),
    "URL_EXTRACT_PARAMETER": (_ENCODED, "URL_DECODE(PARSE_URL({0}, 'QUERY', {1}))"),
    "ARRAY_CONCAT": (_NULLS, "{0} || {1}"),
    "ARRAY_CAT": (_NULLS, "{0} || {1}"),
    "STRING_TO_ARRAY": (_NULLS, "SPLIT({0}, ',')"),
    "TRUNCATE": (_NULLS, "SIGN({0}) * FLOOR(ABS({0}))"),
    "CONVERT_TZ": (_ZONES, "FROM_UTC_TIMESTAMP(TO_UTC_TIMESTAMP({0}, {1}), {2})"),
    "GENERATE_SERIES": (_ROWS, "SEQUENCE({0}, {1})"),
}
"""Functions of Flink, ksqlDB and PostgreSQL, and why they are refused. With a form to write over their arguments."""
