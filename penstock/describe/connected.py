"""A topic, or a table of a database -> its columns, by its newest messages or by what the database says."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from penstock.codegen import lower_sampling
from penstock.codegen.connector_options import DATABASES, PACKAGES
from penstock.codegen.program import Input
from penstock.compilation import compile as compile_text
from penstock.describe.declare import DescribedPlace, declare
from penstock.describe.files import name_stream
from penstock.describe.found_place import FoundPlace, Option, WrittenOption, count_text, refuse
from penstock.describe.infer import Described, describe_field, join_fields
from penstock.describe.observed import JsonFraction, Observed, RecordArrival
from penstock.describe.script_text import write_options, write_script
from penstock.describe.text_forms import EPOCH
from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.connectors import C020
from penstock.parser import name_text
from penstock.planner.catalog import Declared
from penstock.planner.types import Decimal, Simple, Type
from penstock.runtime import check_packages
from penstock.runtime.samples.json_values import Constant
from penstock.runtime.samples.record_values import MalformedError, split_fields

if TYPE_CHECKING:
    from penstock.runtime.samples.newest_messages import Message

LONGEST_MAGIC = 64
NEWEST = 1000
"""So many messages of a topic are looked at."""
_BROKERS = re.compile(r"[\w.-]+:[0-9]+(?:,[\w.-]+:[0-9]+)*|\[[0-9a-fA-F:]+\]:[0-9]+")


def describe_connected(
    address: str, place: str, name: str | None, password: WrittenOption | None, form: str | None, rows: int
) -> DescribedPlace:
    """A declaration of the topic or the table `place`.

    Raises:
        CompileError: nothing can be described there.
        RunError: nobody answers, or there is no such topic or table.
    """
    secret: dict[str, Option] = {} if password is None else {"password": password}
    if _BROKERS.fullmatch(address):
        options = {"connector": "kafka", "topic": place, "bootstrap_servers": address, **secret}
        return _describe_topic(place, name, options, form, rows)
    check_packages(min(DATABASES, key=lambda each: len(PACKAGES[each])))  # without them no engine can be named
    from penstock.kit.databases.engine import ServerEngine
    from penstock.kit.databases.engines import ENGINES

    if os.path.isfile(address):
        options = {"connector": _find_file_connector(address), "path": address, "table": place}
        return _describe_table(place, name, options, rows)
    servers = {name: engine for name, engine in ENGINES.items() if isinstance(engine, ServerEngine)}
    scheme, sign, _ = address.partition("://")
    for connector, engine in servers.items():
        if sign and scheme in engine.schemes:
            return _describe_table(
                place, name, {"connector": connector, "url": address, "table": place, **secret}, rows
            )
    told = ", ".join(f"{each.schemes[0]}://user@host/database" for each in servers.values())
    raise refuse(
        place, "the address is none that is known", f"--connect takes host:port, {told} or a file of a database"
    )


def _find_file_connector(path: str) -> str:
    """The connector of a database that is a file. Raises CompileError if it is none."""
    from penstock.kit.databases.engine import FileEngine
    from penstock.kit.databases.engines import ENGINES

    try:
        with open(path, "rb") as file:
            head = file.read(LONGEST_MAGIC)
    except OSError as problem:
        raise refuse(path, (problem.strerror or "it cannot be read").lower()) from None
    for connector, engine in ENGINES.items():
        if isinstance(engine, FileEngine):
            place, magic = engine.magic
            if head[place : place + len(magic)] == magic:
                return connector
    raise refuse(path, "it is no file of a database", "without --connect, files of JSON, CSV and Parquet are described")


def _make_input(place: str, options: dict[str, Option], kind: str) -> Input:
    """The input that the options name, as a script has it. Raises CompileError for options that no script can have."""
    name, key = name_stream(place), " PRIMARY KEY" if kind == "TABLE" else ""
    text = f"CREATE {kind} {name_text(name)} (probe STRING{key}) WITH ({write_options(options)})"
    try:
        entry = compile_text(text).catalog.find(name)
    except CompileError as refusal:
        first = refusal.diagnostics[0]
        hint = "--password-env NAME names the variable that has it" if first.code == C020.id else None
        raise refuse(place, first.message, hint) from None
    assert isinstance(entry, Declared), f"{name} is declared"
    return lower_sampling(entry).input


def _describe_table(place: str, name: str | None, options: dict[str, Option], rows: int) -> DescribedPlace:
    from penstock.runtime.samples.table_sample import look_at_table

    source = _make_input(place, options, "TABLE")
    check_packages(source.connector)
    sample = look_at_table(source, rows)
    found = FoundPlace(name or name_stream(place.replace(".", "/")), "TABLE", options, [], key=sample.key)
    for column, type_, told in sample.columns:
        if type_ is None:
            found.notes.append(f"{column} is left out: no type holds the values of {told}")
        else:
            found.columns.append(Described(column, _parse_type(type_)))
    if not found.columns:
        raise refuse(place, "no column has a type that is read")
    if not found.key:
        raise refuse(place, "the table has no primary key or unique columns", "ALTER TABLE … ADD PRIMARY KEY (…)")
    names = [each.name for each in found.columns]
    first = [["NULL" if value is None else str(value) for value in row] for row in sample.rows]
    script = write_script(found, None, [names, *first] if first else [])
    compile_text(script)
    return DescribedPlace(found, None, script, names, [list(row) for row in first])


def _parse_type(text: str) -> Type:
    digits = re.fullmatch(r"DECIMAL\((\d+), (\d+)\)", text)
    return Decimal(int(digits[1]), int(digits[2])) if digits else Simple(text)


def _describe_topic(
    place: str, name: str | None, options: dict[str, Option], form: str | None, rows: int
) -> DescribedPlace:
    from penstock.runtime.samples.newest_messages import read_newest

    messages = read_newest(_make_input(place, {**options, "format": "json"}, "STREAM"), NEWEST)
    values = [each for each in messages if each.value is not None]
    if not values:
        raise refuse(place, "the topic has no messages with a value")
    form = form or _guess_format(place, values)
    options = {**options, "format": form}
    found = FoundPlace(name or name_stream(place.replace(".", "_")), "STREAM", options, [])
    found.read, found.is_all = f"the newest {count_text(len(messages), 'message')}", False
    keys = [each.key for each in messages if each.key is not None]
    if keys:
        example = keys[-1].decode("utf-8", "backslashreplace")[:40]
        found.notes.append(f"messages have keys, as {example}; key_format = 'text' and a column with KEY read them")
    if len(values) < len(messages):
        found.notes.append(f"{count_text(len(messages) - len(values), 'message')} without a value would be rejected")
    if form == "json":
        _add_json(found, values)
    else:
        _add_csv(found, values)
    if not found.columns:
        raise refuse(place, "no message has a field")
    return declare(found, rows)


def _guess_format(place: str, messages: Sequence[Message]) -> str:
    """The format of most messages. Raises CompileError for one that is not described."""
    heads = [(each.value or b"").lstrip()[:1] for each in messages]
    if heads.count(b"\0") > len(heads) // 2:
        hint = "declare its columns by hand, with format = 'avro' and schema_registry = 'http://…'"
        raise refuse(place, "its messages are in Avro, with their schemas in a registry", hint)
    if heads.count(b"{") * 2 >= len(heads):
        return "json"
    try:
        texts = [(each.value or b"").decode() for each in messages]
    except UnicodeDecodeError:
        raise refuse(place, "its messages are binary", "messages of JSON and CSV are described") from None
    if any("\0" in each for each in texts):
        raise refuse(place, "its messages are binary", "messages of JSON and CSV are described")
    return "csv"


def _add_json(found: FoundPlace, messages: Sequence[Message]) -> None:
    root = Observed("")
    for message in messages:
        try:
            value = json.loads(message.value or b"", parse_float=JsonFraction, parse_constant=Constant)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.records += 1
            root.add_json(value, _place(message))
    fields, notes = join_fields(root)
    found.notes += notes
    found.columns = [describe_field(each, name) for name, each in fields.items()]


def _add_csv(found: FoundPlace, messages: Sequence[Message]) -> None:
    records: list[tuple[list[str | None], RecordArrival]] = []
    for message in messages:
        try:
            records.append((split_fields((message.value or b"").decode("utf-8", "replace")), _place(message)))
        except MalformedError:
            continue
    width = max((len(fields) for fields, _ in records), default=0)
    seen = [Observed(f"column{place}") for place in range(1, width + 1)]
    for fields, place in records:
        if len(fields) == width:
            found.records += 1
            for each, text in zip(seen, fields, strict=True):
                each.add_field(text, place)
    found.columns = [describe_field(each, each.name, is_text=True) for each in seen]


def _place(message: Message) -> RecordArrival:
    return RecordArrival(message.partition, EPOCH + timedelta(microseconds=message.written))
