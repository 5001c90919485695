"""Type rules -> exp.DataType, as sqlglot names Spark's types."""

from __future__ import annotations

from sqlglot import exp

from penstock.diagnostics import CompileError, Span, nearest
from penstock.diagnostics.codes import syntax
from penstock.grammar import Token
from penstock.parser.ast import parse_count
from penstock.parser.build.base import Builder, identifier, placed, token_span

SIMPLE = {
    "BOOLEAN": exp.DType.BOOLEAN,
    "BOOL": exp.DType.BOOLEAN,
    "TINYINT": exp.DType.TINYINT,
    "SMALLINT": exp.DType.SMALLINT,
    "INT": exp.DType.INT,
    "INTEGER": exp.DType.INT,
    "BIGINT": exp.DType.BIGINT,
    "LONG": exp.DType.BIGINT,
    "FLOAT": exp.DType.FLOAT,
    "REAL": exp.DType.FLOAT,
    "DOUBLE": exp.DType.DOUBLE,
    "DECIMAL": exp.DType.DECIMAL,
    "NUMERIC": exp.DType.DECIMAL,
    "STRING": exp.DType.TEXT,
    "VARCHAR": exp.DType.TEXT,
    "TEXT": exp.DType.TEXT,
    "BINARY": exp.DType.BINARY,
    "BYTES": exp.DType.BINARY,
    "DATE": exp.DType.DATE,
    # Spark's TIMESTAMP is a point in time, which sqlglot calls TIMESTAMPTZ.
    "TIMESTAMP": exp.DType.TIMESTAMPTZ,
    "TIMESTAMP_LTZ": exp.DType.TIMESTAMPTZ,
    "TIMESTAMPTZ": exp.DType.TIMESTAMPTZ,
}
SIZED = {"DECIMAL": (exp.DType.DECIMAL, 2), "NUMERIC": (exp.DType.DECIMAL, 2), "VARCHAR": (exp.DType.VARCHAR, 1)}
NESTED = {"ARRAY": (exp.DType.ARRAY, 1), "MAP": (exp.DType.MAP, 2), "STRUCT": (exp.DType.STRUCT, None)}


def simple_type(span: Span, token: Token) -> exp.DataType:
    kind = SIMPLE.get(token.value.upper())
    if kind is None:
        if token.value.upper() in NESTED:
            raise _wrong_parameters(span, token, f"write {_EXAMPLES[token.value.upper()]}")
        raise _unknown(span, token)
    return placed(exp.DataType(this=kind, nested=False), span)


def sized_type(span: Span, token: Token, *sizes: Token) -> exp.DataType:
    if token.value.upper() not in SIMPLE:
        raise _unknown(span, token)
    kind, most = SIZED.get(token.value.upper(), (None, 0))
    if kind is None:
        raise _wrong_parameters(span, token, f"{token.value.upper()} has no parameters")
    if len(sizes) > most or any(parse_count(size.value) is None for size in sizes):
        raise _wrong_parameters(span, token, f"write {_EXAMPLES[token.value.upper()]}")
    parameters = [
        placed(
            exp.DataTypeParam(this=placed(exp.Literal(this=size.value, is_string=False), token_span(span, size))),
            token_span(span, size),
        )
        for size in sizes
    ]
    return placed(exp.DataType(this=kind, expressions=parameters, nested=False), span)


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
    "DECIMAL": "DECIMAL(10, 2)",
    "NUMERIC": "NUMERIC(10, 2)",
    "VARCHAR": "VARCHAR(100)",
    "ARRAY": "ARRAY<STRING>",
    "MAP": "MAP<STRING, BIGINT>",
    "STRUCT": "STRUCT<name: STRING, age: INT>",
}


def _unknown(span: Span, token: Token) -> CompileError:
    known = [*SIMPLE, *NESTED]
    near = nearest(token.value, known)
    hint = f"did you mean {near}?" if near else f"the types are {', '.join(known)}"
    return CompileError([syntax.S011.at(token_span(span, token), name=token.value).with_hint(hint)])


def _wrong_parameters(span: Span, token: Token, hint: str) -> CompileError:
    return CompileError([syntax.S021.at(span, name=token.value.upper()).with_hint(hint)])


RULES: dict[str, Builder] = {
    "simple_type": simple_type,
    "sized_type": sized_type,
    "nested_type": nested_type,
    "type_field": type_field,
}
