"""Functions that Spark or another system has and a query may not call, with the reason."""

from __future__ import annotations

from penstock.diagnostics import Prose

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
_PART = "it takes a value and a literal from 0 to 1, or an array of such, and no DISTINCT"
_MODE = "it takes one value, as MODE(x) or MODE() WITHIN GROUP (ORDER BY x), and no DISTINCT"
_UNBOUNDED = "it keeps all rows of a group"
_KEY = "keys do not belong in the text of a query"
_RANKING = "it ranks the rows of a whole partition, which is never complete on a stream"
_SETS = "it belongs to GROUP BY: ROLLUP, CUBE and GROUPING SETS stand there, and GROUPING beside it"
_FILES = "its schema is read from outside of the query"
_CLOCK = "a restarted query would not give the same rows; CAST(CURRENT_TIMESTAMP AS TIME) does"
_TYPES = "it gives or takes values of a type that queries do not have"
_SKETCH = "it makes or reads a sketch, which depends on how Spark splits the work; APPROX_COUNT_DISTINCT does not"
_LITERAL = "it describes a literal"
_XML = "XML can refer to files and addresses"
_TABLE = "it makes a table"
_NAMES = "the names of its fields depend on names of columns; ZIP_WITH with NAMED_STRUCT gives them names"
_VECTORS = "its value depends on the order of rows, and it fails for vectors of several lengths"
_COUNTER = "it needs OVER, and the whole history of a counter; LAG gives the value before"


def _sketches(prefix: str, ends: str, types: str) -> str:
    """The functions of a kind of sketch, for each type of values."""
    return " ".join(f"{prefix}_{end}_{type_}" for end in ends.split() for type_ in types.split())


_SKETCHES = " ".join(
    (
        "APPROX_PERCENTILE PERCENTILE_APPROX COUNT_MIN_SKETCH BITMAP_AND_AGG BITMAP_CONSTRUCT_AGG BITMAP_OR_AGG",
        "APPROX_TOP_K APPROX_TOP_K_ACCUMULATE APPROX_TOP_K_COMBINE APPROX_TOP_K_ESTIMATE",
        "HLL_SKETCH_AGG HLL_SKETCH_ESTIMATE HLL_UNION HLL_UNION_AGG",
        "THETA_DIFFERENCE THETA_INTERSECTION THETA_INTERSECTION_AGG THETA_SKETCH_AGG THETA_SKETCH_ESTIMATE THETA_UNION",
        "THETA_UNION_AGG",
        _sketches(
            "KLL", "MERGE_AGG SKETCH_AGG SKETCH_GET_N SKETCH_GET_QUANTILE SKETCH_GET_RANK", "BIGINT DOUBLE FLOAT"
        ),
        _sketches("KLL_SKETCH", "MERGE TO_STRING", "BIGINT DOUBLE FLOAT"),
        _sketches("TUPLE", "DIFFERENCE DIFFERENCE_THETA UNION UNION_AGG UNION_THETA", "DOUBLE INTEGER"),
        _sketches("TUPLE_INTERSECTION", "AGG THETA", "DOUBLE INTEGER"),
        _sketches("TUPLE_SKETCH", "AGG ESTIMATE SUMMARY THETA", "DOUBLE INTEGER"),
        "TUPLE_INTERSECTION_DOUBLE TUPLE_INTERSECTION_INTEGER",
    )
)

