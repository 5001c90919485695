"""Type rules -> exp.DataType, as sqlglot names Spark's types."""

from __future__ import annotations

import re

from sqlglot import exp

from penstock.diagnostics import CompileError, Prose, Span, nearest
from penstock.diagnostics.codes import syntax
from penstock.grammar import Token
from penstock.parser.ast import parse_count
from penstock.parser.build.base import Builder, identifier, placed, span_of, token_span

SIMPLE = {
    "BOOLEAN": exp.DType.BOOLEAN,
    "BOOL": exp.DType.BOOLEAN,
    "TINYINT": exp.DType.TINYINT,
    "BYTE": exp.DType.TINYINT,
    "SMALLINT": exp.DType.SMALLINT,
    "SHORT": exp.DType.SMALLINT,
    "INT2": exp.DType.SMALLINT,
    "INT": exp.DType.INT,
    "INTEGER": exp.DType.INT,
    "INT4": exp.DType.INT,
    "BIGINT": exp.DType.BIGINT,
    "LONG": exp.DType.BIGINT,
    "INT8": exp.DType.BIGINT,
    "FLOAT": exp.DType.FLOAT,
    "REAL": exp.DType.FLOAT,
    "FLOAT4": exp.DType.FLOAT,
    "DOUBLE": exp.DType.DOUBLE,
    "FLOAT8": exp.DType.DOUBLE,
    "DECIMAL": exp.DType.DECIMAL,
    "NUMERIC": exp.DType.DECIMAL,
    "DEC": exp.DType.DECIMAL,
    "STRING": exp.DType.TEXT,
    "VARCHAR": exp.DType.TEXT,
    "CHAR": exp.DType.TEXT,
    "CHARACTER": exp.DType.TEXT,
    "TEXT": exp.DType.TEXT,
    "BINARY": exp.DType.BINARY,
    "VARBINARY": exp.DType.BINARY,
    "BYTES": exp.DType.BINARY,
    "BYTEA": exp.DType.BINARY,
    "DATE": exp.DType.DATE,
    "TIME": exp.DType.TIME,
    # Spark's TIMESTAMP is a point in time, which sqlglot calls TIMESTAMPTZ.
    "TIMESTAMP": exp.DType.TIMESTAMPTZ,
    "TIMESTAMP_LTZ": exp.DType.TIMESTAMPTZ,
    "TIMESTAMPTZ": exp.DType.TIMESTAMPTZ,
    "TIMESTAMP_NTZ": exp.DType.TIMESTAMPTZ,
}
# Types with parameters: what they are, and how many parameters they take. A length is not kept.
_TEXT, _DECIMAL, _BINARY = (exp.DType.VARCHAR, 1), (exp.DType.DECIMAL, 2), (exp.DType.BINARY, 1)
SIZED = {
    **dict.fromkeys(("DECIMAL", "NUMERIC", "DEC"), _DECIMAL),
    **dict.fromkeys(("VARCHAR", "CHAR", "CHARACTER"), _TEXT),
    **dict.fromkeys(("BINARY", "VARBINARY"), _BINARY),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMPTZ", "TIMESTAMP_NTZ"), (exp.DType.TIMESTAMPTZ, 1)),
    "TIME": (exp.DType.TIME, 1),
}
_MOMENTS = (exp.DType.TIMESTAMPTZ, exp.DType.TIME)
# Digits of a second. Spark keeps six.
MOST_DIGITS = 6
# Casts to TIMESTAMP(3) are common where no time has more digits. Casts to fewer are there to cut digits off.
LEAST_DIGITS = 3
LIMITED = "limited"
"""The key in `meta` of a type whose length or digits are not kept. A declaration may have it, and a cast may not."""
NESTED = {
    "ARRAY": (exp.DType.ARRAY, 1),
    "MAP": (exp.DType.MAP, 2),
    "STRUCT": (exp.DType.STRUCT, None),
    "ROW": (exp.DType.STRUCT, None),
}


def simple_type(span: Span, token: Token) -> exp.DataType:
    kind = SIMPLE.get(token.value.upper())
    if kind is None:
        if token.value.upper() in NESTED:
            raise _wrong_parameters(span, token, f"write {_EXAMPLES[token.value.upper()]}")
        raise _unknown(span, token)
    return placed(exp.DataType(this=kind, nested=False), span)


def short_name(span: Span, token: Token) -> exp.DataType:
    """The name of a type behind `::`, where INTERVAL may stand for a text that says a length."""
    if token.value.upper() == "INTERVAL":
        return placed(exp.DataType(this=exp.DType.INTERVAL, nested=False), span)
    return simple_type(span, token)


