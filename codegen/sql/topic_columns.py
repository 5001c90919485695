"""The columns of a topic -> Spark SQL that makes them of its messages, which have a key and a value.

What Spark knows of a message is in the struct `_metadata`. Names of a script are given in the last step only. So none
of them meets a name of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from penstock.codegen.program import Input
from penstock.codegen.record_parsing import Columns, MessagePart, Messages, Records
from penstock.codegen.record_reasons import KEY, NO_TEXT
from penstock.codegen.sql.metadata_items import make_metadata_items
from penstock.codegen.sql.printing import print_inline
from penstock.codegen.sql.reasons import WHY
from penstock.codegen.sql.records import (
    MALFORMED,
    avro_records,
    csv_records,
    json_records,
    text_records,
)
from penstock.codegen.sql.trees import alias, call, cast, column, is_null, struct_of, text
from penstock.planner.connectors import connector_of
from penstock.planner.connectors.kafka import find_key_format
from penstock.planner.plan import Expression
from penstock.planner.types import STRING

KEYS, MALFORMED_KEY = "_keys", "_malformed_key"
NO_VALUE = "NULL"
"""What stands for the text of a record of a stream that has no value."""


def messages_of(source: Input) -> Messages:
    """The messages of an input."""
    keys = [each for each in source.columns if each[0] in source.key]
    values = [each for each in source.columns if each[0] not in source.key]
    parts: list[MessagePart] = []
    malformed: list[exp.If] = []
    items: list[str] = []
    if keys:
        key_format = find_key_format(source.options, source.key)
        is_json = key_format == "json"
        if key_format == "avro":
            part = _avro_part("key", keys)
        else:
            part = _make_part("key", json_records(keys) if is_json else _text_key(keys[0]), is_checked=is_json)
        found = struct_of((name, column(f"_typed{place}")) for place, (name, _) in enumerate(keys))
        kept = [column("_metadata"), alias(found, KEYS), alias(column(MALFORMED), MALFORMED_KEY)]
        parts.append(_add_steps(part, [tuple(map(print_inline, kept))]))
        items += [print_inline(alias(column(KEYS, name), name)) for name, _ in keys]
        malformed.append(_first(MALFORMED_KEY))
    if not source.tombstones:
        malformed.append(exp.If(this=is_null(column("_metadata", "value")), true=text(NO_VALUE)))
    watch = None
    why: list[str] = []
    if values:
        of_value, records = _value_part(source, values)
        parts.append(of_value)
        items += records.items
        watch = records.watch
        malformed.append(_first(MALFORMED))
        why.append(records.why or "CAST(NULL AS STRING)")
    case = exp.Case(ifs=malformed) if malformed else cast(exp.Null(), STRING)
    items += [*make_metadata_items(source.metadata), print_inline(alias(case, MALFORMED)), *_origin(source)]
    if source.explained:
        items.append(_tell_why(why, has_key=bool(keys)))
    return Messages(tuple(parts), tuple(items), watch)


def _tell_why(of_value: Sequence[str], *, has_key: bool) -> str:
    """The item that says why a message is malformed."""
    of_key = f"WHEN NOT `{MALFORMED_KEY}` IS NULL THEN '{KEY}' " if has_key else ""
    otherwise = f"ELSE {of_value[0]} " if of_value else ""
    return f"CASE {of_key}WHEN `_metadata`.`value` IS NULL THEN '{NO_TEXT}' {otherwise}END AS `{WHY}`"


def _value_part(source: Input, columns: Columns) -> tuple[MessagePart, Records]:
    options = dict(source.options)
    match options["format"]:
        case "json":
            records = json_records(columns, explains=source.explained)
            return _make_part("value", records, is_checked=True), records
        case "csv":
            records = csv_records(columns, str(options["null"]) if "null" in options else None)
            fields = tuple(name for name, _ in columns)
            return _make_part("value", records, fields, is_checked=False), records
        case "avro":
            return _avro_part("value", columns), avro_records(columns)
        case other:
            raise AssertionError(f"the planner let the format {other} through")


def _avro_part(name: str, columns: Columns) -> MessagePart:
    records = avro_records(columns)
    steps = tuple(("*", *step) for step in (*records.steps, (records.malformed,)))
    return MessagePart(print_inline(alias(column("_metadata", name), "value")), None, steps, tuple(columns))


def _text_key(key: tuple[str, str]) -> Records:
    is_text = call("IS_VALID_UTF8", cast(column("_metadata", "key"), STRING))
    return text_records(*key, [exp.Not(this=is_text)])


def _make_part(name: str, records: Records, fields: tuple[str, ...] | None = None, *, is_checked: bool) -> MessagePart:
    """`is_checked`: whether the records themselves look for bytes that are no text."""
    value: Expression = cast(column("_metadata", name), STRING)
    if not is_checked:
        value = call("MAKE_VALID_UTF8", value)  # as Spark's reader of CSV files does
    steps = [*records.steps, (records.malformed,)]
    return MessagePart(print_inline(alias(value, "value")), fields, tuple(("*", *step) for step in steps))


def _add_steps(part: MessagePart, steps: Sequence[tuple[str, ...]]) -> MessagePart:
    return replace(part, steps=(*part.steps, *steps))


def _first(name: str) -> exp.If:
    return exp.If(this=exp.Not(this=is_null(column(name))), true=column(name))


def _origin(source: Input) -> list[str]:
    """Where the message is from, when it came, and whether it deletes."""
    shown = connector_of(source.connector).record_place.shown
    items = [alias(column("_metadata", name), each) for name, each, _ in shown]
    items.append(alias(column("_metadata", "timestamp"), "_arrived"))
    if source.tombstones:
        items.append(alias(is_null(column("_metadata", "value")), "_tombstone"))
    return list(map(print_inline, items))
