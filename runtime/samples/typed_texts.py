"""Values as a file has them -> values of the declared types. What does not fit is a Misfit, as it is for Spark's views.

The types are Arrow's. Points in time are in UTC and without a zone.
"""

from __future__ import annotations

import base64
import math
import re
import struct
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from penstock.runtime.samples.json_values import Constant, JsonArray, JsonNumber, JsonObject
from penstock.runtime.samples.moments import read_clock, read_day, read_moment

_WHOLE = re.compile(r"[\x00-\x20]*[+-]?[0-9]+[\x00-\x20]*")
_NUMBER = re.compile(r" *[+-]?(?=\.?[0-9])[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]+)? *")
_NOT_FINITE = re.compile(r" *(?:[+-]?inf(?:inity)?|nan) *", re.IGNORECASE)
_EXACT = re.compile(r" *[+-]?(?=\.?[0-9])[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]{1,4})? *")
_JSON_WHOLE = re.compile(r"-?[0-9]+")
_CONSTANTS = {"NaN", "Infinity", "+Infinity", "-Infinity", "INF", "+INF", "-INF"}
_LARGEST_FLOAT = 3.4028235677973366e38  # from here on, the nearest FLOAT is infinite


class MisfitError(Exception):
    """The type does not hold the value."""


class NamesError(Exception):
    """Several fields could be the same column."""


def read_text(text: str, type_: pa.DataType) -> Any:
    """The value that a field of CSV, or the name of a folder, stands for. Raises MisfitError."""
    if pa.types.is_string(type_):
        return text
    if pa.types.is_integer(type_):
        if not _WHOLE.fullmatch(text):
            raise MisfitError
        return _check_range(int(text), type_)
    if pa.types.is_floating(type_):
        if not (_NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text)):
            raise MisfitError
        return _read_fraction(text, type_, is_finite=_NOT_FINITE.fullmatch(text) is None)
    if pa.types.is_decimal(type_):
        return _read_decimal(text, type_)
    if pa.types.is_boolean(type_):
        if text.lower() not in ("true", "false"):
            raise MisfitError
        return text.lower() == "true"
    found: date | datetime | time | None = None
    if pa.types.is_timestamp(type_):
        found = read_moment(text)
    elif pa.types.is_date(type_):
        found = read_day(text)
    elif pa.types.is_time(type_):
        found = read_clock(text)
    if found is None:
        raise MisfitError
    return found


def read_json(value: Any, type_: pa.DataType) -> Any:
    """The value that a part of a JSON record stands for. Raises MisfitError, NamesError."""
    if value is None:
        return None
    if pa.types.is_struct(type_):
        if not isinstance(value, JsonObject):
            raise MisfitError
        fields = match_fields(value, [field.name for field in type_])
        return {field.name: read_json(fields.get(field.name), field.type) for field in type_}
    if pa.types.is_map(type_):
        return _read_map(value, type_)
    if pa.types.is_list(type_):
        if not isinstance(value, JsonArray):
            raise MisfitError
        return [read_json(each, type_.value_type) for each in value.items]
    if pa.types.is_string(type_):
        return value if type(value) is str else show_json_value(value)
    if pa.types.is_boolean(type_):
        if not isinstance(value, bool):
            raise MisfitError
        return value
    is_text = type(value) is str
    if pa.types.is_integer(type_):
        if not isinstance(value, JsonNumber) or not _JSON_WHOLE.fullmatch(value):
            raise MisfitError
        return _check_range(int(value), type_)
    if pa.types.is_floating(type_):
        is_constant = isinstance(value, Constant) or (is_text and value in _CONSTANTS)
        if not is_constant and not isinstance(value, JsonNumber):
            raise MisfitError
        # Without decimals it is a whole number first, which has no -0.
        text = str(int(value)) if _JSON_WHOLE.fullmatch(value) else value.replace("INF", "Infinity")
        return _read_fraction(text, type_, is_finite=not is_constant)
    if pa.types.is_decimal(type_):
        if not isinstance(value, JsonNumber):
            raise MisfitError
        return _read_decimal(value, type_)
    if not is_text:
        raise MisfitError
    if pa.types.is_binary(type_):
        try:
            return base64.b64decode(value, validate=True)
        except ValueError:
            raise MisfitError from None
    return read_text(value, type_)


def match_fields(value: JsonObject, names: list[str]) -> dict[str, Any]:
    """The fields of an object by the names of the columns. Raises NamesError if several could be the same column."""
    wanted = {name.lower(): name for name in names}
    exact: dict[str, Any] = {}
    others: dict[str, dict[str, Any]] = {}
    for name, item in value.pairs:
        column = wanted.get(name.lower())
        if column == name:
            exact[name] = item
        elif column is not None:
            others.setdefault(column, {})[name] = item
    for column, found in others.items():
        if column not in exact:
            if len(found) > 1:
                raise NamesError
            (exact[column],) = found.values()
    return exact


def show_json_value(value: Any) -> str:
    """The text of a value as it stands in its record."""
    match value:
        case JsonObject() | JsonArray():
            return value.text
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
    return str(value)


def _read_map(value: Any, type_: pa.MapType) -> Any:
    if not isinstance(value, JsonObject):
        raise MisfitError
    pairs = [(read_text(name, type_.key_type), read_json(item, type_.item_type)) for name, item in value.pairs]
    if len({name for name, _ in pairs}) < len(pairs):
        raise MisfitError
    return pairs


def _check_range(value: int, type_: pa.DataType) -> int:
    bound = 1 << (type_.bit_width - 1)
    if not -bound <= value < bound:
        raise MisfitError
    return value


def _read_fraction(text: str, type_: pa.DataType, *, is_finite: bool) -> float:
    value = float(text)
    if is_finite and (math.isinf(value) or (pa.types.is_float32(type_) and abs(value) >= _LARGEST_FLOAT)):
        raise MisfitError
    if pa.types.is_float32(type_) and math.isfinite(value):
        (value,) = struct.unpack("f", struct.pack("f", value))
    return value


def _read_decimal(text: str, type_: pa.DataType) -> Decimal:
    if not _EXACT.fullmatch(text):
        raise MisfitError
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        raise MisfitError from None
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int), f"{text} is a number"
    places = exponent + type_.scale
    number = int("".join(map(str, digits)))
    if number == 0:
        return Decimal(0).scaleb(-type_.scale)
    if places < 0:
        number, rest = divmod(number, 10**-places) if -places <= len(digits) else (0, 1)
        if rest:
            raise MisfitError
    elif len(digits) + places > type_.precision:
        raise MisfitError
    else:
        number *= 10**places
    if len(str(number)) > type_.precision:
        raise MisfitError
    return Decimal((sign, tuple(map(int, str(number))), -type_.scale))
