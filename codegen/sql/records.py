"""The columns of an input -> Spark SQL that makes them of the records of its files.

Spark's own readers of JSON and CSV stop at the end of the first value of a line, and take quotes that are not closed.
So Spark is asked for whole records, as text, and each is parsed by an expression that says whether all of it was read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from penstock.codegen.program import Input
from penstock.codegen.record_parsing import Columns, Records
from penstock.codegen.record_reasons import BYTES, FOLDER_VALUE, HALF, NAMES, NO_OBJECT, QUOTES
from penstock.codegen.sql.folder_columns import FOLDER, choose_columns
from penstock.codegen.sql.json_fields import watch_fields
from penstock.codegen.sql.json_text import java_literal, needs_rewrite, rewrite
from penstock.codegen.sql.metadata_items import make_metadata_items, read_origin
from penstock.codegen.sql.printing import print_inline
from penstock.codegen.sql.read_values import Format, convert, is_infinite, misfits, parse, wire_type
from penstock.codegen.sql.reasons import (
    WHY,
    Reason,
    count_fields,
    quote_field,
    raw_field,
    tell_value,
    tell_why,
)
from penstock.codegen.sql.trees import alias, both, call, column, either, function, is_null, null, number, only_if, text
from penstock.planner.plan import Expression
from penstock.planner.types import DOUBLE, FLOAT, STRING, Array, Decimal, Map, Simple, Struct, Type

MALFORMED = "_malformed"
PARSED = "_parsed"
DECODED = "_decoded"
TEXT = "_text"
"""For JSON: the record as it was parsed last, with the names of the columns."""
_RECORD = "_record"
_TOLD = "_told"
_FIRST, _SEEN, _ASKED = "_first", "_seen", "_asked"  # what the first look has found, and whether it is not enough
_KIND = exp.DataType.Type
_TYPES = {_KIND.TEXT: "STRING", _KIND.TIMESTAMPTZ: "TIMESTAMP"}
# Around a line of JSON: one that is more or less than one value is not a list of one, or never gets to the end.
_BEFORE, _AFTER = '{"records":[', '],"end":true}'
# A number, and what stands before it, from the end of the number before on: strings are passed over as a whole.
_JSON_NUMBER = r'\G((?:[^"0-9-]++|-(?![0-9])|"(?:[^"\\]++|\\.)*+")*+)(-?[0-9][0-9.eE+-]*+)'
_MARK = "\ue5f7"  # a character of the private use area: no text begins with it
_JSON_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED, "allowSingleQuotes": "false"}
_FIELD = r'(?:"(?:[^"\x00]++|"")*+"|[^",\r\n]*+)'  # Spark's reader drops NUL in a field that is enclosed
_RFC_4180 = f"^{_FIELD}(?:,{_FIELD})*+$"
# One half of a surrogate pair, as an escape, without the other: no text has it.
_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF_A_CHARACTER = rf"(?<!\\)(?:\\\\)*(?:{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW})"
_REPLACED = "\ufffd"  # what stands for bytes that are not UTF-8


def records_of(source: Input) -> Records:
    """The records of an input of files, with its METADATA columns as the last items."""
    records = _records_of_format(source)
    items = (*records.items, *make_metadata_items(source.metadata))
    if source.explained:
        items = (*items, f"{records.why} AS {WHY}")
    return replace(records, items=items, origin=read_origin(source.metadata))


def _records_of_format(source: Input) -> Records:
    options = dict(source.options)
    folders = bool(options.get("folder_columns", True))
    match options["format"]:
        case "json":
            return json_records(source.columns, folders=folders, explains=source.explained)
        case "csv":
            null = str(options["null"]) if "null" in options else None
            multi_line = bool(options.get("multi_line", True))
            return csv_records(source.columns, null, multi_line=multi_line, folders=folders)
        case "parquet":
            return parquet_records(source.columns, folders=folders)
        case other:
            raise AssertionError(f"the planner let the format {other} through")


def json_records(columns: Columns, folders: bool = False, explains: bool = False) -> Records:
    """Records of JSON Lines. `folders`: whether these may have values of the columns.

    `explains`: the reasons of malformed records are asked for.
    """
    types = [(name, _type(type_)) for name, type_ in columns]
    schema = f"records ARRAY<{wire_type(Struct(tuple(types)), 'json')}>, end BOOLEAN, {MALFORMED} STRING"
    parsed, record, first = column(PARSED), column(_RECORD), column(_FIRST)
    is_parsed = exp.And(this=is_null(_field(first, MALFORMED)), expression=exp.Not(this=is_null(column(_SEEN))))
    asked = exp.And(this=is_parsed, expression=needs_rewrite(types, column(_SEEN), column("value")))
    parse = _call_parser("FROM_JSON", _enclose_record("value"), schema, _JSON_OPTIONS)
    parse_again = _call_parser("FROM_JSON", _enclose_record(TEXT), schema, _JSON_OPTIONS)
    steps = [
        [alias(parse, _FIRST)],
        [alias(_first_of(first), _SEEN)],
        [alias(asked, _ASKED)],
        [alias(either(column(_ASKED), rewrite(types, column("value")), column("value")), TEXT)],
        [alias(either(column(_ASKED), parse_again, first), PARSED)],
        [alias(_first_of(parsed), _RECORD)],
    ]
    problems = [
        exp.Not(this=is_null(_field(parsed, MALFORMED))),
        is_null(_field(parsed, "end")),
        exp.NEQ(this=call("SIZE", _field(parsed, "records")), expression=number(1)),
        is_null(record),
        # Most records have no escapes, and a search for two letters takes a fraction of what the pattern does.
        exp.And(
            this=call("CONTAINS", column("value"), text(r"\u")),
            expression=exp.RegexpLike(this=column("value"), expression=text(_HALF_A_CHARACTER)),
        ),
    ]
    values = [(name, type_, _field(record, name)) for name, type_ in types]
    is_text = call("IS_VALID_UTF8", column("value"))
    why: list[Reason] = []
    if explains:
        failed = _any_of(problems[:4])
        told = call("COALESCE", rewrite(types, column("value")), column("value"))
        steps.append([alias(only_if(failed, told), _TOLD)])
        why = [(failed, _tell_failed(types)), (problems[4], HALF)]
    records = _records(
        steps, values, "json", problems, _looks_wrong(types), is_text=is_text, folders=folders, why=why, show=raw_field
    )
    elsewhere = choose_columns(types if folders else [])
    given = {name: elsewhere.fill(name, exp.Null()) for name, _ in elsewhere.columns}
    return replace(records, watch=watch_fields(types, record, column(TEXT), column(MALFORMED), given))


def _tell_failed(types: Sequence[tuple[str, Type]]) -> Expression:
    """The reason why the parser does not take a record: each column is looked at alone."""

    def fails(source: str, fields: Sequence[tuple[str, Type]]) -> Expression:
        schema = f"records ARRAY<{wire_type(Struct(tuple(fields)), 'json')}>, end BOOLEAN, {MALFORMED} STRING"
        parsed = _call_parser("FROM_JSON", _enclose_record(source), schema, _JSON_OPTIONS)
        has_end = exp.Not(this=is_null(_field(parsed, "end")))
        return exp.Not(this=exp.Paren(this=exp.And(this=is_null(_field(parsed, MALFORMED)), expression=has_end)))

    reasons: list[Reason] = [(exp.And(this=column(_ASKED), expression=is_null(column(TEXT))), NAMES)]
    reasons.append((fails("value", [("_", STRING)]), NO_OBJECT))
    reasons += [(fails(_TOLD, [(name, type_)]), tell_value(name, type_, raw_field(name))) for name, type_ in types]
    return call("COALESCE", tell_why(reasons), text(NO_OBJECT))


def csv_records(columns: Columns, null: str | None = None, multi_line: bool = True, folders: bool = False) -> Records:
    """Records of CSV, whose fields are in `_parsed`, too. `null`: a text that stands for NULL.

    Bytes that are not UTF-8 are replaced already where a record may be of several lines.
    """
    value, parsed = column("value"), column(PARSED)
    is_written = exp.Or(this=column("_plain"), expression=exp.RegexpLike(this=value, expression=text(_RFC_4180)))
    problems = [
        exp.Not(this=is_null(_field(parsed, MALFORMED))),
        exp.Not(this=exp.Paren(this=is_written)),
        *([call("CONTAINS", value.copy(), text(_REPLACED))] if multi_line else []),
    ]
    given = {name: _field(parsed, name) for name, _ in columns}
    if null is not None:
        given = {name: call("NULLIF", field, text(null)) for name, field in given.items()}
    values = [(name, _type(type_), given[name]) for name, type_ in columns]
    is_text = exp.Paren(this=exp.Or(this=column("_plain"), expression=call("IS_VALID_UTF8", value.copy())))
    why: list[Reason] = [(each, BYTES) for each in problems[2:]]
    why += [(problems[1], QUOTES), (problems[0], count_fields())]
    return _records([], values, "csv", problems, is_text=None if multi_line else is_text, folders=folders, why=why)


def text_records(name: str, type_: str, problems: Sequence[Expression]) -> Records:
    """Records that are the text of one value."""
    return _records([], [(name, _type(type_), column("value"))], "csv", problems)


def avro_records(columns: Columns) -> Records:
    """Records of Avro, which are decoded in the struct `_decoded`: its fields c0, c1 … and `malformed`."""
    decoded = column(DECODED)
    typed = [alias(_field(decoded, f"c{place}"), f"_typed{place}") for place in range(len(columns))]
    items = [
        exp.Alias(this=column(f"_typed{place}"), alias=_identifier(name)) for place, (name, _) in enumerate(columns)
    ]
    malformed = alias(_field(decoded, "malformed"), MALFORMED)
    return Records((tuple(map(print_inline, typed)),), tuple(map(print_inline, items)), print_inline(malformed))


def parquet_records(columns: Columns, folders: bool = False) -> Records:
    """Records of Parquet, whose columns are in the struct `_record`: so they may be called `value`, too."""
    types = [(name, _type(type_)) for name, type_ in columns]
    written = call("MAKE_VALID_UTF8", call("TO_JSON", column(_RECORD)))
    values = [(name, type_, _field(column(_RECORD), name)) for name, type_ in types]
    records = _records([[alias(written, "value")]], values, "parquet", [], folders=folders)
    schema = ", ".join(f"{_quote_name(name)} {wire_type(type_, 'parquet')}" for name, type_ in types)
    return replace(records, schema=schema, place="STRUCT(0L AS part, _metadata.row_index AS record)")


def _records(
    steps: list[list[Expression]],
    values: Sequence[tuple[str, Type, Expression]],
    format_: Format,
    problems: Sequence[Expression],
    looks_wrong: Expression | None = None,
    *,
    is_text: Expression | None = None,
    folders: bool = False,
    why: Sequence[Reason] = (),
    show: Callable[[str], Expression] | None = None,
) -> Records:
    """`values`: the name, type, and value of the wire type of each column. `is_text`: whether a record is UTF-8."""
    given = choose_columns([(name, type_) for name, type_, _ in values] if folders else [])
    if given.columns:
        steps = [[alias(given.read(), FOLDER), *steps[0]], *steps[1:]] if steps else [[alias(given.read(), FOLDER)]]
    typed = [(*each, column(f"_typed{place}")) for place, each in enumerate(values)]
    steps = [*steps, [alias(convert(value, type_, format_), made.name) for _, type_, value, made in typed]]
    known = [misfits(value, type_, format_, converted=made) for _, type_, value, made in typed]
    # One branch for all problems: Spark computes a column for each row if two branches use it.
    against = given.is_against([(name, made) for name, _, _, made in typed])
    found = [each for each in (*problems, *known, looks_wrong, against) if each is not None]
    ifs = [exp.If(this=_any_of(found), true=column("value"))] if found else []
    if is_text is not None:
        ifs = [exp.If(this=exp.Not(this=is_text), true=call("MAKE_VALID_UTF8", column("value"))), *ifs]
    malformed = exp.Case(ifs=ifs) if ifs else null(STRING)
    reasons: list[Reason] = [] if is_text is None else [(exp.Not(this=is_text), BYTES)]
    reasons += why
    for (name, type_, value, _), misfit in zip(typed, known, strict=True):
        alone = _looks_wrong([(name, type_)]) if format_ == "json" else None
        wrong = [each for each in (misfit, alone) if each is not None]
        if wrong:
            written = quote_field(value) if show is None else show(name)
            reasons.append((_any_of(wrong), tell_value(name, type_, written)))
    if against is not None:
        reasons.append((against, FOLDER_VALUE))
    items = [exp.Alias(this=given.fill(name, made), alias=_identifier(name)) for name, _, _, made in typed]
    texts = tuple(tuple(print_inline(each) for each in step) for step in steps)
    return Records(
        tuple(filter(None, texts)),
        tuple(map(print_inline, items)),
        print_inline(alias(malformed, MALFORMED)),
        folders=tuple(name for name, _ in given.columns),
        why=print_inline(tell_why(reasons)) if reasons else "CAST(NULL AS STRING)",
    )


def _call_parser(function_: str, value: Expression, schema: str, options: dict[str, str]) -> Expression:
    given = call("MAP", *(text(part) for option in options.items() for part in option))
    return call(function_, value.copy(), text(schema), given)


def _looks_wrong(types: Sequence[tuple[str, Type]]) -> Expression | None:
    """Whether a second look at a JSON record finds what the first one cannot tell: it is taken only where needed.

    The first one takes the text of a number for a DECIMAL, rounds to its scale, and has Infinity for a number that no
    DOUBLE holds. For the second one all numbers are made texts behind a mark: so they are seen as they stand there.
    """
    looked = [(name, _as_texts(type_)) for name, type_ in types]
    if all(look is None for _, look in looked):
        return None
    whole = call("REGEXP_REPLACE", _enclose_record(TEXT), text(_JSON_NUMBER), text(f'$1"{_MARK}$2"'))
    shape = Struct(tuple((name, Simple(look)) for name, look in looked if look is not None))
    parsed = _call_parser("FROM_JSON", whole, f"records ARRAY<{shape}>", _JSON_OPTIONS)
    wrong = [_is_changed(_field(_first_of(parsed), name), type_) for name, type_ in types]
    needed, is_wrong = _any_of(_suspicions(types)), _any_of([each for each in wrong if each is not None])
    return exp.Case(ifs=[exp.If(this=needed, true=is_wrong)], default=exp.Boolean(this=False))


def _suspicions(types: Sequence[tuple[str, Type]]) -> list[Expression]:
    """Why a second look at a record may be needed."""
    if any(_as_texts(type_) for _, type_ in types if isinstance(type_, (Array, Map, Struct))):
        return [exp.Boolean(this=True)]
    problems = [is_infinite(_field(column(_RECORD), name)) for name, type_ in types if type_ in (DOUBLE, FLOAT)]
    for name, type_ in types:
        # A text, a number with an exponent, or with more decimals; or a key that may be this one, with escapes.
        if isinstance(type_, Decimal):
            value = rf'"|-?[0-9]*(?:\.[0-9]{{{type_.scale + 1}}}|[0-9.]*[eE])'
            escape = r"\\u00[2-7]" if name.isascii() else r"\\u"
            pattern = rf'"{java_literal(name)}"\s*:\s*(?:{value})|{escape}'
            problems.append(exp.RegexpLike(this=column(TEXT), expression=text(pattern)))
    return problems


def _as_texts(type_: Type) -> str | None:
    """The type of a value whose numbers are texts, as Spark writes it; None where it needs no second look."""
    match type_:
        case Array():
            look = _as_texts(type_.element)
            return look and f"ARRAY<{look}>"
        case Map():
            look = _as_texts(type_.value)
            return look and f"MAP<STRING, {look}>"
        case Struct():
            fields = [(name, Simple(look)) for name, each in type_.fields if (look := _as_texts(each)) is not None]
            return str(Struct(tuple(fields))) if fields else None
    return str(STRING) if isinstance(type_, Decimal) or type_ in (DOUBLE, FLOAT) else None


def _is_changed(value: Expression, type_: Type, depth: int = 0) -> Expression | None:
    """Whether a value, as the second look finds it, does not have its type, or does not fit it."""
    match type_:
        case Array() | Map():
            inner = type_.element if isinstance(type_, Array) else type_.value
            name = f"y{depth}"
            condition = _is_changed(column(name), inner, depth + 1)
            values = value if isinstance(type_, Array) else call("MAP_VALUES", value)
            return condition and call("EXISTS", values.copy(), function(name, body=lambda _: condition))
        case Struct():
            parts = [_is_changed(_field(value, name), each, depth) for name, each in type_.fields]
            known = [part for part in parts if part is not None]
            return _any_of(known) if known else None
    if not isinstance(type_, Decimal) and type_ not in (DOUBLE, FLOAT):
        return None
    is_number = call("STARTSWITH", value.copy(), text(_MARK))
    parsed = parse(call("SUBSTR", value.copy(), number(2)), type_)
    if isinstance(type_, Decimal):
        there = exp.Not(this=is_null(value.copy()))
        return both(there, exp.Or(this=exp.Not(this=is_number), expression=is_null(parsed)))
    return both(is_number, is_null(parsed))


def _first_of(parsed: Expression) -> Expression:
    return call("GET", _field(parsed, "records"), number(0))


def _enclose_record(name: str) -> Expression:
    return call("CONCAT", text(_BEFORE), column(name), text(_AFTER))


def _any_of(conditions: Sequence[Expression]) -> Expression:
    false = exp.Boolean(this=False)
    known = [call("COALESCE", each, false.copy()) for each in conditions]
    first, *others = known
    for each in others:
        first = exp.Or(this=first, expression=each)
    return first


def _field(value: Expression, name: str) -> Expression:
    return exp.Dot(this=value.copy(), expression=_identifier(name))


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def _quote_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _type(written: str | exp.DataType) -> Type:
    """The type that Spark writes so."""
    parsed: Any = exp.DataType.build(written, dialect="spark")
    match parsed.this:
        case _KIND.DECIMAL:
            precision, scale = (int(each.name) for each in parsed.expressions)
            return Decimal(precision, scale)
        case _KIND.ARRAY:
            return Array(_type(parsed.expressions[0]))
        case _KIND.MAP:
            return Map(*map(_type, parsed.expressions))
        case _KIND.STRUCT:
            return Struct(tuple((each.this.name, _type(each.args["kind"])) for each in parsed.expressions))
    return Simple(_TYPES.get(parsed.this) or parsed.this.value)