def sized_type(span: Span, token: Token, *sizes: Token) -> exp.DataType:
    if token.value.upper() not in SIMPLE:
        raise _unknown(span, token)
    kind, most = SIZED.get(token.value.upper(), (None, 0))
    if kind is None:
        raise _wrong_parameters(span, token, f"{token.value.upper()} has no parameters")
    if len(sizes) > most or any(parse_count(size.value) is None for size in sizes):
        raise _wrong_parameters(span, token, f"write {_EXAMPLES[token.value.upper()]}")
    if kind in _MOMENTS:
        return _time(span, token, sizes[0])
    if kind is exp.DType.BINARY:
        return _limit(placed(exp.DataType(this=kind, nested=False), span))
    parameters = [
        placed(
            exp.DataTypeParam(this=placed(exp.Literal(this=size.value, is_string=False), token_span(span, size))),
            token_span(span, size),
        )
        for size in sizes
    ]
    return placed(exp.DataType(this=kind, expressions=parameters, nested=False), span)


def time_type(span: Span, token: Token, digits: Token | None) -> exp.DataType:
    """`TIMESTAMP(p) WITH [LOCAL] TIME ZONE`."""
    if token.value.upper() == "TIME":
        found = syntax.S026.at(span, construct="the type TIME WITH TIME ZONE").because("A TIME has no zone.")
        raise CompileError([found.with_sql("TIME")])
    if token.value.upper() != "TIMESTAMP":
        raise _unknown(span, token)
    return simple_type(span, token) if digits is None else _time(span, token, digits)


def zoneless_type(span: Span, token: Token, digits: Token | None) -> exp.DataType:
    """`TIMESTAMP(p) WITHOUT TIME ZONE`, `TIME(p) WITHOUT TIME ZONE`."""
    if token.value.upper() not in ("TIMESTAMP", "TIME"):
        raise _unknown(span, token)
    return simple_type(span, token) if digits is None else _time(span, token, digits)


def _time(span: Span, token: Token, digits: Token) -> exp.DataType:
    if (parse_count(digits.value) or 0) > MOST_DIGITS:
        raise _wrong_parameters(span, token, f"a {token.value.upper()} has at most {MOST_DIGITS} digits of a second")
    type_ = simple_type(span, token)
    return _limit(type_) if (parse_count(digits.value) or 0) < LEAST_DIGITS else type_


def _limit(type_: exp.DataType) -> exp.DataType:
    type_.meta[LIMITED] = True
    return type_


def double_precision(span: Span, token: Token) -> exp.DataType:
    if token.value.upper() != "DOUBLE":
        raise _unknown(span, token)
    return simple_type(span, token)


def varying_type(span: Span, token: Token, length: Token | None) -> exp.DataType:
    if token.value.upper() not in ("CHAR", "CHARACTER"):
        raise _unknown(span, token)
    return simple_type(span, token) if length is None else sized_type(span, token, length)


def array_type(span: Span, inner: exp.DataType, *words: Token) -> exp.DataType:
    """`type[]`, `type ARRAY`."""
    if inner.this == exp.DType.INTERVAL:
        found = syntax.S011.at(span_of(inner), name=span_of(inner).text)
        raise CompileError([found.with_sql(_ELSEWHERE["INTERVAL"])])
    return placed(exp.DataType(this=exp.DType.ARRAY, expressions=[inner], nested=True), span)


def nested_type(span: Span, token: Token, *arguments: exp.Expression) -> exp.DataType:
    kind, count = NESTED.get(token.value.upper(), (None, None))
    if kind is None:
        if token.value.upper() in SIMPLE:
            raise _wrong_parameters(span, token, f"{token.value.upper()} has no parameters")
        raise _unknown(span, token)
    wanted = exp.ColumnDef if kind == exp.DType.STRUCT else exp.DataType
    if not all(isinstance(argument, wanted) for argument in arguments) or len(arguments) != (count or len(arguments)):
        raise _wrong_parameters(span, token, f"write {_EXAMPLES[token.value.upper()]}")
    return placed(exp.DataType(this=kind, expressions=list(arguments), nested=True), span)


def type_field(span: Span, token: Token, type_: exp.DataType) -> exp.ColumnDef:
    return placed(exp.ColumnDef(this=identifier(span, token), kind=type_), span)


_EXAMPLES = {
    **{name: f"{name}(10, 2)" for name, kind in SIZED.items() if kind is _DECIMAL},
    **{name: f"{name}(100)" for name, kind in SIZED.items() if kind in (_TEXT, _BINARY)},
    **{name: f"{name}(3)" for name, kind in SIZED.items() if kind[0] in _MOMENTS},
    "ARRAY": "ARRAY<STRING>",
    "MAP": "MAP<STRING, BIGINT>",
    "STRUCT": "STRUCT<name: STRING, age: INT>",
    "ROW": "ROW<name STRING, age INT>",
}