_BY_REASON = {
    _RANDOM: "RAND RANDN RANDOM RANDSTR UNIFORM UUID SHUFFLE",
    _PLACE: "INPUT_FILE_BLOCK_LENGTH INPUT_FILE_BLOCK_START INPUT_FILE_NAME MONOTONICALLY_INCREASING_ID "
    "SPARK_PARTITION_ID",
    _SESSION: "CURRENT_CATALOG CURRENT_DATABASE CURRENT_PATH CURRENT_SCHEMA CURRENT_TIMEZONE CURRENT_USER MEASURE "
    "SESSION_USER USER VERSION",
    _CLOCK: "CURRENT_TIME LOCALTIME",
    _CODE: "JAVA_METHOD REFLECT TRY_REFLECT",
    _FAILS: "ASSERT_TRUE RAISE_ERROR",
    _WINDOW: "SESSION_WINDOW WINDOW WINDOW_TIME",
    _ROWS: "JSON_TUPLE STACK VARIANT_EXPLODE VARIANT_EXPLODE_OUTER",
    _ELEMENTS: "EXPLODE EXPLODE_OUTER INLINE INLINE_OUTER POSEXPLODE POSEXPLODE_OUTER",
    _ORDER: "ANY_VALUE",
    _MODE: "MODE",
    _UNBOUNDED: "COLLECT_UNION HISTOGRAM_NUMERIC",
    _PART: "MEDIAN PERCENTILE PERCENTILE_CONT PERCENTILE_DISC",
    _KEY: "AES_DECRYPT AES_ENCRYPT HMAC TRY_AES_DECRYPT",
    _RANKING: "CUME_DIST NTH_VALUE NTILE PERCENT_RANK",
    _SETS: "CUBE GROUPING GROUPING_ID ROLLUP",
    _FILES: "FROM_AVRO TO_AVRO FROM_PROTOBUF TO_PROTOBUF SCHEMA_OF_AVRO",
    _TYPES: "COLLATE COLLATION CONVERT_TIMEZONE MAKE_INTERVAL MAKE_TIMESTAMP_NTZ MAKE_YM_INTERVAL TIMESTAMP_NANOS "
    "TO_TIMESTAMP_NTZ TRY_MAKE_INTERVAL TRY_MAKE_TIMESTAMP_NTZ UNIX_NANOS ST_ASBINARY ST_GEOGFROMWKB "
    "ST_GEOMFROMWKB ST_SETSRID ST_SRID IS_VALID_VARIANT IS_VARIANT_NULL PARSE_JSON SCHEMA_OF_VARIANT "
    "SCHEMA_OF_VARIANT_AGG TO_VARIANT_OBJECT TRY_PARSE_JSON TRY_VARIANT_ARRAY_APPEND TRY_VARIANT_GET "
    "TRY_VARIANT_INSERT TRY_VARIANT_SET VARIANT_ARRAY_APPEND VARIANT_DELETE VARIANT_GET VARIANT_INSERT "
    "VARIANT_SET VARIANT_STRIP_NULLS",
    _SKETCH: _SKETCHES,
    _LITERAL: "SCHEMA_OF_JSON SCHEMA_OF_CSV",
    _XML: "FROM_XML SCHEMA_OF_XML TO_XML XPATH XPATH_BOOLEAN XPATH_DOUBLE XPATH_FLOAT XPATH_INT XPATH_LONG "
    "XPATH_NUMBER XPATH_SHORT XPATH_STRING",
    _TABLE: "COLLATIONS PYTHON_WORKER_LOGS RANGE SQL_KEYWORDS",
    _NAMES: "ARRAYS_ZIP",
    _VECTORS: "VECTOR_AVG VECTOR_SUM",
    _COUNTER: "COUNTER_DIFF",
}

REFUSED: dict[str, str] = {name: reason for reason, names in _BY_REASON.items() for name in names.split()}

BARE = frozenset({"CURRENT_TIME", "LOCALTIME"})
"""Names of refused functions that are also called without parentheses."""

