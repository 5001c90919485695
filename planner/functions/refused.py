"""Functions that Spark has and a query may not call, with the reason."""

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
_ELEMENTS = "it makes several rows of one, so it is behind LATERAL VIEW in FROM, or an item of SELECT by itself"
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
    _SESSION: "CURRENT_CATALOG CURRENT_DATABASE CURRENT_SCHEMA CURRENT_TIMEZONE CURRENT_USER LOCALTIMESTAMP "
    "SESSION_USER USER VERSION",
    _CODE: "JAVA_METHOD REFLECT TRY_REFLECT",
    _FAILS: "ASSERT_TRUE RAISE_ERROR",
    _WINDOW: "SESSION_WINDOW WINDOW WINDOW_TIME",
    _ROWS: "JSON_TUPLE STACK",
    _ELEMENTS: "EXPLODE EXPLODE_OUTER INLINE INLINE_OUTER POSEXPLODE POSEXPLODE_OUTER",
    _ORDER: "ANY_VALUE ARRAY_AGG COLLECT_LIST LISTAGG MODE STRING_AGG",
    _UNBOUNDED: "COLLECT_SET HISTOGRAM_NUMERIC MEDIAN PERCENTILE PERCENTILE_CONT PERCENTILE_DISC",
    _KEY: "AES_DECRYPT AES_ENCRYPT TRY_AES_DECRYPT",
    _RANKING: "CUME_DIST NTH_VALUE NTILE PERCENT_RANK",
    _SETS: "CUBE GROUPING GROUPING_ID ROLLUP",
    _FILES: "FROM_AVRO TO_AVRO",
}

REFUSED: dict[str, str] = {name: reason for reason, names in _BY_REASON.items() for name in names.split()}
