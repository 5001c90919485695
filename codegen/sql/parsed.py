"""Inputs and outputs -> the same with the Spark SQL between records and rows."""

from __future__ import annotations

from dataclasses import replace

from penstock.codegen.program import Input, QueryOutput
from penstock.codegen.record_parsing import Parsing
from penstock.codegen.sql.records import records_of
from penstock.codegen.sql.sent_messages import list_avro_parts, list_message_items
from penstock.codegen.sql.topic_columns import messages_of
from penstock.planner.connectors import connector_of


def make_parsing(source: Input) -> Parsing | None:
    """How the records of an input become rows, None where its place holds rows."""
    connector = connector_of(source.connector)
    if not connector.parses_records or connector.changes_rows:
        return None
    is_json = dict(source.options).get("format") == "json"
    if connector.keys_apart:
        messages = messages_of(source)
        watch, avro = messages.watch if is_json else None, tuple(list_avro_parts(source).items())
        return Parsing(messages=messages, watch=watch, avro=avro)
    records = records_of(source)
    watch, has_header = records.watch if is_json else None, connector.has_header(source.options)
    return Parsing(records=records, watch=watch, has_header=has_header)


def complete_output(output: QueryOutput) -> QueryOutput:
    """The output as the runtime writes it."""
    connector = connector_of(output.connector)
    avro = tuple(list_avro_parts(output).items()) if connector.keys_apart else ()
    return replace(output, avro=avro, is_written_by_spark=connector.spark_writes(output.options))


def list_items(output: QueryOutput, operation: str | None) -> tuple[str, ...]:
    """What makes messages of the rows of a query, empty where they do not become messages."""
    return list_message_items(output, operation) if connector_of(output.connector).keys_apart else ()
