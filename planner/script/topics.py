"""Options of topics as ksqlDB writes them -> those to write here."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.diagnostics import Diagnostic
from penstock.parser import ast

_FORMATS = {"json": "json", "json_sr": "json", "delimited": "csv"}
_OPTIONS = frozenset(
    {"kafka_topic", "value_format", "key_format", "partitions", "replicas", "timestamp", "timestamp_format"}
    | {"value_delimiter", "key_delimiter", "wrap_single_value", "window_type", "window_size", "retention_ms"}
    | {"value_schema_id", "key_schema_id", "value_schema_full_name", "key_schema_full_name", "cleanup_policy"}
)
_BROKERS = "localhost:9092"


def explain_topic(
    found: Diagnostic, given: Mapping[str, ast.Option], name: str, kind: str, keys: int | None
) -> Diagnostic | None:
    """The finding that a relation has no connector, with that of the topic that its options name.

    None if they are no options of ksqlDB. `keys`: how many key columns it declares, None if a query makes its rows.
    """
    if not _OPTIONS & given.keys():
        return None
    texts = {each: str(option.value.name) for each, option in given.items()}
    form = (texts.get("value_format") or texts.get("format") or "json").lower()
    options = {
        "connector": "kafka",
        "topic": texts.get("kafka_topic") or name,
        "bootstrap_servers": _BROKERS,
        "format": _FORMATS.get(form, "json"),
    }
    if keys or kind == "TABLE":
        is_json = (keys or 0) > 1 or texts.get("key_format", texts.get("format", "")).lower() in ("json", "json_sr")
        options["key_format"] = "json" if is_json else "text"
    written = ", ".join(f"{each} = '{value.replace(chr(39), chr(39) * 2)}'" for each, value in options.items())
    return found.because(" ".join(_notes(texts, form, kind, keys))).with_hint(f"WITH ({written})")


def _notes(texts: Mapping[str, str], form: str, kind: str, keys: int | None) -> list[str]:
    """What becomes of the other options, a sentence each."""
    notes = ["The brokers of a topic are named in the script."]
    if form not in _FORMATS:
        notes.append(f"Messages in {form.upper()} are not read: Penstock reads JSON and CSV.")
    if texts.get("value_delimiter", ",") != ",":
        notes.append("Values of CSV are separated by commas.")
    if keys and texts.get("key_format", texts.get("format", "kafka")).lower() == "kafka":
        notes.append("Numbers in keys are texts here, and bytes in the format KAFKA.")
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
