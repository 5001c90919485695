"""Calls of other systems whose meaning depends on literals among their arguments: units, precisions, separators."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.expression_types import T005
from penstock.parser.ast.base import EVENT_TIME
from penstock.parser.ast.intervals import UNITS
from penstock.parser.build.base import placed, span_of
from penstock.parser.build.intervals import sum_up
from penstock.parser.build.standard import enclose, make_call, refuse, repeat
from penstock.parser.build.type_names import SIMPLE

_MICROSECONDS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
# From 1970-01-01 to 2000-01-03, from which TimescaleDB and DuckDB count.
_BUCKET_ORIGIN = 10_959 * _MICROSECONDS["DAY"]
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_CASTS = (
    *("BIGINT", "BINARY", "BOOLEAN", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "INT", "SMALLINT", "STRING", "TIME"),
    "TIMESTAMP",
)
_POSTGRES_CASTS = ("INT2", "INT4", "INT8", "FLOAT4", "FLOAT8", "BOOL", "TEXT", "TIMESTAMPTZ")
_UNITS = {**UNITS, **{name + s: name for name in ("MICROSECOND", "QUARTER") for s in ("", "S")}}


def _unit(node: exp.Expression) -> str:
    """The unit that an argument names, as a word or as a text."""
    is_name = isinstance(node, exp.Column) and "table" not in node.args
    name = node.name.upper() if is_name or isinstance(node, exp.Literal) else ""
    if name.removeprefix("SQL_TSI_") not in _UNITS:
        raise refuse(span_of(node), "this unit", f"The units are {', '.join(dict.fromkeys(_UNITS.values()))}.")
    return _UNITS[name.removeprefix("SQL_TSI_")]


def _number(node: exp.Expression) -> str | None:
    """The text of a literal whole number, perhaps with a sign."""
    if isinstance(node, exp.Neg):
        inner = _number(node.this)
        return None if inner is None else f"-{inner}".replace("--", "")
    is_whole = isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal()
    return node.name if is_whole else None


def _interval(node: exp.Expression, quantity: str, unit: str) -> exp.Interval:
    text = placed(exp.Literal(this=quantity, is_string=True), span_of(node))
    return placed(exp.Interval(this=text, unit=placed(exp.Var(this=unit), span_of(node))), span_of(node))


def shift(call: exp.Anonymous) -> exp.Expression:
    """TIMESTAMPADD(unit, n, time) and its kin: time + INTERVAL 'n' unit."""
    if len(call.expressions) != 3:
        return call
    unit_node, count, time = call.expressions
    unit, number = _unit(unit_node), _number(count)
    if unit in _MONTHS and number is None:
        hint = f"ADD_MONTHS(CAST({span_of(time).text} AS DATE), {span_of(count).text})"
        reason = "Months are added as an interval that stands in the query."
        raise refuse(span_of(call), f"{call.this} with {unit}s that are no literal", reason, sql=hint)
    is_minus = str(call.this).endswith("SUB")
    length: exp.Expression
    if number is None:
        one = _interval(unit_node, "0.000001" if unit == "MICROSECOND" else "1", unit.replace("MICRO", ""))
        length = placed(exp.Mul(this=enclose(count), expression=one), span_of(call))
    elif unit == "MICROSECOND":
        length = _interval(count, f"{Decimal(number).scaleb(-6).normalize():f}", "SECOND")
    else:
        is_quarter = unit == "QUARTER"
        length = _interval(count, str(int(number) * 3) if is_quarter else number, "MONTH" if is_quarter else unit)
    kind = exp.Sub if is_minus else exp.Add
    return enclose(placed(kind(this=enclose(time), expression=length), span_of(call)))


def count_units(call: exp.Anonymous) -> exp.Expression:
    """TIMESTAMPDIFF(unit, from, to): whole units, cut towards zero."""
    if len(call.expressions) != 3:
        return call
    unit_node, start, end = call.expressions
    unit = _unit(unit_node)
    if unit in _MONTHS:
        hint = f"MONTHS_BETWEEN({span_of(end).text}, {span_of(start).text})"
        reason = "The last days of two months are a whole month apart for some systems only."
        raise refuse(span_of(call), f"{call.this} in {unit}s", reason, sql=hint)
    micros = [make_call(span_of(each), "UNIX_MICROS", each) for each in (end, start)]
    length = placed(exp.Sub(this=micros[0], expression=micros[1]), span_of(call))
    size = placed(exp.Literal.number(_MICROSECONDS[unit]), span_of(unit_node))
    return enclose(placed(exp.IntDiv(this=enclose(length), expression=size), span_of(call)))


def read_epoch(call: exp.Anonymous) -> exp.Expression:
    """TO_TIMESTAMP_LTZ(number, 0, 3 or 6) of Flink, and TO_TIMESTAMP_LTZ(text, format) of Spark."""
    if len(call.expressions) != 2:
        return call
    value, precision = call.expressions
    name = {"0": "TIMESTAMP_SECONDS", "3": "TIMESTAMP_MILLIS", "6": "TIMESTAMP_MICROS"}.get(_number(precision) or "")
    if name is not None:
        return make_call(span_of(call), name, value)
    return make_call(span_of(call), "TO_TIMESTAMP", value, precision)


def bin_date(call: exp.Anonymous) -> exp.Expression:
    """DATE_BIN(interval, time, origin): the beginning of the stretch of that length which the time falls into."""
    is_bucket = call.this == "TIME_BUCKET" and len(call.expressions) == 2
    if len(call.expressions) != 3 and not is_bucket:
        return call
    epoch = make_call(span_of(call), "TIMESTAMP_MICROS", placed(exp.Literal.number(0), span_of(call)))
    length, time, origin = (*call.expressions, epoch)[:3]
    if isinstance(length, exp.Literal) and length.is_string:
        length = sum_up(span_of(length), length.name)
    unit = length.args["unit"].this if isinstance(length, exp.Interval) else None
    size = Decimal(length.this.this) * _MICROSECONDS[unit] if unit in _MICROSECONDS else Decimal()
    if size <= 0 or size != size.to_integral_value():
        reason = "Its first argument is a literal interval of a fixed length."
        times = ", ".join(span_of(each).text for each in call.expressions[1:])
        hint = f"{call.this}(INTERVAL '15' MINUTE, {times})"
        raise refuse(span_of(length), "this length", reason, sql=hint, at=span_of(call))
    if is_bucket and _BUCKET_ORIGIN % size:
        reason = "Stretches of this length begin in 1970 for some systems, and in 2000 for others."
        hint = f"TIME_BUCKET({span_of(length).text}, {span_of(time).text}, TIMESTAMP '2000-01-03 00:00:00')"
        raise refuse(span_of(call), "TIME_BUCKET without an origin", reason, sql=hint)
    span = span_of(call)
    now, start = make_call(span, "UNIX_MICROS", time), make_call(span, "UNIX_MICROS", origin)
    since = placed(exp.Sub(this=repeat(now), expression=start), span)
    over = make_call(span, "PMOD", since, placed(exp.Literal.number(int(size)), span_of(length)))
    return make_call(span, "TIMESTAMP_MICROS", placed(exp.Sub(this=now, expression=over), span))


def write_millis(call: exp.Anonymous) -> exp.Expression:
    """TIMESTAMPTOSTRING(milliseconds, format) of ksqlDB, whose ROWTIME is a number of milliseconds."""
    if len(call.expressions) != 2:
        return call
    time, format_ = call.expressions
    is_time = isinstance(time, exp.Column) and time.name.upper() == EVENT_TIME
    moment = time if is_time else make_call(span_of(call), "TIMESTAMP_MILLIS", time)
    return make_call(span_of(call), "DATE_FORMAT", moment, format_)


def split_index(call: exp.Anonymous) -> exp.Expression:
    """SPLIT_INDEX(text, separator, n) of Flink, which counts from 0 and gives NULL where there are fewer parts."""
    if len(call.expressions) != 3:
        return call
    text, separator, index = call.expressions
    is_text = isinstance(separator, exp.Literal) and separator.is_string and "\\E" not in separator.name
    if not is_text or not separator.name:
        hint = f"SPLIT_PART({span_of(text).text}, {span_of(separator).text}, {span_of(index).text} + 1)"
        raise refuse(
            span_of(separator), "a separator that is no literal", "It becomes a pattern.", sql=hint, at=span_of(call)
        )
    pattern = placed(exp.Literal(this=f"\\Q{separator.name}\\E", is_string=True), span_of(separator))
    span = span_of(call)
    # An empty text has no parts in Flink, and one in SPLIT.
    parts = make_call(span, "SPLIT", make_call(span, "NULLIF", text, placed(exp.Literal.string(""), span)), pattern)
    return make_call(span, "GET", parts, index)


def cast_by_name(call: exp.Anonymous) -> exp.Expression:
    """INT(x), the same as CAST(x AS INT)."""
    if len(call.expressions) != 1:
        return call
    type_ = placed(exp.DataType(this=SIMPLE[str(call.this)], nested=False), span_of(call))
    return placed(exp.Cast(this=call.expressions[0], to=type_), span_of(call))


def read_character(call: exp.Anonymous) -> exp.Expression:
    r"""CHR('\u0041') of ksqlDB, which is 'A'. A number, also one in quotes, is the code of the character."""
    value = call.expressions[0] if len(call.expressions) == 1 else None
    written = re.fullmatch(r"\\u([0-9a-fA-F]{4})", value.name) if isinstance(value, exp.Literal) else None
    if written is None or 0xD800 <= int(written[1], 16) < 0xE000:
        return call
    return placed(exp.Literal(this=chr(int(written[1], 16)), is_string=True), span_of(call))


def make_struct(call: exp.Anonymous) -> exp.Expression:
    """STRUCT(a, b.c, 1): its fields have the names of their columns, or col1, col2 by their places."""
    values: list[exp.Expression] = []
    if not call.expressions:
        found = T005.at(span_of(call), "", name=str(call.this).upper(), count="0 arguments")
        raise CompileError([found.because("A struct has a field at least.").with_hint("STRUCT(product, price)")])
    for place, each in enumerate(call.expressions, 1):
        inner = each.expression if isinstance(each, exp.Dot) else each
        name = inner.name if isinstance(inner, exp.Column | exp.Identifier) else f"col{place}"
        values += [placed(exp.Literal(this=name, is_string=True), span_of(each)), each]
    return make_call(span_of(call), "NAMED_STRUCT", *values)


BUILT: dict[str, Callable[[exp.Anonymous], exp.Expression]] = {
    **dict.fromkeys(("TIMESTAMPADD", "DATEADD", "DATE_ADD", "TIMESTAMPSUB", "DATESUB", "DATE_SUB"), shift),
    **dict.fromkeys(("TIMESTAMPDIFF", "DATEDIFF", "DATE_DIFF"), count_units),
    "TO_TIMESTAMP_LTZ": read_epoch,
    "DATE_BIN": bin_date,
    "TIME_BUCKET": bin_date,
    **dict.fromkeys((*_CASTS, *_POSTGRES_CASTS, "TINYINT"), cast_by_name),
    "SPLIT_INDEX": split_index,
    "TIMESTAMPTOSTRING": write_millis,
    "CHR": read_character,
    "STRUCT": make_struct,
    "ROW": make_struct,
}
