"""Options of topics as ksqlDB writes them -> options to write here."""

from __future__ import annotations

from collections.abc import Mapping

FORMATS: Mapping[str, str] = {"json": "json", "json_sr": "json", "delimited": "csv"}
"""ksqlDB's name of a value format -> the format here."""
AVRO = "avro"
_OPTIONS = frozenset(
    {"kafka_topic", "value_format", "key_format", "partitions", "replicas", "timestamp", "timestamp_format"}
    | {"value_delimiter", "key_delimiter", "wrap_single_value", "window_type", "window_size", "retention_ms"}
    | {"value_schema_id", "key_schema_id", "value_schema_full_name", "key_schema_full_name", "cleanup_policy"}
)
_BROKERS, _REGISTRY = "localhost:9092", "http://localhost:8081"


def describe_topic(texts: Mapping[str, str], name: str, kind: str, keys: int | None) -> tuple[str, str] | None:
    """What becomes of the options of a relation, and its options here.

    None if they are no options of ksqlDB. `keys`: how many key columns it declares, None if a query makes its rows.
    """
    if not _OPTIONS & texts.keys():
        return None
    form = (texts.get("value_format") or texts.get("format") or "json").lower()
    options = {
        "connector": "kafka",
        "topic": texts.get("kafka_topic") or name,
        "bootstrap_servers": _BROKERS,
        "format": AVRO if form == AVRO else FORMATS.get(form, "json"),
    }
    if form == AVRO:
        options["schema_registry"] = _REGISTRY
    if keys or kind == "TABLE":
        options["key_format"] = find_key_format(keys or 1)
    written = ", ".join(f"{each} = '{value.replace(chr(39), chr(39) * 2)}'" for each, value in options.items())
    return " ".join(_notes(texts, form, kind, keys)), written


def find_key_format(keys: int) -> str:
    """The `key_format` of so many key columns: ksqlDB writes a single key without an object around it, in JSON, too."""
    return "json" if keys > 1 else "text"


def explain_keys(texts: Mapping[str, str], keys: int, *, type_: str = "") -> str:
    """How the bytes of so many key columns differ, empty if they do not.

    `type_`: the type, if there is one key column.
    """
    is_text = type_.upper().startswith(("VARCHAR", "STRING"))
    form = (texts.get("key_format") or texts.get("format") or "kafka").lower()
    if keys > 1:
        return "" if form.startswith("json") else "Keys of several columns are JSON objects here."
    if form == "kafka":
        return "" if is_text else "Numbers in keys are texts here, and bytes in the format KAFKA."
    if form.startswith("json"):
        return "" if type_ and not is_text else "The quotes around a text in a key of JSON stay part of it."
    reads = "key_format = 'avro' with schema_registry reads them" if form == AVRO else "Penstock reads texts and JSON"
    return "" if form == "delimited" else f"Keys in {form.upper()} are not read: {reads}."


def _notes(texts: Mapping[str, str], form: str, kind: str, keys: int | None) -> list[str]:
    """What becomes of the other options, a sentence each."""
    notes = ["The brokers of a topic are named in the script."]
    if form == AVRO:
        notes.append("So is the registry of schemas, whose fields are columns by their names, in upper and lower case.")
    elif form not in FORMATS:
        notes.append(f"Messages in {form.upper()} are not read: Penstock reads JSON, CSV and Avro.")
    if texts.get("value_delimiter", ",") != ",":
        notes.append("Values of CSV are separated by commas.")
    if keys and (note := explain_keys(texts, keys)):
        notes.append(note)
    if "timestamp" in texts and keys is None:
        notes.append("TIMESTAMP is left out: rows keep the event time that they have.")
    elif "timestamp" in texts:
        time = texts["timestamp"]
        notes.append(
            f"TIMESTAMP is a watermark: WATERMARK FOR {time} AS {time} - INTERVAL '1' DAY for a TIMESTAMP column; "
            f"for milliseconds, time AS TIMESTAMP_MILLIS({time}) comes first."
        )
    if "window_type" in texts:
        notes.append(f"The window of a key is {WINDOWED_KEYS[kind]}.")
    return notes


_WINDOW_COLUMNS = "window_start TIMESTAMP, window_end TIMESTAMP"
WINDOWED_KEYS = {
    "STREAM": f"in columns of the records: {_WINDOW_COLUMNS}",
    "TABLE": f"in columns of the key: {_WINDOW_COLUMNS}, PRIMARY KEY (id, window_start, window_end)",
}
"""What keys with windows, as of ksqlDB, are here."""
