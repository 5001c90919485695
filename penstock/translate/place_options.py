"""Connector options of other systems -> options of Penstock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from penstock.parser import name_text
from penstock.planner.connectors.datagen import DATAGEN
from penstock.planner.connectors.topics import AVRO, FORMATS, explain_keys, find_key_format
from penstock.planner.plan.generated_columns import FIELDS
from penstock.planner.plan.reserved import choose_unused_name
from penstock.translate.declaration import Declaration
from penstock.translate.model import NotTranslatedError, System

SERVERS = "localhost:9092"
SERVERS_NOTE = f"the statement does not name the brokers of its topic: this names {SERVERS} in bootstrap_servers"
AVRO_HINT = "format = 'avro', schema_registry = 'http://localhost:8081'"
WINDOW_COLUMNS = ("window_start", "window_end")
_FILE_FORMATS = ("json", "csv", "parquet")
_FLINK_KEYS = frozenset({"key.format", "key.fields", "value.fields-include", "key.fields-prefix"})
_FLINK_KEY_FORMATS: Mapping[str, str] = {"json": "json", "raw": "text", "csv": "text"}
_FLOATS = frozenset({"FLOAT", "DOUBLE", "DOUBLE PRECISION", "REAL"})
_DELIMITERS = frozenset({"csv.field-delimiter", "sep", "delimiter"})


@dataclass(frozen=True, slots=True)
class PlaceOptions:
    """The place of a relation: its options in Penstock's spelling, and the options to check the statement with.

    `changes`: what the translation changes.
    """

    options: list[tuple[str, str]]
    checked: list[tuple[str, str]]
    changes: list[str]


def find_place(system: System, declaration: Declaration) -> PlaceOptions:
    """Where the rows of a declaration are. Raises NotTranslatedError for systems that Penstock does not know."""
    return _READERS[system](declaration)


def quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def kafka(
    topic: str, form: str, servers: str, changes: list[str], *, key_format: str = "", partitions: str = ""
) -> PlaceOptions:
    """`form`: the format of the values in the words of the other system. `key_format`: the format of the keys here."""
    own = "csv" if form.lower() == "csv" else FORMATS.get(form.lower())
    if own is None and form.lower() in (AVRO, "avro-confluent"):
        raise NotTranslatedError(f"name the registry: {AVRO_HINT}, with columns in the case of the schema's fields")
    if own is None:
        raise NotTranslatedError(f"Penstock reads JSON, CSV and Avro from Kafka, and not {form or 'another format'}")
    options = [("connector", "'kafka'"), ("topic", quote(topic)), ("format", quote(own))]
    options += [("key_format", quote(key_format))] if key_format else []
    options.append(("bootstrap_servers", quote(servers or SERVERS)))
    options += [("partitions", partitions)] if partitions else []
    return PlaceOptions(options, options, [*changes, *([] if servers else [SERVERS_NOTE])])


def files(path: str, form: str, given: Mapping[str, str], used: set[str]) -> PlaceOptions:
    """CSV files have no header unless the options say so, in Flink and in Spark."""
    if not form:
        raise NotTranslatedError("the table names no place of its rows, and no format: USING json LOCATION '…' does")
    if form.lower() not in _FILE_FORMATS:
        raise NotTranslatedError(f"Penstock reads {', '.join(_FILE_FORMATS)} files, and not {form}")
    if not path:
        raise NotTranslatedError("the table has no folder: name the folder of its files by WITH (…, path = '…')")
    separated = next((name for name in given if name in _DELIMITERS and given[name] != ","), None)
    if separated is not None:
        raise NotTranslatedError(f"{separated}: the values of CSV files are separated by commas here")
    options = [("connector", "'files'"), ("path", quote(path)), ("format", quote(form.lower()))]
    if form.lower() == "csv":
        options.append(("header", "TRUE" if given.get("header", "").lower() == "true" else "FALSE"))
    return PlaceOptions(options, options, _tell_unused(given, used | {"header"} | _DELIMITERS))


def _read_flink(declaration: Declaration) -> PlaceOptions:
    connector = declaration.options.get("connector", "")
    if not connector:
        raise NotTranslatedError("the table has no connector: name a place by WITH (connector = 'files', …)")
    if connector not in _FLINK:
        raise NotTranslatedError(
            f"Penstock has no connector {connector}: docs/connectors.md lists those it has, such as files and postgres"
        )
    return _FLINK[connector](declaration)


def _read_flink_kafka(declaration: Declaration) -> PlaceOptions:
    """Columns that are in the keys of messages alone become KEY columns; others are read from the values."""
    given = declaration.options
    if given.get("value.fields-include", "ALL").upper() != "EXCEPT_KEY":
        return _read_flink_topic(given, "")
    if given.get("key.fields-prefix"):
        raise NotTranslatedError("key.fields-prefix has no place: columns of keys are called as in the messages")
    declaration.key += [name.strip() for name in given.get("key.fields", "").split(";") if name.strip()]
    return _read_flink_topic(given, _read_flink_keys(given))


def _read_flink_upserts(declaration: Declaration) -> PlaceOptions:
    return _read_flink_topic(declaration.options, _read_flink_keys(declaration.options))


def _read_flink_topic(given: Mapping[str, str], key_format: str) -> PlaceOptions:
    form = given.get("format") or given.get("value.format", "")
    used = {"connector", "topic", "format", "value.format", "properties.bootstrap.servers", *_FLINK_KEYS}
    servers = given.get("properties.bootstrap.servers", "")
    return kafka(given.get("topic", ""), form, servers, _tell_unused(given, used), key_format=key_format)


def _read_flink_keys(given: Mapping[str, str]) -> str:
    """The format of keys."""
    form = given.get("key.format", "").lower()
    if form not in _FLINK_KEY_FORMATS:
        raise NotTranslatedError(f"Penstock reads keys in JSON and plain text, and not in {form or 'another format'}")
    return _FLINK_KEY_FORMATS[form]


def _read_flink_files(declaration: Declaration) -> PlaceOptions:
    given = declaration.options
    return files(given.get("path", ""), given.get("format", ""), given, {"connector", "path", "format"})


def _read_print(declaration: Declaration) -> PlaceOptions:
    given = declaration.options
    options = [("connector", "'print'")]
    if "print-identifier" in given:
        options.append(("print_identifier", quote(given["print-identifier"])))
    return PlaceOptions(options, options, _tell_unused(given, {"connector", "print-identifier"}))


def _read_blackhole(declaration: Declaration) -> PlaceOptions:
    options = [("connector", "'blackhole'")]
    return PlaceOptions(options, options, _tell_unused(declaration.options, {"connector"}))


def _read_jdbc(declaration: Declaration) -> PlaceOptions:
    given = declaration.options
    url = urlsplit(given.get("url", "").removeprefix("jdbc:"))
    if url.scheme != "postgresql":
        raise NotTranslatedError(
            f"Penstock has no connector for {url.scheme or 'this database'}; it has postgres and sqlite"
        )
    user = f"{given['username']}@" if "username" in given else ""
    options = [("connector", "'postgres'"), ("url", quote(f"postgresql://{user}{url.netloc}{url.path}"))]
    options.append(("table", quote(given.get("table-name", ""))))
    changes = _tell_unused(given, {"connector", "url", "username", "password", "table-name"})
    if "password" in given:
        options.append(("password", "ENV('PGPASSWORD')"))
        changes.insert(0, "the password is not in the script: put it into the variable PGPASSWORD")
    return PlaceOptions(options, options, changes)


def _read_datagen(declaration: Declaration) -> PlaceOptions:
    """The options of columns are called as in Flink, with _ in place of -."""
    given = declaration.options
    options, used = [("connector", "'datagen'")], {"connector"}
    for name, value in given.items():
        before, point, last = name.rpartition(".")
        own = before + point + last.replace("-", "_")
        if DATAGEN.find_option(own) is not None:
            column = before.removeprefix(f"{FIELDS}.")
            is_plain = not column or name_text(column) == column
            options.append((own if is_plain else quote(own), quote(value)))
            used.add(name)
    changes = _tell_unused(given, used)
    set_apart = {name.lower().split(".")[1] for name in used if name.endswith((".min", ".max"))}
    names = [name for name, type_ in declaration.columns if type_.upper().split("(")[0].strip() in _FLOATS]
    if unset := [name for name in names if name.strip("`").lower() not in set_apart]:
        numbers = "random numbers are from 0 to 1 here, and up to the greatest of the type in Flink"
        changes.append(f"{', '.join(unset)}: {numbers}")
    return PlaceOptions(options, options, changes)


def _tell_unused(given: Mapping[str, str], used: set[str]) -> list[str]:
    rest = [name for name in given if name not in used]
    return [f"options that Penstock does not have are left out: {', '.join(rest)}"] if rest else []


def _read_ksqldb(declaration: Declaration) -> PlaceOptions:
    given = declaration.options
    topic = given.get("kafka_topic") or declaration.name.strip('`"')
    form = given.get("value_format") or given.get("format") or "json"
    used = {
        "kafka_topic",
        "value_format",
        "format",
        "key_format",
        "value_delimiter",
        "partitions",
        "timestamp",
        "timestamp_format",
        "replicas",
        "window_type",
        "window_size",
    }
    changes = _tell_unused(given, used)
    if "window_type" in given and declaration.columns:
        declaration.columns += [(name, "TIMESTAMP") for name in WINDOW_COLUMNS]
        declaration.key += WINDOW_COLUMNS if declaration.kind == "TABLE" else ()
        changes.append("the window of the key is in columns of the records, which need window_start and window_end")
    if "timestamp" in given:
        time = _find_time(declaration, given["timestamp"], changes)
        declaration.watermark = f"WATERMARK FOR {time} AS {time} - INTERVAL '1' DAY"
        changes.append(
            "ksqlDB takes rows for a day behind the newest one unless GRACE PERIOD says otherwise, and so does this "
            "watermark. Final rows and pairs wait for it: a smaller delay gives them earlier"
        )
    if given.get("value_delimiter", ",") not in (",", "COMMA"):
        raise NotTranslatedError("VALUE_DELIMITER: the values of CSV are separated by commas here")
    changes += _explain_times(declaration)
    keys = len(declaration.key)
    type_ = dict(declaration.columns).get(declaration.key[0], "") if keys == 1 else ""
    if keys and (note := explain_keys(given, keys, type_=type_)):
        changes.append(note[0].lower() + note[1:].rstrip("."))
    key_format = find_key_format(keys) if keys else ""
    return kafka(topic, form, "", changes, key_format=key_format, partitions=given.get("partitions", ""))


def _explain_times(declaration: Declaration) -> list[str]:
    """Times in the records of ksqlDB are numbers."""
    names = [name for name, type_ in declaration.columns if type_.upper() in ("TIMESTAMP", "DATE", "TIME")]
    names = [name for name in names if name not in (*declaration.metadata, *WINDOW_COLUMNS)]
    if not names:
        return []
    return [
        f"{', '.join(names)}: ksqlDB reads and writes a time as a number (milliseconds, of a DATE days); a record here "
        "has a text. For numbers declare a BIGINT, and a computed column with TIMESTAMP_MILLIS or DATE_FROM_UNIX_DATE"
    ]


def _find_time(declaration: Declaration, name: str, changes: list[str]) -> str:
    """The event time: the column of that name, or a computed one where that has milliseconds or a text."""
    types = {each.strip('`"').casefold(): type_.upper() for each, type_ in declaration.columns}
    type_, form = types.get(name.strip('`"').casefold(), ""), declaration.options.get("timestamp_format")
    values = {"BIGINT": f"TIMESTAMP_MILLIS({name})"}
    if form is not None:
        values = dict.fromkeys(("STRING", "VARCHAR"), f"TO_TIMESTAMP({name}, {quote(form)})")
    if type_ not in values:
        return name
    time = choose_unused_name(name.strip('`"') + "_at", types)
    declaration.computed.append((time, values[type_]))
    changes.append(f"{name} is no TIMESTAMP: {time} is the event time, a computed column, which SELECT * has, too")
    return time


def _read_spark(declaration: Declaration) -> PlaceOptions:
    given = declaration.options
    form = given.get("using", "").lower()
    return _SPARK.get(form, _read_spark_files)(given)


def _read_spark_kafka(given: Mapping[str, str]) -> PlaceOptions:
    used = {"using", "subscribe", "kafka.bootstrap.servers"}
    servers = given.get("kafka.bootstrap.servers", "")
    return kafka(given.get("subscribe", ""), "json", servers, _tell_unused(given, used))


def _read_spark_files(given: Mapping[str, str]) -> PlaceOptions:
    return files(given.get("path", ""), given.get("using", ""), given, {"using", "path"})


_FLINK: Mapping[str, Callable[[Declaration], PlaceOptions]] = {
    "kafka": _read_flink_kafka,
    "upsert-kafka": _read_flink_upserts,
    "filesystem": _read_flink_files,
    "print": _read_print,
    "datagen": _read_datagen,
    "blackhole": _read_blackhole,
    "jdbc": _read_jdbc,
}
_SPARK = {"kafka": _read_spark_kafka}
_READERS: Mapping[System, Callable[[Declaration], PlaceOptions]] = {
    System.FLINK: _read_flink,
    System.KSQLDB: _read_ksqldb,
    System.SPARK: _read_spark,
}
