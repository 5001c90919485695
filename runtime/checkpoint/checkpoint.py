"""A query and a folder -> a checkpoint that only this query, and only one process, can use.

`<folder>/<query name>/` holds Spark's own files and `penstock.json`: what the query was when its state was made. Spark
would go on with the state of another query and compute nonsense.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import ndiff
from typing import Any

from pyspark.sql import SparkSession

from penstock.codegen.fingerprint import leave_numbers_out
from penstock.codegen.folders import checkpoint_name
from penstock.codegen.program import AnyView, Input, PackedView, QueryOutput, RemoteView, SparkQuery, View
from penstock.codegen.spark_versions import number_text
from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R010, R011, R056
from penstock.runtime.checkpoint.lock import lock
from penstock.runtime.checkpoint.preflight import refuse_damaged
from penstock.runtime.checkpoint.sink_log import LogFiles
from penstock.runtime.checkpoint.spark_logs import read_required
from penstock.runtime.checkpoint.storage import Damaged, Storage, absolute
from penstock.runtime.failure.errors import BEGIN_ANEW, RunError
from penstock.runtime.spark.spark_version import installed_spark

DESCRIPTION = "penstock.json"
STARTING = "starting"
"""The folder that says where inputs begin which do not begin with their first record."""
_BEFORE = ("lock", DESCRIPTION, STARTING)
"""What a checkpoint holds until its query is started, which it is not if another one of the script is refused."""
_REMOVING = "removing"
"""A file that is there while a checkpoint is removed: what is left of it beside its description is worth nothing."""
_FIRST_SPARK = "4.3"
"""The Spark of checkpoints that do not say theirs."""
_SENT = {"append": "final", "update": "changes"}


@contextmanager
def checkpoint(
    spark: SparkSession, query: SparkQuery, folder: str | None, lose: Callable[[RunError], None]
) -> Iterator[str]:
    """The query's checkpoint folder, locked; without `folder` a temporary one, which is removed at the end.

    `lose` is called in another thread if the lock is lost.

    Raises:
        RunError: the folder is in use, or damaged, or belongs to another query, or to something else.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="penstock-", ignore_cleanup_errors=True) as temporary:
            yield Storage(spark).qualify(temporary)
        return
    storage = Storage(spark)
    place = place_of(query.name, folder)
    with lock(spark, storage, f"{place}/lock", lose):
        _admit(storage, query, place)
        yield place


def place_of(query: str, folder: str) -> str:
    """The checkpoint folder of a query in the folder of all checkpoints."""
    return f"{absolute(folder)}/{checkpoint_name(query)}"


def is_begun(storage: LogFiles, place: str) -> bool:
    """Whether the folder holds anything that the start of a query would not be free to overwrite."""
    return any(name not in _BEFORE and not name.startswith(".") for name in storage.names(place))


def check_is_checkpoint(storage: LogFiles, place: str) -> None:
    """Raises RunError if the folder is something else, or its description is lost."""
    names = storage.names(place)
    if DESCRIPTION in names:
        return
    if "offsets" in names:
        hint = f"restore it from a backup; without one, remove {place} and the folder that the query writes to"
        raise refuse_damaged(Damaged(f"{place}/{DESCRIPTION}", "it is missing"), hint)
    raise RunError([R011.at(None, path=place).because("it holds files, but not a checkpoint's files")])


def remove(storage: Storage, places: Iterable[str]) -> None:
    """Removes checkpoints, all or none: what an interruption leaves of them, the next start removes."""
    places = list(places)
    for place in places:
        storage.create(f"{place}/{_REMOVING}", "")
    for place in places:
        _empty(storage, place)
        storage.delete(place)


def _empty(storage: Storage, place: str) -> None:
    """Leaves a checkpoint that is not begun."""
    for name in storage.names(place):
        if name not in (*_BEFORE, _REMOVING):
            storage.delete(f"{place}/{name}")
    storage.delete(f"{place}/{_REMOVING}")


def _admit(storage: Storage, query: SparkQuery, place: str) -> None:
    """Writes what the query is into a new checkpoint, and compares it with what an old one was made for."""
    present, description = describe_query(query), f"{place}/{DESCRIPTION}"
    if {DESCRIPTION, _REMOVING} <= set(storage.names(place)):
        _empty(storage, place)
    if not is_begun(storage, place):
        storage.folder(place)
        storage.delete(description)
        storage.delete(f"{place}/{STARTING}")
        storage.publish(description, json.dumps(present, indent=1) + "\n")
        return
    finding = find_mismatch(storage, query, place)
    if finding is not None:
        raise RunError([finding])


def find_mismatch(storage: LogFiles, query: SparkQuery, place: str) -> Diagnostic | None:
    """Why the checkpoint in a folder does not fit the query. None if it does, or has not begun.

    Raises:
        RunError: the folder is something else, or damaged.
    """
    if {DESCRIPTION, _REMOVING} <= set(storage.names(place)) or not is_begun(storage, place):
        return None
    check_is_checkpoint(storage, place)
    return refusal(description_in(storage, place), describe_query(query), place)


