"""Kafka topics: what is declared of their messages, and where to begin."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.connectors import C003, C004, C023
from penstock.planner import types
from penstock.planner.connectors.file_formats import check_format, check_null
from penstock.planner.connectors.option import (
    INTEGER,
    INTERVAL,
    NAME,
    SECRET,
    STRING,
    Connector,
    ConnectorOption,
    Metadata,
    OptionType,
    RecordPlace,
)
from penstock.planner.connectors.starting_offsets import read_offsets, read_time
from penstock.planner.plan import Column, Options

LEDGER = "penstock_ledger"
"""The topic in which Penstock notes which micro-batches are written, unless an option says otherwise."""
TEXT_KEYS = (types.STRING, types.BOOLEAN, types.DATE, *types.INTEGERS)
"""Types of keys that are written as plain text. Decimals are, too."""
HEADERS = types.Array(types.Struct((("key", types.STRING), ("value", types.BINARY))))
"""The type of the headers of a message. A name may come several times, and a value may be NULL."""

EXACTLY_ONCE, AT_LEAST_ONCE = "exactly_once", "at_least_once"
"""What `delivery` may be."""
_PROTOBUF = "Clients of Python read Protobuf by classes that have to be generated from each schema."
REFUSED = (("protobuf", _PROTOBUF), ("protobuf_nosr", _PROTOBUF), ("protobuf-confluent", _PROTOBUF))
"""Formats that are not supported, and why."""
_TOPIC = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")
_URL = re.compile(r"https?://[^\s/@?#]+(/[^\s@?#]*)?")
_SERVERS = re.compile(r"[^\s,:/]+:\d{1,5}(,[^\s,:/]+:\d{1,5})*")


def make_topic_check(option: str) -> Callable[[str, Span], Diagnostic | None]:
    """The check of an option that names a topic."""

    def check_topic(value: str, span: Span) -> Diagnostic | None:
        if _TOPIC.fullmatch(value):
            return None
        return C003.at(span, "", name=option, expected="at most 249 letters, digits and signs of . _ -")

    return check_topic


def check_servers(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the addresses of brokers."""
    if _SERVERS.fullmatch(value):
        return None
    return C003.at(span, "", name="bootstrap_servers", expected="addresses such as 'host:9092', separated by commas")