_SEPARATED = "systems differ in what it puts between the values"
_LATEST = "the order in which rows arrive is not part of the data"
_WHOLE_TEXT = "what it gives for objects, arrays or nulls differs from Spark's function"
_ENCODED = "it decodes what Spark's function leaves encoded"
_NULLS = "systems differ in what it gives for NULLs, repeated keys or values out of range"
_ZONES = "the type of its first argument decides what it means"
_ENDS = "its last argument is a place, in SLICE it is a length"
_PATTERNS = "its delimiters are texts, in STR_TO_MAP they are patterns"
_FEW = "systems differ in what it gives for a single row"
_CONVERSION = "ENCODE, DECODE, HEX, UNHEX, BASE64 and UNBASE64 turn texts into bytes and back, each in one way"
_MULTISET = "its result is a multiset, a type that queries do not have"
_CLASSES = "systems differ in the characters that it takes"
_JSON_TEXT = "what it does with NULLs differs from TO_JSON"
_FIELDS = "systems differ in what they call the fields of an entry"
_MIDNIGHT = "systems differ in what is behind midnight"
_PLACEHOLDERS = "systems differ in the places that its first argument has"
_DIMENSIONS = "arrays have one dimension"
_OPERATOR = "it is an operator, and stands between its operands"
_TIME_TEXT = "a TIME is no part of a format"
_SPHERE = "systems differ in the size of the Earth; SIN, COS and ASIN compute distances"
_BYTES = "it reads bytes as a number, for which Spark has no function"
_MASKED = "it masks a part of a text"
_ZONED = "some letters of a format stand for the zone, and DATE_FORMAT writes UTC for them"
_SPAN = "it counts in years, months and days"
_FIRST = "systems differ in what it gives without a match, and for groups"
_TEXT_ROWS = "it makes several rows of one text"
_DOCUMENT = "it reads or changes a document of JSON, a type that queries do not have"
_QUOTED = "queries make no texts of queries"
_COUNTING = "a number that counts up would differ after a restart"
_LETTERS = "it depends on a dictionary that Spark does not have"
_FIELDS_OF_JSON = (
    "MAP_FROM_ARRAYS(JSON_OBJECT_KEYS({0}), TRANSFORM(JSON_OBJECT_KEYS({0}), k -> GET_JSON_OBJECT({0}, '$.' || k)))"
)
_DIGITS = "systems differ in the digits of negative numbers"
_TYPE_NAMES = "systems differ in the names of types"
_WRITTEN = "names stand in the text as they are"
_FINITE = "times and intervals have no infinite value"
_EXACT = "an interval is a number of microseconds, whatever its units"
_DEGREES = "it takes degrees"
_DISTANCE = (
    "2 * 6371 * ASIN(SQRT(POWER(SIN(RADIANS({2} - {0}) / 2), 2) + COS(RADIANS({0})) * COS(RADIANS({2})) * "
    "POWER(SIN(RADIANS({3} - {1}) / 2), 2)))"
)
_WAITS = "it waits, and a micro-batch waits for nothing"

