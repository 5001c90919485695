"""The rows of a query -> Spark SQL that makes messages of them: a key, a value, and the time of the record."""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.program import DELETE, Input, QueryOutput
from penstock.codegen.record_parsing import KEY, VALUE, Columns
from penstock.codegen.sql.printing import print_inline
from penstock.codegen.sql.trees import alias, call, cast, column, null, only_if, text
from penstock.planner.connectors.kafka import find_key_format
from penstock.planner.plan import Expression
from penstock.planner.types import BIGINT, STRING

TIME = "time"
_TIMESTAMPS = ("timestampFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX")
_JSON = (_TIMESTAMPS, ("ignoreNullFields", "false"))
_CSV = (
    _TIMESTAMPS,
    ("quote", '"'),
    ("escape", '"'),
    ("ignoreLeadingWhiteSpace", "false"),
    ("ignoreTrailingWhiteSpace", "false"),
)


def list_message_items(output: QueryOutput, operation: str | None) -> tuple[str, ...]:
    """The items of a SELECT over the result of a query: `key`, `value`, and `time` in milliseconds.

    A row that is deleted has no value.
    """
    keys = [name for name, _ in output.columns if name in output.key]
    has_key = output.is_table or "key_format" in dict(output.options)
    values = [name for name, _ in output.columns if not (has_key and name in keys)]
    value = _write(str(output.values["format"]), values, output.values.get("null"))
    if operation is not None:
        is_deleted = exp.EQ(this=column(operation), expression=text(DELETE))
        value = only_if(exp.Not(this=is_deleted), value)
    time = null(BIGINT) if output.time is None else call("UNIX_MILLIS", column(output.time))
    return tuple(
        print_inline(alias(each, name))
        for each, name in ((_write_key(output, keys), KEY), (value, VALUE), (time, TIME))
    )


def list_avro_parts(place: Input | QueryOutput) -> dict[str, Columns]:
    """The columns of the messages' key and of their value, for each of the two that is in Avro."""
    has_key = isinstance(place, Input) or place.is_table or "key_format" in dict(place.options)
    keys = [each for each in place.columns if each[0] in place.key]
    columns = {KEY: keys, VALUE: [each for each in place.columns if not (has_key and each in keys)]}
    formats = {KEY: find_key_format(place.options, [name for name, _ in keys]), VALUE: place.values["format"]}
    return {part: columns[part] for part in columns if formats[part] == "avro"}


def _write_key(output: QueryOutput, keys: list[str]) -> Expression:
    match find_key_format(output.options, keys):
        case None:
            return null(STRING)
        case "text":
            return cast(column(keys[0]), STRING)
        case key_format:
            return _write(key_format, keys, None)


def _write(format_: str, names: list[str], null_text: object) -> Expression:
    if not names and format_ != "avro":
        return text("{}")
    row = call("NAMED_STRUCT", *(part for name in names for part in (text(name), column(name))))
    if format_ == "avro":
        return row  # which the driver encodes
    options = _JSON if format_ == "json" else _CSV
    if null_text is not None:
        options = (*options, ("nullValue", str(null_text)))
    given = call("MAP", *(text(part) for option in options for part in option))
    return call("TO_JSON" if format_ == "json" else "TO_CSV", row, given)