def check_url(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the address of a registry, which has no user in it."""
    if _URL.fullmatch(value):
        return None
    return C003.at(span, "", name="schema_registry", expected="an address such as 'http://host:8081'")


def check_starting(value: str, span: Span) -> Diagnostic | None:
    """What is wrong with the place at which a new query begins."""
    if value.lower() in ("earliest", "latest") or read_time(value) is not None or read_offsets(value) is not None:
        return None
    expected = """'earliest', 'latest', a time such as '2026-01-31T12:00:00Z', or offsets such as '{"0": 42}'"""
    return C003.at(span, "", name="starting", expected=expected)


def is_text_key(type_: types.Type) -> bool:
    """Whether a key of the type is written as plain text."""
    return type_ in TEXT_KEYS or isinstance(type_, types.Decimal)


def find_key_format(options: Options, columns: Sequence[str]) -> str | None:
    """The format of the keys of messages, None if they have none."""
    if not columns:
        return None
    return str(dict(options).get("key_format", "text" if len(columns) == 1 else "json"))


def check(
    options: Options, columns: Sequence[Column], span: Span, *, key: Collection[str], table: bool, written: bool
) -> None:
    """Raises CompileError for columns that keys or values of messages cannot hold, and for what is not supported."""
    given = dict(options)
    if table and str(given.get("starting", "earliest")).lower() != "earliest":
        found = C003.at(span, "", name="starting", expected="'earliest' where it is of a table")
        raise CompileError([found.because("Without its first records a table lacks rows.")])
    check_security(options, span)
    keys = [each for each in columns if each.name in key]
    if "key_format" in given and not keys:
        found = C023.at(span, "", reason="it has the option key_format, and no key")
        raise CompileError([found.with_hint("id BIGINT KEY marks a key, and so does PARTITION BY id in the query")])
    check_registry(options, keys, span)
    apart = table or written or "key_format" in given
    if apart and find_key_format(options, [each.name for each in keys]) == "text":
        check_text_key(keys, span)
    values = [each for each in columns if not (each in keys and (table or "key_format" in given))]
    check_format((("format", "avro" if find_key_format(options, list(key)) == "avro" else "json"),), keys, span)
    check_format(options, values, span)
    if not values and given["format"] == "csv":
        found = C023.at(span, "", reason="it has all columns, and a record of CSV has at least one")
        raise CompileError([found.with_hint("format = 'json'")])
    if written:
        check_null(options, values, span)


def check_security(options: Options, span: Span) -> None:
    """Raises CompileError for a user without a protocol of users, or the reverse, and for certificates without SSL."""
    given = dict(options)
    protocol = str(given.get("security_protocol", "plaintext"))
    users = [name for name in ("username", "password") if name in given]
    if protocol.startswith("sasl"):
        missing = next((name for name in ("username", "password") if name not in given), None)
        if missing is not None:
            found = C004.at(span, "", connector="kafka", name=missing)
            raise CompileError([found.with_hint("username = 'me', password = ENV('KAFKA_PASSWORD')")])
    elif users:
        expected = f"'sasl_ssl' or 'sasl_plaintext' where {users[0]} is given"
        raise CompileError([C003.at(span, "", name="security_protocol", expected=expected)])
    if "ssl_ca" in given and not protocol.endswith("ssl"):
        expected = "'ssl' or 'sasl_ssl' where ssl_ca is given"
        raise CompileError([C003.at(span, "", name="security_protocol", expected=expected)])


def check_registry(options: Options, keys: Sequence[Column], span: Span) -> None:
    """Raises CompileError for Avro without a registry, the reverse, and for a subject of what is not Avro."""
    given = dict(options)
    is_avro = {"value": given["format"] == "avro", "key": bool(keys) and given.get("key_format") == "avro"}
    if any(is_avro.values()) and "schema_registry" not in given:
        found = C004.at(span, "", connector="kafka", name="schema_registry")
        raise CompileError([found.with_hint("schema_registry = 'http://localhost:8081', in the WITH list")])
    needless = next((each for each in given if _is_for_avro(each) and not any(is_avro.values())), None)
    if needless is not None:
        raise CompileError([C003.at(span, "", name=needless, expected="a value where format or key_format is 'avro'")])
    for part, option in (("value", "format"), ("key", "key_format")):
        if f"{part}_subject" in given and not is_avro[part]:
            found = C003.at(span, "", name=f"{part}_subject", expected=f"a value where {option} is 'avro'")
            raise CompileError([found])
    if ("registry_username" in given) != ("registry_password" in given):
        missing = "registry_password" if "registry_username" in given else "registry_username"
        found = C004.at(span, "", connector="kafka", name=missing)
        raise CompileError([found.with_hint("registry_username = 'me', registry_password = ENV('REGISTRY_PASSWORD')")])


def _is_for_avro(option: str) -> bool:
    return option in ("schema_registry", "value_subject", "key_subject") or option.startswith("registry_")


def check_text_key(keys: Sequence[Column], span: Span) -> None:
    """Raises CompileError for keys that are not written as one plain text."""
    if len(keys) > 1:
        found = C023.at(span, "", reason="its key has several columns, and key_format = 'text'")
        raise CompileError([found.with_hint("key_format = 'json'")])
    for each in keys:
        if not is_text_key(each.type):
            found = C023.at(span, "", reason=f"its key {each.name} is {each.type}, which is not written as plain text")
            raise CompileError([found.with_hint("key_format = 'json'")])


def is_written_by_spark(options: Options) -> bool:
    """Whether Spark's own sink writes the topic, which has no transactions."""
    return dict(options).get("delivery") == AT_LEAST_ONCE


def explain_not_in_real_time(options: Options) -> str | None:
    """Why Spark does not read or write the topic in real time, None if it does."""
    given = dict(options)
    if "avro" in (given["format"], given.get("key_format")):
        return "Python workers decode and encode Avro."
    return "The option max_offsets_per_batch limits micro-batches." if "max_offsets_per_batch" in given else None


def place(options: Options) -> str:
    """The topic at its brokers, each once, in one order."""
    given = dict(options)
    servers = {each.replace("localhost:", "127.0.0.1:") for each in str(given["bootstrap_servers"]).lower().split(",")}
    return f"{','.join(sorted(servers))}/{given['topic']}"


def sees_topic(read: str, written: str) -> bool:
    """Whether both are one topic: brokers of one cluster know each other, so one broker in common will do."""
    (servers, topic), (others, other) = (each.split("/", 1) for each in (read, written))
    return topic == other and not set(servers.split(",")).isdisjoint(others.split(","))


KAFKA = Connector(
    "kafka",
    "a Kafka topic",
    packages=(("confluent_kafka", "confluent-kafka"), ("fastavro", "fastavro")),
    reads_stream=True,
    reads_table=True,
    appends=True,
    upserts=True,
    deletes=True,
    exactly_once=True,
    parses_records=True,
    record_place=RecordPlace(
        shown=(
            ("topic", "_topic", types.STRING),
            ("partition", "_partition", types.INT),
            ("offset", "_offset", types.BIGINT),
        ),
        order=(("partition", "_partition"), ("offset", "_offset")),
    ),
    keys_apart=True,
    marks_deletes=True,
    metadata=(
        Metadata("topic", types.STRING, "name of the topic"),
        Metadata("partition", types.INT, "number of the partition"),
        Metadata("offset", types.BIGINT, "place in the partition"),
        Metadata("timestamp", types.TIMESTAMP, "time of the record, as its producer or the broker has set it"),
        Metadata("key", types.BINARY, "bytes of the key", nullable=True),
        Metadata("headers", HEADERS, "headers in their order; NULL if there are none", nullable=True),
    ),
    has_partitions=True,
    counts_partitions=True,
    spark_writes=is_written_by_spark,
    real_time=explain_not_in_real_time,
    check=check,
    place=place,
    sees=sees_topic,
    own_options=(
        ConnectorOption(
            "topic", NAME, "name of the topic", required=True, identifies=True, check=make_topic_check("topic")
        ),
        ConnectorOption(
            "bootstrap_servers",
            NAME,
            "host:port of brokers, several separated by commas",
            required=True,
            check=check_servers,
        ),
        ConnectorOption(
            "format",
            OptionType("STRING", ("json", "csv", "avro"), refused=REFUSED),
            "format of the values",
            required=True,
            identifies=True,
        ),
        ConnectorOption(
            "key_format",
            OptionType("STRING", ("text", "json", "avro"), refused=REFUSED),
            "format of the keys; a table has 'text' for one column, 'json' for several; a stream without it is read by "
            "its values alone",
            identifies=True,
        ),
        ConnectorOption("schema_registry", NAME, "avro: address of the registry of schemas", check=check_url),
        ConnectorOption(
            "value_subject", NAME, "avro: name of the schemas of values; unless set, the topic's name and -value"
        ),
        ConnectorOption(
            "key_subject", NAME, "avro: name of the schemas of keys; unless set, the topic's name and -key"
        ),
        ConnectorOption("registry_username", NAME, "avro: name of the user of the registry"),
        ConnectorOption("registry_password", SECRET, "avro: password of the user of the registry"),
        ConnectorOption("null", STRING, "csv: the text that stands for NULL; empty unless set"),
        ConnectorOption(
            "starting",
            NAME,
            "stream: where a new checkpoint begins: 'earliest', 'latest', a time, or offsets by partition as JSON",
            default="earliest",
            check=check_starting,
        ),
        ConnectorOption(
            "max_offsets_per_batch",
            INTEGER,
            "at most so many records in one micro-batch; all unless set",
            limits_batch=True,
        ),
        ConnectorOption(
            "delivery",
            OptionType("STRING", (EXACTLY_ONCE, AT_LEAST_ONCE)),
            "how a query writes: each row once, for readers of committed records; or by Spark's own sink, and rows of "
            "a micro-batch that runs again come again",
            default=EXACTLY_ONCE,
        ),
        ConnectorOption(
            "create",
            OptionType("STRING", ("never", "if_missing")),
            "whether a query makes the topic that it writes, if it does not exist",
            default="never",
        ),
        ConnectorOption(
            "ledger", NAME, "topic of the notes on what is written", default=LEDGER, check=make_topic_check("ledger")
        ),
        ConnectorOption(
            "security_protocol",
            OptionType("STRING", ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")),
            "how clients talk to brokers",
            default="plaintext",
        ),
        ConnectorOption(
            "sasl_mechanism",
            OptionType("STRING", ("plain", "scram-sha-256", "scram-sha-512")),
            "sasl: how the user logs in",
            default="plain",
        ),
        ConnectorOption("username", NAME, "sasl: name of the user"),
        ConnectorOption("password", SECRET, "sasl: password of the user"),
        ConnectorOption("ssl_ca", NAME, "ssl: file in PEM with the certificates that are trusted, on each machine"),
        ConnectorOption("retention", INTERVAL, "table: how long its former rows can be asked for, in event time"),
    ),
)