FOREIGN: dict[str, tuple[str, str | None]] = {
    "LATEST_BY_OFFSET": (_LATEST, "MAX_BY({0}, ROWTIME)"),
    "EARLIEST_BY_OFFSET": (_LATEST, "MIN_BY({0}, ROWTIME)"),
    "HISTOGRAM": ("it keeps a number for each value; GROUP BY the value with COUNT(*) gives them as rows", None),
    "GROUP_CONCAT": (_SEPARATED, "LISTAGG({0}, ',')"),
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
    "ELEMENT": (_NULLS, "GET({0}, 0)"),
    "LIKE": (_OPERATOR, "{0} LIKE {1}"),
    "ILIKE": (_OPERATOR, "{0} ILIKE {1}"),
    "CONVERT_TZ": (_ZONES, "FROM_UTC_TIMESTAMP(TO_UTC_TIMESTAMP({0}, {1}), {2})"),
    "ARRAY_SLICE": (_ENDS, "SLICE({0}, {1}, {2} - {1} + 1)"),
    "MAP_UNION": (_NULLS, "MAP_CONCAT({0}, {1})"),
    "SPLIT_TO_MAP": (_PATTERNS, "STR_TO_MAP({0}, {1}, {2})"),
    "REGEXP_SPLIT_TO_ARRAY": (_NULLS, "SPLIT({0}, {1})"),
    "FROM_BASE64": (_CONVERSION, "DECODE(UNBASE64({0}), 'UTF-8')"),
    "TO_BYTES": (_CONVERSION, "ENCODE({0}, 'UTF-8')"),
    "FROM_BYTES": (_CONVERSION, "DECODE({0}, 'UTF-8')"),
    "HASH_CODE": (_NULLS, "HASH({0})"),
    "IS_ALPHA": (_CLASSES, "{0} RLIKE '^[A-Za-z]+$'"),
    "IS_DIGIT": (_CLASSES, "{0} RLIKE '^[0-9]+$'"),
    "IS_DECIMAL": (_CLASSES, "TRY_CAST({0} AS DOUBLE) IS NOT NULL"),
    "COLLECT": (_MULTISET, "COLLECT_LIST({0})"),
    "CORRELATION": (_FEW, "CORR({0}, {1})"),
    "STDDEV_SAMPLE": (_FEW, "STDDEV_SAMP({0})"),
    "ATTR": (_LATEST, "CASE WHEN MIN({0}) = MAX({0}) THEN MIN({0}) END"),
    "JSON_ARRAY": (_JSON_TEXT, "TO_JSON(ARRAY({all}))"),
    "JSON_OBJECT": (_JSON_TEXT, "TO_JSON(NAMED_STRUCT({all}))"),
    "JSON_BUILD_OBJECT": (_JSON_TEXT, "TO_JSON(NAMED_STRUCT({all}))"),
    "JSONB_BUILD_OBJECT": (_JSON_TEXT, "TO_JSON(NAMED_STRUCT({all}))"),
    "JSON_BUILD_ARRAY": (_JSON_TEXT, "TO_JSON(ARRAY({all}))"),
    "JSONB_BUILD_ARRAY": (_JSON_TEXT, "TO_JSON(ARRAY({all}))"),
    "ROW_TO_JSON": (_JSON_TEXT, "TO_JSON({0})"),
    "JSON_ARRAYAGG": (_JSON_TEXT, "TO_JSON(COLLECT_LIST({0}))"),
    "JSON_AGG": (_JSON_TEXT, "TO_JSON(COLLECT_LIST({0}))"),
    "JSON_RECORDS": (_WHOLE_TEXT, _FIELDS_OF_JSON),
    "JSON_ITEMS": (_WHOLE_TEXT, "FROM_JSON({0}, 'ARRAY<STRING>')"),
    "JSON_EXTRACT_PATH_TEXT": (_WHOLE_TEXT, "GET_JSON_OBJECT({0}, '$.' || {1})"),
    "ENTRIES": (_FIELDS, "MAP_ENTRIES({0})"),
    "TIMEADD": (_MIDNIGHT, None),
    "TIMESUB": (_MIDNIGHT, None),
    "UNNEST": (_ROWS, "EXPLODE({0})"),
    "FORMAT": (_PLACEHOLDERS, "FORMAT_STRING({all})"),
    "ARRAY_LENGTH": (_DIMENSIONS, "ARRAY_SIZE({0})"),
    "FORMAT_TIME": (_TIME_TEXT, "CAST({0} AS STRING)"),
    "PARSE_TIME": (_TIME_TEXT, "CAST({0} AS TIME)"),
    "TO_JSONB": (_JSON_TEXT, "TO_JSON({0})"),
    "GENERATE_SERIES": (_ROWS, "SEQUENCE({0}, {1})"),
    "GEO_DISTANCE": (_SPHERE, _DISTANCE),
    "FIELD": (_NULLS, "ARRAY_POSITION(ARRAY({rest}), {0})"),
    "JSON_CONCAT": (_DOCUMENT, None),
    "IS_JSON_STRING": (
        _WHOLE_TEXT,
        "(JSON_OBJECT_KEYS({0}) IS NOT NULL OR JSON_ARRAY_LENGTH({0}) IS NOT NULL)",
    ),
    "JSON_ARRAY_CONTAINS": (_WHOLE_TEXT, "ARRAY_CONTAINS(FROM_JSON({0}, 'ARRAY<STRING>'), {1})"),
    "MASK_LEFT": (_MASKED, "MASK(LEFT({0}, {1}), 'X', 'x', 'n', '-') || SUBSTRING({0}, {1} + 1)"),
    "MASK_RIGHT": (
        _MASKED,
        "LEFT({0}, GREATEST(LENGTH({0}) - {1}, 0)) || MASK(RIGHT({0}, {1}), 'X', 'x', 'n', '-')",
    ),
    "MASK_KEEP_LEFT": (_MASKED, "LEFT({0}, {1}) || MASK(SUBSTRING({0}, {1} + 1), 'X', 'x', 'n', '-')"),
    "MASK_KEEP_RIGHT": (
        _MASKED,
        "MASK(LEFT({0}, GREATEST(LENGTH({0}) - {1}, 0)), 'X', 'x', 'n', '-') || RIGHT({0}, {1})",
    ),
    "BIGINT_FROM_BYTES": (_BYTES, "CAST(CONV(HEX({0}), 16, -10) AS BIGINT)"),
    "INT_FROM_BYTES": (_BYTES, None),
    "DOUBLE_FROM_BYTES": (_BYTES, None),
    "FLOAT_FROM_BYTES": (_BYTES, None),
    "URL_EXTRACT_PORT": (_NULLS, "TRY_CAST(REGEXP_EXTRACT({0}, '^[a-zA-Z]+://[^/]*:([0-9]+)', 1) AS INT)"),
    "CUBE_EXPLODE": (_ROWS, None),
    "FORMAT_TIMESTAMP": (_ZONED, None),
    "TIMESTAMPTOSTRING": (_ZONED, None),
    "AGE": (_SPAN, "{0} - {1}"),
    "STATEMENT_TIMESTAMP": (_RANDOM, "CURRENT_TIMESTAMP"),
    "TRANSACTION_TIMESTAMP": (_RANDOM, "CURRENT_TIMESTAMP"),
    "TIMEZONE": (_ZONES, "FROM_UTC_TIMESTAMP({1}, {0})"),
    "REGEXP_MATCH": (_FIRST, "REGEXP_EXTRACT({0}, {1}, 1)"),
    "REGEXP_MATCHES": (_FIRST, "REGEXP_EXTRACT_ALL({0}, {1}, 0)"),
    "REGEXP_SPLIT_TO_TABLE": (_TEXT_ROWS, "EXPLODE(SPLIT({0}, {1}))"),
    "STRING_TO_TABLE": (_TEXT_ROWS, "EXPLODE(SPLIT({0}, {1}))"),
    "DIGEST": (_CONVERSION, "SHA2({0}, 256)"),
    "TO_HEX": (_DIGITS, "LOWER(HEX({0}))"),
    "QUOTE_LITERAL": (_QUOTED, None),
    "QUOTE_IDENT": (_QUOTED, None),
    "QUOTE_NULLABLE": (_QUOTED, None),
    "UNACCENT": (_LETTERS, None),
    "NORMALIZE": (_LETTERS, None),
    "ARRAY_REPLACE": (_NULLS, "TRANSFORM({0}, e -> CASE WHEN e = {1} THEN {2} ELSE e END)"),
    "ARRAY_UPPER": (_DIMENSIONS, "ARRAY_SIZE({0})"),
    "ARRAY_LOWER": (_DIMENSIONS, None),
    "ARRAY_NDIMS": (_DIMENSIONS, None),
    "ARRAY_DIMS": (_DIMENSIONS, None),
    "ARRAY_FILL": (_DIMENSIONS, None),
    "ARRAY_POSITIONS": (
        _NULLS,
        "FILTER(TRANSFORM({0}, (e, i) -> CASE WHEN e = {1} THEN i + 1 END), p -> p IS NOT NULL)",
    ),
    "TRIM_ARRAY": (_ENDS, "SLICE({0}, 1, ARRAY_SIZE({0}) - {1})"),
    "JSON_OBJECT_AGG": (_JSON_TEXT, "TO_JSON(MAP_FROM_ENTRIES(COLLECT_LIST(STRUCT({0}, {1}))))"),
    "JSONB_OBJECT_AGG": (_JSON_TEXT, "TO_JSON(MAP_FROM_ENTRIES(COLLECT_LIST(STRUCT({0}, {1}))))"),
    "JSONB_AGG": (_JSON_TEXT, "TO_JSON(COLLECT_LIST({0}))"),
    "JSONB_OBJECT_KEYS": (_TEXT_ROWS, "EXPLODE(JSON_OBJECT_KEYS({0}))"),
    **dict.fromkeys(
        ("JSON_ARRAY_ELEMENTS", "JSON_ARRAY_ELEMENTS_TEXT", "JSONB_ARRAY_ELEMENTS", "JSONB_ARRAY_ELEMENTS_TEXT"),
        (_TEXT_ROWS, "EXPLODE(FROM_JSON({0}, 'ARRAY<STRING>'))"),
    ),
    **dict.fromkeys(
        ("JSON_EACH", "JSON_EACH_TEXT", "JSONB_EACH", "JSONB_EACH_TEXT"),
        (_TEXT_ROWS, "EXPLODE(JSON_OBJECT_KEYS({0}))"),
    ),
    "JSONB_EXTRACT_PATH_TEXT": (_WHOLE_TEXT, "GET_JSON_OBJECT({0}, '$.' || {1})"),
    **dict.fromkeys(
        ("JSON_TYPEOF", "JSONB_TYPEOF", "JSONB_SET", "JSONB_INSERT", "JSONB_PRETTY", "JSONB_STRIP_NULLS"),
        (_DOCUMENT, None),
    ),
    "JSONB_PATH_QUERY": (_WHOLE_TEXT, "GET_JSON_OBJECT({0}, {1})"),
    "PG_TYPEOF": (_TYPE_NAMES, "TYPEOF({0})"),
    "NEXTVAL": (_COUNTING, None),
    "CURRVAL": (_COUNTING, None),
    "HASHTEXT": (_NULLS, "HASH({0})"),
    "PG_SLEEP": (_WAITS, None),
    "IDENTIFIER": (_WRITTEN, "{0}"),
    "ISFINITE": (_FINITE, "{0} IS NOT NULL"),
    **dict.fromkeys(("JUSTIFY_HOURS", "JUSTIFY_DAYS", "JUSTIFY_INTERVAL"), (_EXACT, "{0}")),
    "JSON_QUOTE": (_WHOLE_TEXT, "TO_JSON({0})"),
    "JSON_UNQUOTE": (_WHOLE_TEXT, "GET_JSON_OBJECT({0}, '$')"),
    "SIND": (_DEGREES, "SIN(RADIANS({0}))"),
    "COSD": (_DEGREES, "COS(RADIANS({0}))"),
    "TAND": (_DEGREES, "TAN(RADIANS({0}))"),
}
"""Functions of other systems, and why they are refused. With a form to write over their arguments."""