_COUNTED = Prose("BIGINT: the key of a row has to be in its record")
_DOCUMENT = Prose("STRING: GET_JSON_OBJECT(json, '$.a') reads a field of it")
_OBJECT = Prose("STRUCT<a: INT, b: STRING> has known fields, and MAP<STRING, STRING> any")
_ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("SERIAL", "SERIAL4", "BIGSERIAL", "SERIAL8", "SMALLSERIAL"), _COUNTED),
    **dict.fromkeys(("JSON", "JSONB", "VARIANT", "XML"), _DOCUMENT),
    **dict.fromkeys(("UUID", "CITEXT", "NAME", "INET", "CIDR", "MACADDR", "NVARCHAR", "CLOB", "ENUM"), "STRING"),
    **dict.fromkeys(("STR", "NCHAR", "VARCHAR2", "NVARCHAR2", "NTEXT", "LONGTEXT", "MEDIUMTEXT", "TINYTEXT"), "STRING"),
    **dict.fromkeys(("UNIQUEIDENTIFIER", "FIXEDSTRING", "UTF8", "KEYWORD", "SYMBOL", "GUID"), "STRING"),
    **dict.fromkeys(("BLOB", "VARBIT", "LONGBLOB", "MEDIUMBLOB", "TINYBLOB", "IMAGE", "RAW"), "BINARY"),
    **dict.fromkeys(("MONEY", "SMALLMONEY"), "DECIMAL(19, 2)"),
    **dict.fromkeys(("DATETIME", "DATETIME2", "DATETIME64", "SMALLDATETIME"), "TIMESTAMP"),
    **dict.fromkeys(("TIMESTAMP_MS", "TIMESTAMP_US", "TIMESTAMP_S", "INSTANT"), "TIMESTAMP"),
    **dict.fromkeys(("NUMBER", "BIGNUMERIC", "HUGEINT"), "DECIMAL(38, 0)"),
    **dict.fromkeys(("FIXED", "DECIMAL32", "DECIMAL64", "DECIMAL128", "BIGDECIMAL"), "DECIMAL(38, 10)"),
    **dict.fromkeys(("UINT64", "UBIGINT", "UHUGEINT"), "DECIMAL(20, 0)"),
    **dict.fromkeys(("INT64", "INTEGER8", "UINT32", "UINTEGER", "BIGINTEGER"), "BIGINT"),
    **dict.fromkeys(("INT32", "INTEGER4", "INT24", "MEDIUMINT", "UINT16", "USMALLINT"), "INT"),
    **dict.fromkeys(("INT16", "INTEGER2", "UINT8", "UTINYINT"), "SMALLINT"),
    **dict.fromkeys(("FLOAT64", "DOUBLE_PRECISION"), "DOUBLE"),
    **dict.fromkeys(("FLOAT32", "FLOAT16"), "FLOAT"),
    **dict.fromkeys(("LOGICAL", "BOOL1"), "BOOLEAN"),
    **dict.fromkeys(("DATE32", "LOCALDATE"), "DATE"),
    **dict.fromkeys(("OBJECT", "ANY", "SUPER", "TUPLE", "NESTED"), _OBJECT),
    **dict.fromkeys(("DICT", "DICTIONARY", "HSTORE"), "MAP<STRING, STRING>"),
    **dict.fromkeys(("EPOCH", "UNIXTIME"), Prose("BIGINT: TIMESTAMP_SECONDS(value) makes a time of it")),
    "LIST": "ARRAY<STRING>",
    "BIT": Prose("BOOLEAN for a single bit, BINARY for several"),
    "MULTISET": "ARRAY",
    "BPCHAR": "STRING",
    "TIMETZ": Prose("TIME, which has no zone"),
    "INTERVAL": Prose("INTERVAL '1 day' is written as it is, beside a time"),
}
"""Types of other systems, and what to write."""


def _unknown(span: Span, token: Token) -> CompileError:
    known = [*SIMPLE, *NESTED]
    elsewhere = _ELSEWHERE.get(token.value.upper())
    if elsewhere is not None:
        found = syntax.S011.at(token_span(span, token), name=token.value)
        return CompileError([found.with_sql(_carry_parameters(span, elsewhere), span)])
    near = nearest(token.value, known)
    found = syntax.S011.at(token_span(span, token), name=token.value)
    return CompileError([found.with_guess(near, otherwise=f"the types are {', '.join(known)}")])


def _carry_parameters(span: Span, type_: str) -> str:
    """The type with the parameters that stand behind another system's type, where it can have them."""
    size, inner = re.search(r"\(\s*\d+\s*(,\s*\d+\s*)?\)", span.text), re.search("<.*>", span.text, re.DOTALL)
    if size is not None and type_.startswith("DECIMAL("):
        return f"DECIMAL{size[0]}"
    return f"ARRAY{inner[0]}" if inner is not None and type_.startswith("ARRAY") else type_


def _wrong_parameters(span: Span, token: Token, hint: str) -> CompileError:
    return CompileError([syntax.S021.at(span, name=token.value.upper()).with_hint(hint)])


RULES: dict[str, Builder] = {
    "time_type": time_type,
    "zoneless_type": zoneless_type,
    "double_precision": double_precision,
    "varying_type": varying_type,
    "array_type": array_type,
    "simple_type": simple_type,
    "short_name": short_name,
    "sized_type": sized_type,
    "nested_type": nested_type,
    "type_field": type_field,
}