def description_in(storage: LogFiles, place: str) -> dict[str, Any]:
    """What a checkpoint says of the query that it was made for.

    Raises:
        RunError: the description is damaged.
    """
    path = f"{place}/{DESCRIPTION}"
    try:
        description: dict[str, Any] = json.loads(read_required(storage, path))
    except Damaged as damage:
        raise refuse_damaged(damage) from None
    except ValueError:
        raise refuse_damaged(Damaged(path, "it is not JSON")) from None
    match description:
        case {"fingerprint": str(), "views": dict(), "output": str()} if description.get("mode", "append") in _SENT:
            return description
    raise refuse_damaged(Damaged(path, "it does not describe a query"))


def describe_query(query: SparkQuery) -> dict[str, Any]:
    """What is kept of a query in its checkpoint."""
    return {
        "fingerprint": query.fingerprint,
        "inputs": [_input_text(source) for source in query.inputs],
        "views": {view.name: _text(view) for view in query.views},
        "contract_views": list(query.contract_views),
        "output": _output_text(query.output),
        "mode": query.mode,
        "partitions": query.partitions,
        "store": query.store and query.store.value,
        "spark": number_text(installed_spark()),
    }


def refusal(past: dict[str, Any], present: dict[str, Any], place: str) -> Diagnostic | None:
    """Why a checkpoint that was made for the query `past` does not fit the query `present`; None if it does."""
    before = past.get("spark", _FIRST_SPARK)
    if before != present["spark"]:
        hint = f"pip install 'pyspark=={before}.*', or {BEGIN_ANEW}"
        return R056.at(None, before=before, spark=present["spark"], path=place).with_hint(hint)
    if past["fingerprint"] == present["fingerprint"]:
        return None
    hint = f"undo the change, or {BEGIN_ANEW}"
    if _other(past, present, "partitions") and None not in (past["partitions"], present["partitions"]):
        hint += "; EXPLAIN PARTITIONS says what gives a join its number, of other operators it is SET state_partitions"
    return R010.at(None, path=place).because(f"changed since it was made: {_changes(past, present)}").with_hint(hint)


def _input_text(source: Input) -> str:
    columns = ", ".join(f"{name} {type_}" for name, type_ in source.columns)
    place = "".join(f" {value}" for _, value in source.identity)
    return f"{source.name}: {source.connector}{place} ({columns})"


def _output_text(output: QueryOutput) -> str:
    if not output.holds_rows:
        return output.connector
    columns = ", ".join(f"{name} {type_}" for name, type_ in output.columns)
    place = "".join(f" {value}" for _, value in output.identity)
    return f"{output.connector}{place} ({columns})"


def _text(view: AnyView) -> str:
    if isinstance(view, PackedView):
        return f"tables cut every {view.length} us from {', '.join(map(str, view.cuts))}"
    if isinstance(view, RemoteView):
        return f"rows of {view.table} by {', '.join(column for column, _ in view.key)}"
    sql = leave_numbers_out(view.sql)
    mark = view.watermark if isinstance(view, View) else None
    return sql if mark is None else f"{sql} WATERMARK {mark.column} {mark.delay} ms"


def _changes(past: dict[str, Any], present: dict[str, Any]) -> str:
    differences = []
    if _other(past, present, "inputs"):
        differences.append(f"it read {' and '.join(past['inputs'])}, and would read {' and '.join(present['inputs'])}")
    if past["output"] != present["output"]:
        differences.append(f"output was {past['output']} and is {present['output']}")
    if _other(past, present, "mode"):
        differences.append(f"its rows were {_SENT[past['mode']]} and would be {_SENT[present['mode']]}")
    kept, keeps = past.get("store", present["store"]), present["store"]
    if (kept is None) != (keeps is None):
        differences.append(
            "it kept no state and would keep some" if kept is None else "it kept state and would keep none"
        )
    else:
        if kept != keeps:
            differences.append(f"its state was in {kept} and would be in {keeps}")
        if _other(past, present, "partitions"):
            differences.append(f"its state had {past['partitions']} partitions and would have {present['partitions']}")
    contract = {*past.get("contract_views", past["views"]), *present["contract_views"]}
    views = _diff_views(past["views"], present["views"])
    told = [text for name, text in views.items() if name in contract] or ([] if differences else [*views.values()])
    return "\n".join([*(["; ".join(differences)] if differences else []), *told]) or "how its inputs are read"


def _diff_views(before: dict[str, str], now: dict[str, str]) -> dict[str, str]:
    """The lines that are gone or have come, by view."""
    diffs = {}
    for name in dict.fromkeys((*before, *now)):
        texts = (before.get(name, "").splitlines(), now.get(name, "").splitlines())
        lines = [line for line in ndiff(*texts) if line[0] in "-+"]
        if lines:
            diffs[name] = "\n".join([name, *lines])
    return diffs


def _other(past: dict[str, Any], present: dict[str, Any], fact: str) -> bool:
    """Checkpoints of earlier versions do not say all of this."""
    return bool(past.get(fact, present[fact]) != present[fact])