_OTHER_KEY = Prose("a key of the data, or a hash of one: MD5(CONCAT_WS('-', a, b)) is the same after a restart")
_OTHER_CHANCE = Prose("PMOD(HASH(key), 100) is a number from 0 to 99 that is the same after a restart")
_OTHER_JSON = Prose("GET_JSON_OBJECT({0}, '$.a') reads a field of the text")
_OTHER_VALUE = Prose("write the value as a text")

INSTEAD: dict[str, str] = {
    **dict.fromkeys(("UUID", "RANDSTR", "GEN_RANDOM_UUID", "MONOTONICALLY_INCREASING_ID", "NEXTVAL"), _OTHER_KEY),
    **dict.fromkeys(("NEWID", "UUID_GENERATE_V4", "RANDOM_UUID", "GENERATE_UUID", "GENERATEUUIDV4"), _OTHER_KEY),
    **dict.fromkeys(("RAND", "RANDN", "RANDOM", "UNIFORM", "RAND_INTEGER"), _OTHER_CHANCE),
    **dict.fromkeys(("PARSE_JSON", "TRY_PARSE_JSON", "JSON_CONCAT", "JSONB_SET", "JSONB_INSERT"), _OTHER_JSON),
    **dict.fromkeys(("VARIANT_GET", "TRY_VARIANT_GET"), "GET_JSON_OBJECT({0}, {1})"),
    **dict.fromkeys(("CURRENT_USER", "SESSION_USER", "CURRENT_SCHEMA", "CURRENT_DATABASE", "VERSION"), _OTHER_VALUE),
    **dict.fromkeys(("APPROX_PERCENTILE", "PERCENTILE_APPROX"), "PERCENTILE({0}, {1})"),
    **dict.fromkeys(("CURRENT_TIME", "LOCALTIME"), "CAST(CURRENT_TIMESTAMP AS TIME)"),
    **dict.fromkeys(("ASSERT_TRUE", "RAISE_ERROR"), Prose("WHERE keeps the rows for which a condition holds")),
    **dict.fromkeys(
        ("MAKE_INTERVAL", "MAKE_YM_INTERVAL"), Prose("time + INTERVAL '1' MONTH; ADD_MONTHS(time, n) for a column")
    ),
    **dict.fromkeys(("SCHEMA_OF_JSON", "SCHEMA_OF_CSV"), Prose("write the schema: FROM_JSON(json, 'a INT, b STRING')")),
    **dict.fromkeys(("NORMALIZE", "UNACCENT"), Prose("TRANSLATE({0}, 'áé', 'ae') replaces single letters")),
    "ANY_VALUE": "MIN({0})",
    "ARRAYS_ZIP": "ZIP_WITH({0}, {1}, (a, b) -> NAMED_STRUCT('a', a, 'b', b))",
    "ARRAY_FILL": "ARRAY_REPEAT({0}, 3)",
    "AGE": "CURRENT_TIMESTAMP - {0}",
    "COLLATE": Prose("LOWER({0}) compares texts in upper or lower case"),
    "CUBE_EXPLODE": Prose("GROUP BY CUBE (a, b) counts all combinations of values"),
    "CURRENT_TIMEZONE": "'UTC'",
    "CURRENT_WATERMARK": Prose("LATE INTO late_rows behind a query writes the rows behind its watermark to a stream"),
    "HISTOGRAM": Prose("GROUP BY {0}, and COUNT(*)"),
    "INPUT_FILE_NAME": Prose("path STRING METADATA FROM 'file.path' VIRTUAL, a column of the declaration"),
    "JSON_TUPLE": "GET_JSON_OBJECT({0}, '$.' || {1})",
    "JSONB_TYPEOF": Prose(
        "JSON_ARRAY_LENGTH({0}) IS NOT NULL tells an array, JSON_OBJECT_KEYS({0}) IS NOT NULL an object"
    ),
    "MAKE_TIMESTAMP_NTZ": "MAKE_TIMESTAMP({all})",
    "STACK": Prose("CROSS JOIN UNNEST(ARRAY[STRUCT(1 AS a, 'x' AS b), STRUCT(2 AS a, 'y' AS b)]) AS u"),
    **dict.fromkeys(("STRUCT", "ROW"), Prose("name the columns: STRUCT(a, b)")),
    "TIMEADD": "CAST(MAKE_TIMESTAMP(DATE '1970-01-01', {2}) + INTERVAL '1' HOUR AS TIME)",
    "TIMESTAMP_NANOS": "TIMESTAMP_MICROS({0} DIV 1000)",
    "TIMESUB": "CAST(MAKE_TIMESTAMP(DATE '1970-01-01', {2}) - INTERVAL '1' HOUR AS TIME)",
    "TO_TIMESTAMP_NTZ": "TO_TIMESTAMP({all})",
    "UNIX_NANOS": "UNIX_MICROS({0}) * 1000",
}
"""What may serve instead of a refused function, where no expression is the same."""
