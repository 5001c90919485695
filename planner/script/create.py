"""CREATE STREAM / TABLE with columns -> a declared place in the catalog."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, nearest
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W003, W013
from penstock.diagnostics.codes.kinds import K007, K010, K016, K018
from penstock.parser import ast, name_text
from penstock.planner import scalars
from penstock.planner.catalog import OPERATION, PLANNED, RETENTION, SEQUENCE, Declared
from penstock.planner.connectors import Connector, connector_of
from penstock.planner.connectors.option import RATE as RATE_OPTION
from penstock.planner.durations import fixed_milliseconds, interval_duration, positive_milliseconds
from penstock.planner.plan import Column, Named, Origin, Value, make_column
from penstock.planner.plan.reserved import STREAM_COLUMNS, TABLE_COLUMNS, choose_unused_name
from penstock.planner.scalars.literals import bare
from penstock.planner.script.computed import (
    place_columns,
    read_computed,
    read_computed_time,
    read_defaults,
    stored_definitions,
)
from penstock.planner.script.metadata import check_metadata, metadata_definitions, read_metadata
from penstock.planner.script.read_options import read_options
from penstock.planner.types import BIGINT, DATE, STRING, TIMESTAMP


def lower_create(statement: ast.Create) -> Declared:
    """The declared place; raises CompileError with all that is wrong with the declaration."""
    findings: list[Diagnostic] = []
    stored = read_columns(statement, findings)
    metadata = read_metadata(statement, stored, findings)
    computed = read_computed(statement, (*stored, *metadata), findings)
    key = read_key(statement, findings)
    time, computed_time = read_computed_time(statement, computed, findings)
    columns = place_columns(statement, (*stored, *metadata, *([] if time is None else [time])))
    delay = read_delay(statement, columns, findings)
    idle = read_idle(statement, findings)
    connector, options = read_options(
        statement.options, statement.name, statement.kind.value, len(key), statement.span, findings
    )
    if findings:
        raise CompileError(findings)
    columns = check_metadata(statement, metadata, connector_of(connector), columns)
    is_table = statement.kind is ast.RelationKind.TABLE
    connector_of(connector).check(options, stored, statement.name.span, key=key, table=is_table, written=False)
    if is_table and connector_of(connector).marks_deletes:
        check_time_of_deletes(statement, connector_of(connector), {each.name for each in metadata})
    if computed and connector_of(connector).looks_up:
        raise CompileError([B002.at(statement.name.span, "", construct="computed columns of a table in a database")])
    values = dict(options)
    partitions, retention = values.get("partitions"), values.get(RETENTION)
    if is_table:
        columns = tuple(replace(each, nullable=each.nullable and each.name not in key) for each in columns)
    operation, sequence = read_table_options(statement, columns, values)
    origin = Origin(
        name=statement.name.text,
        connector=connector,
        options=tuple((name, value) for name, value in options if name not in PLANNED),
        columns=columns,
        key=key,
        time=None if statement.watermark is None else find_column(columns, statement.watermark.column.text),
        delay=delay,
        partitions=partitions if isinstance(partitions, int) else None,
        idle=idle,
        operation=operation,
        sequence=sequence,
        retention=retention if isinstance(retention, int) else None,
        computed_time=computed_time,
        defaults=read_defaults(statement, stored),
        metadata=tuple((each.name.text, each.key) for each in metadata_definitions(statement)),
    )
    own = {each.name.lower(): Named(each.name, make_column(each.name), each.type) for each in columns}
    named = {each.name.lower(): each for each in computed if each.name.lower() not in own}
    items = tuple({**own, **named}[each.name.folded] for each in statement.columns) if named else ()
    return Declared(statement.kind.value, statement.name.text, origin, items, statement.name.span, statement)


def check_time_of_deletes(statement: ast.Create, connector: Connector, metadata: Collection[str]) -> None:
    """Raises CompileError for an event time that a record does not have which deletes a row."""
    watermark = statement.watermark
    if watermark is not None and watermark.column.folded not in {each.lower() for each in metadata}:
        construct = f"an event time in the values of a table through {connector.name}"
        reason = "A deleted row has no value." if connector.keys_apart else "A deleted row has the values that it had."
        found = B002.at(watermark.column.span, "", construct=construct).because(reason)
        raise CompileError([found.with_hint("ts TIMESTAMP METADATA FROM 'timestamp'")])


def read_table_options(
    statement: ast.Create, columns: tuple[Column, ...], values: Mapping[str, Value]
) -> tuple[str | None, str | None]:
    """The options `operation` and `sequence`, as the names of columns; raises CompileError."""
    operation, sequence = values.get(OPERATION), values.get(SEQUENCE)
    kind, name = f"the {statement.kind.value.lower()}", statement.name.text
    for option, value in ((OPERATION, operation), (SEQUENCE, sequence), (RETENTION, values.get(RETENTION))):
        if value is not None and statement.kind is not ast.RelationKind.TABLE:
            problem = f"has the option {option}, which belongs to tables"
            found = K007.at(statement.name.span, "", kind=kind, name=name, problem=problem)
            raise CompileError([found.because("Rows of a stream are neither replaced nor deleted.")])
    if RATE_OPTION in values and statement.kind is ast.RelationKind.TABLE:
        problem = f"has the option {RATE_OPTION}, which belongs to streams"
        found = K007.at(statement.name.span, "", kind=kind, name=name, problem=problem)
        raise CompileError([found.because("How many keys a table has does not follow from a rate.")])
    known = find_column(columns, str(operation)) if operation is not None else None
    if known is not None:
        found = K007.at(statement.name.span, "", kind=kind, name=name, problem=f"declares its operation column {known}")
        hint = f"leave {known} out of the columns: it says what a record does, and rows do not have it"
        raise CompileError([found.with_hint(hint)])
    if operation is not None and str(operation).lower() in TABLE_COLUMNS:
        raise CompileError([K016.at(statement.name.span, "", name=operation).with_hint("operation = 'op'")])
    if sequence is None:
        return None if operation is None else str(operation), None
    ordered = next((c for c in columns if c.name.lower() == str(sequence).lower()), None)
    if ordered is None or not scalars.is_ordered(ordered.type):
        problem = f"has no column {sequence} to tell the newest record by"
        if ordered is not None:
            problem = f"has a sequence of type {ordered.type}, which has no order"
        found = K007.at(statement.name.span, "", kind=kind, name=name, problem=problem)
        guess = nearest(str(sequence), [c.name for c in columns if c is not ordered])
        raise CompileError([found.with_hint(guess and f"did you mean {guess}?")])
    return None if operation is None else str(operation), ordered.name


def read_columns(statement: ast.Create, findings: list[Diagnostic]) -> tuple[Column, ...]:
    columns: list[Column] = []
    seen: dict[str, ast.ColumnDefinition] = {}
    reserved = TABLE_COLUMNS if statement.kind is ast.RelationKind.TABLE else STREAM_COLUMNS
    for definition in stored_definitions(statement):
        first = seen.setdefault(definition.name.folded, definition)
        if first is not definition:
            found = K010.at(definition.name.span, "here again", name=definition.name.text)
            findings.append(found.also(first.name.span, "first declared here"))
            continue
        if definition.name.folded in reserved:
            findings.append(K016.at(definition.name.span, "", name=definition.name.text))
        type_ = scalars.type_of(definition.type, findings)
        if type_ is not None and definition.key and not scalars.is_ordered(type_):
            findings.append(K018.at(definition.span, "", type=type_))
        if type_ is not None:
            columns.append(Column(definition.name.text, type_, nullable=not definition.not_null))
    return tuple(columns)


def read_key(statement: ast.Create, findings: list[Diagnostic]) -> tuple[str, ...]:
    """The key columns: KEY partitions a stream, PRIMARY KEY identifies the rows of a table."""
    is_table = statement.kind is ast.RelationKind.TABLE
    kind, name = f"the {statement.kind.value.lower()}", statement.name.text
    for definition in stored_definitions(statement):
        if definition.key and definition.primary != is_table:
            wrong, right = ("KEY", "PRIMARY KEY") if is_table else ("PRIMARY KEY", "KEY")
            reason = "Rows of a table are identified, not just partitioned." if is_table else "A stream keeps no rows."
            problem = f"is declared with {wrong} instead of {right}"
            found = K007.at(definition.span, "", kind=kind, name=name, problem=problem)
            findings.append(found.because(reason).with_hint(f"write {right}"))
    key = tuple(definition.name.text for definition in stored_definitions(statement) if definition.key)
    if is_table and not key:
        found = K007.at(statement.name.span, "", kind=kind, name=name, problem="has no PRIMARY KEY")
        hint = "mark the column that identifies a row: id BIGINT PRIMARY KEY; rows without a key are a CREATE STREAM"
        findings.append(found.with_hint(hint))
    return key


def read_delay(statement: ast.Create, columns: tuple[Column, ...], findings: list[Diagnostic]) -> int | None:
    """The delay of `WATERMARK FOR t AS t [- interval]` in milliseconds, None where there is no watermark."""
    watermark = statement.watermark
    if watermark is None:
        return None
    name = watermark.column
    event_time = next((c for c in columns if c.name.lower() == name.folded), None)
    if event_time is None or event_time.type != TIMESTAMP:
        label = "" if event_time is None else f"it is {event_time.type}"
        found = W013.at(name.span, label, name=name.text, relation=statement.name.text)
        guess = nearest(name.text, [c.name for c in columns if c.type == TIMESTAMP])
        found = found.with_guess(guess and name_text(guess))
        findings.append(propose_time(found, watermark, columns, event_time))
        return None
    written = name_text(name.text)
    delayed, before = f"{written} - INTERVAL '10' SECOND", f"WATERMARK FOR {written} AS "
    expression = bare(watermark.expression)
    base, interval = expression, None
    if isinstance(expression, exp.Sub):
        base, interval = bare(expression.this), bare(expression.expression)
    is_column = isinstance(base, exp.Column) and not base.table and base.name.lower() == name.folded
    if not is_column or not (interval is None or isinstance(interval, exp.Interval)):
        found = W003.at(watermark.expression.meta["span"], "", column=name.text)
        length = read_written_length(expression, interval)
        findings.append(found.with_sql(delayed if length is None else f"{written} - {length}", before=before))
        return None
    if interval is None:
        return 0
    try:
        delay = fixed_milliseconds(interval_duration(interval), "watermark delay")
    except CompileError as error:
        findings.extend(error.diagnostics)
        return None
    if delay < 0:
        found = W003.at(watermark.expression.meta["span"], "a negative delay", column=name.text)
        findings.append(found.with_sql(delayed, before=before))
    return delay


def propose_time(
    found: Diagnostic, watermark: ast.Watermark, columns: tuple[Column, ...], column: Column | None
) -> Diagnostic:
    """The finding with a column of times that is computed from one of texts, dates or milliseconds."""
    delay = watermark.span.text.rpartition(" - ")[2] if " - INTERVAL" in watermark.span.text.upper() else None
    delay = delay or "INTERVAL '10' SECOND"
    written = name_text(watermark.column.text)
    if column is None:
        hint = f"{written} TIMESTAMP, {watermark.span.text}"
        return found if found.hint else found.with_sql(hint, watermark.span, before="declare the column: ")
    if column.type not in (BIGINT, STRING, DATE):
        return found
    time = choose_unused_name("time", [c.name for c in columns])
    value = f"TIMESTAMP_MILLIS({written})" if column.type == BIGINT else f"CAST({written} AS TIMESTAMP)"
    after = "" if column.type == BIGINT else f"; or declare {written} TIMESTAMP"
    return found.with_sql(f"{time} AS {value}, WATERMARK FOR {time} AS {time} - {delay}", watermark.span, after=after)


def read_written_length(expression: exp.Expression, interval: exp.Expression | None) -> str | None:
    """The interval that a watermark has in another place, or as a text or a number of seconds; None if it has none."""
    if isinstance(expression, exp.Interval):
        text: str = expression.meta["span"].text
        return text
    if not isinstance(interval, exp.Literal):
        return None
    if interval.is_string:
        return ast.write_interval(interval.name)
    return f"INTERVAL '{interval.name}' SECOND" if interval.name.isdecimal() else None


def read_idle(statement: ast.Create, findings: list[Diagnostic]) -> int | None:
    """The milliseconds of IDLE AFTER, None where it is not said."""
    if statement.watermark is None or statement.watermark.idle is None:
        return None
    try:
        return positive_milliseconds(statement.watermark.idle, "silence after which a stream is idle")
    except CompileError as error:
        findings.extend(error.diagnostics)
        return None


def find_column(columns: tuple[Column, ...], name: str) -> str | None:
    """The declared spelling of a column name."""
    return next((column.name for column in columns if column.name.lower() == name.lower()), None)
