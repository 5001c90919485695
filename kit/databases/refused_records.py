"""Rows that are set aside, as JSON."""

import base64
import json
from datetime import date, datetime
from typing import Any

import pyarrow as pa

FIRST_MICROS, LAST_MICROS = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The first and the last time that Python has, in microseconds since 1970."""


def record_of(rows: pa.Table) -> str:
    """The only one of the rows as JSON."""
    for place, field in enumerate(rows.schema):
        # Python has no times outside of the years 1 to 9999, and Arrow cannot write years above 32767.
        if pa.types.is_timestamp(field.type):
            micros = rows[field.name].cast(pa.timestamp("us", field.type.tz)).cast(pa.int64())[0].as_py()
            if micros is not None and not FIRST_MICROS <= micros <= LAST_MICROS:
                rows = rows.set_column(place, field.name, pa.array([f"{micros} microseconds since 1970"]))
        elif pa.types.is_date32(field.type):
            rows = rows.set_column(place, field.name, rows[field.name].cast(pa.string()))
    return json.dumps(json_value(rows.to_pylist()[0]), ensure_ascii=False)


def json_value(value: Any) -> Any:
    """A value of Arrow as JSON has it: what JSON lacks is written as text."""
    match value:
        case dict():
            return {name: json_value(each) for name, each in value.items()}
        case list() | tuple():
            return [json_value(each) for each in value]
        case None | bool() | int() | str():
            return value
        case float():
            return value if abs(value) < float("inf") else str(value)
        case bytes():
            return base64.b64encode(value).decode()
        case datetime():
            return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        case date():
            return value.isoformat()
        case _:
            return str(value)
