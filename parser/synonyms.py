"""Functions of Flink, ksqlDB and PostgreSQL, and the expressions of the dialect that compute the same.

A pair is a call and an expression over the names of its arguments. A name stands for one entry for each number of
arguments. Where the same expression is not certain for all values, the function is not here: it is refused, with the
reason, by `planner/functions/refused.py`.
"""

from __future__ import annotations

SYNONYMS: tuple[tuple[str, str], ...] = (
    # Text
    ("STRPOS(text, part)", "INSTR(text, part)"),
    ("CHARINDEX(part, text)", "LOCATE(part, text)"),
    ("CHARINDEX(part, text, start)", "LOCATE(part, text, start)"),
    ("STARTS_WITH(text, part)", "STARTSWITH(text, part)"),
    ("ENDS_WITH(text, part)", "ENDSWITH(text, part)"),
    ("ARRAY_TO_STRING(array, separator)", "ARRAY_JOIN(array, separator)"),
    ("ARRAY_TO_STRING(array, separator, absent)", "ARRAY_JOIN(array, separator, absent)"),
    ("SHA224(text)", "SHA2(text, 224)"),
    ("SHA256(text)", "SHA2(text, 256)"),
    ("SHA384(text)", "SHA2(text, 384)"),
    ("SHA512(text)", "SHA2(text, 512)"),
    ("URL_ENCODE_PARAM(text)", "URL_ENCODE(text)"),
    ("URL_DECODE_PARAM(text)", "URL_DECODE(text)"),
    ("URL_EXTRACT_HOST(url)", "PARSE_URL(url, 'HOST')"),
    ("URL_EXTRACT_PROTOCOL(url)", "PARSE_URL(url, 'PROTOCOL')"),
    ("EXTRACTJSONFIELD(json, path)", "GET_JSON_OBJECT(json, path)"),
    ("JSON_KEYS(json)", "JSON_OBJECT_KEYS(json)"),
    ("JSONB_ARRAY_LENGTH(json)", "JSON_ARRAY_LENGTH(json)"),
    ("REGEXP(text, pattern)", "REGEXP_LIKE(text, pattern)"),
    ("TO_BASE64(text)", "BASE64(text)"),
    # Times
    ("PROCTIME()", "CURRENT_TIMESTAMP()"),
    ("UNIX_DATE()", "UNIX_DATE(CURRENT_DATE())"),
    ("UNIX_TIMESTAMP()", "UNIX_SECONDS(CURRENT_TIMESTAMP())"),
    ("FORMAT_TIMESTAMP(time, format)", "DATE_FORMAT(time, format)"),
    ("PARSE_TIMESTAMP(text, format)", "TO_TIMESTAMP(text, format)"),
    ("PARSE_TIMESTAMP(text, format, zone)", "TO_UTC_TIMESTAMP(TO_TIMESTAMP(text, format), zone)"),
    ("FORMAT_DATE(date, format)", "DATE_FORMAT(date, format)"),
    ("PARSE_DATE(text, format)", "TO_DATE(text, format)"),
    ("STRINGTOTIMESTAMP(text, format)", "UNIX_MILLIS(TO_TIMESTAMP(text, format))"),
    (
        "STRINGTOTIMESTAMP(text, format, zone)",
        "UNIX_MILLIS(TO_UTC_TIMESTAMP(TO_TIMESTAMP(text, format), zone))",
    ),
    ("STRINGTODATE(text, format)", "UNIX_DATE(TO_DATE(text, format))"),
    ("DATETOSTRING(days, format)", "DATE_FORMAT(DATE_FROM_UNIX_DATE(days), format)"),
    ("TO_TIMESTAMP_LTZ(text)", "TO_TIMESTAMP(text)"),
    ("TO_TIMESTAMP_LTZ(text, format, zone)", "TO_UTC_TIMESTAMP(TO_TIMESTAMP(text, format), zone)"),
    ("FROM_DAYS(days)", "DATE_FROM_UNIX_DATE(days)"),
    ("WEEK(date)", "WEEKOFYEAR(date)"),
    # Numbers
    ("DIV(a, b)", "a DIV b"),
    # Arrays and maps
    ("ARRAY_LENGTH(array)", "ARRAY_SIZE(array)"),
    ("ARRAY_REVERSE(array)", "REVERSE(array)"),
    ("AS_VALUE(value)", "(value)"),
    ("AS_MAP(keys, values)", "MAP_FROM_ARRAYS(keys, values)"),
    # Aggregates
    ("COUNT_DISTINCT(value)", "COUNT(DISTINCT value)"),
    ("APPROX_DISTINCT(value)", "APPROX_COUNT_DISTINCT(value)"),
    ("COUNTIF(condition)", "COUNT_IF(condition)"),
    ("ARG_MAX(value, by)", "MAX_BY(value, by)"),
    ("ARG_MIN(value, by)", "MIN_BY(value, by)"),
)
