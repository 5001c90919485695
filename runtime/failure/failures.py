"""An exception out of Spark -> a coded finding in words of the query, never a stack trace.

Spark wraps the fact in layers (query failed, job aborted, task failed, file not read); each has a condition name and
parameters. The innermost one that the table below knows tells what happened.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from penstock.codegen.program import Printed
from penstock.codegen.spark_versions import SLOT_CHECK_SETTING
from penstock.diagnostics.codes.running import R004, R006, R015, R022, R040, R046, R047, R055, R081, R083, R099
from penstock.diagnostics.diagnostic import Diagnostic
from penstock.diagnostics.source import Span
from penstock.kit.databases.faults import TABLE_ERROR
from penstock.runtime.failure.errors import BEGIN_ANEW, NO_KEY, RunError, explain_loss, explain_no_key, explain_unread
from penstock.runtime.failure.layers import Layer, list_layers
from penstock.runtime.failure.plain_lines import plain_line as _first_line
from penstock.runtime.failure.row_errors import java_error, row_error

SPARK_ERRORS = (PySparkException, Py4JError, ConnectionError)
"""What a call into Spark may raise; the last two also when its JVM is gone."""


def explain(error: BaseException, query: str, printed: Sequence[Printed] = (), span: Span | None = None) -> Diagnostic:
    """The finding for an error that `query` failed with. `printed` and `span`: where in the script it comes from."""
    if is_jvm_gone(error):
        hint = "it was killed, or had too little memory: --conf spark.driver.memory=4g"
        return R040.at(None, query=query).with_hint(hint)
    layers = list(list_layers(error))
    if is_disk_full(layers):
        return R055.at(None, query=query).with_hint("make room and start again")
    loss = find_loss(layers)
    if loss is not None:
        return explain_loss(query, loss)
    lost = _find_lost_watermark(layers)
    if lost is not None:
        hint = f"restore the checkpoint from a backup, or {BEGIN_ANEW}"
        return R046.at(None, query=query, reason=lost).with_hint(hint)
    finding = row_error(layers, query, printed, span)
    if finding is not None:
        return finding
    for number in reversed(range(len(layers))):
        rule = find_rule(layers[number].condition)
        if rule is not None:
            return rule(layers[number], layers[number + 1 :], query)
    finding = java_error(layers, query, printed, span)
    if finding is not None:
        return finding
    told = next((layer for layer in reversed(layers) if layer.condition not in ("", "STREAM_FAILED")), layers[-1])
    return R099.at(None, query=query, reason=_first_line(told.message) or told.condition)


def is_jvm_gone(error: BaseException) -> bool:
    """Whether an error out of Spark means that its JVM has ended."""
    if isinstance(error, Py4JNetworkError | ConnectionError):
        return True
    return type(error) is Py4JError and _has_jvm_ended()


def was_interrupted(error: BaseException) -> bool:
    """Whether a query was stopped while it read its watermark. Spark knows an interruption by its class alone."""
    lost = _find_lost_watermark(list_layers(error))
    return lost is not None and re.search(r"\bjava\.[a-z.]+\.\w*Interrupt\w*Exception\b", lost) is not None


@contextmanager
def jvm_may_be_gone() -> Iterator[None]:
    """Passes over errors that mean that the JVM has ended: it has stopped all queries."""
    try:
        yield
    except SPARK_ERRORS as error:
        if not is_jvm_gone(error):
            raise


def _has_jvm_ended() -> bool:
    """Whether the JVM that this process has started is gone. An error that says so may be faster than its end."""
    process: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return False
    try:
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        return False
    return True


@contextmanager
def spark_errors_told(query: str) -> Iterator[None]:
    """Raises RunError with a finding about the query in place of an error of Spark's."""
    try:
        yield
    except SPARK_ERRORS as error:
        raise RunError([explain(error, query)]) from None


def reason(error: BaseException) -> str:
    """What an exception out of Spark says, in one line."""
    return _first_line(next(list_layers(error)).message)


def is_disk_full(layers: Iterable[Layer]) -> bool:
    """Whether a disk, or what may be used of it, was full."""
    return any(re.search(r"No space left on device|Disk quota exceeded", layer.message) for layer in layers)


def find_loss(layers: Iterable[Layer]) -> str | None:
    """What is missing of a topic, None if the error is another one. A failed task leaves nothing but its text."""
    texts = [layer.message for layer in layers if re.search(r"KAFKA_DATA_LOSS|OffsetOutOfRange", layer.message)]
    reasons = [found[1] for text in texts if (found := re.search(r"Reason:\s*([^\n]+)", text))]
    return next(iter(reasons), _first_line(texts[-1])) if texts else None


def _find_lost_watermark(layers: Iterable[Layer]) -> str | None:
    """Why the clock of a query could not read the watermark, if that is the error."""
    found = (re.search(r"LookupError: (no watermark in [^\n]+)", layer.message) for layer in layers)
    return next((lost[1] for lost in found if lost), None)


def _unread(layer: Layer, causes: list[Layer], query: str) -> Diagnostic:
    reasons = [_first_line(cause.message) for cause in causes if cause.message]
    last = reasons[-1] if reasons else _first_line(layer.message)
    too_wide = re.fullmatch(r"Index (\d+) out of bounds for length \1", last)
    return R004.at(None, file=_file(layer)).because(
        f"a record has more than {too_wide[1]} fields" if too_wide else last
    )


def _misfit(layer: Layer, causes: list[Layer], query: str) -> Diagnostic:
    wanted = layer.parameters
    detail = "column {} is {} there and {} in the declaration".format(
        wanted.get("column", "?").strip("[]`"), wanted.get("actual", "?"), wanted.get("expected", "?")
    )
    return R006.at(None, file=_file(layer)).because(detail)


def _explain_raised(layer: Layer, causes: list[Layer], query: str) -> Diagnostic:
    """What a view raises: a file has another header than the first one, or a row of a table has no key."""
    told = layer.parameters.get("errorMessage", "")
    if told == NO_KEY:
        return explain_no_key(query)
    header = re.fullmatch(r"CSV header of (\S+) (.*)", told, re.DOTALL)
    if header is None:
        return R099.at(None, query=query, reason=_first_line(told or layer.message))
    finding = R006.at(None, file=unquote(header[1]).removeprefix("file://").removeprefix("file:"))
    return finding.because(f"its CSV header differs from the first file's: {_first_line(header[2])}")


def _rival(layer: Layer, causes: list[Layer], query: str) -> Diagnostic:
    return R015.at(None, query=query).because(_first_line(layer.message))


def _explain_few_slots(layer: Layer, causes: list[Layer], query: str) -> Diagnostic:
    """What a Spark says that others have started: other work has the slots at the moment."""
    told = layer.parameters
    finding = R083.at(None, query=query, needed=told.get("numTasks", "more"), found=told.get("numSlots", "fewer"))
    finding = finding.because("Spark counts the free slots when a batch begins.")
    return finding.with_hint(f"start Spark with --conf {SLOT_CHECK_SETTING}=false")


def find_raised(layer: Layer) -> str:
    """What a Python worker raised: the last line of its traceback."""
    return layer.parameters.get("traceback", "").strip().rpartition("\n")[2]


@dataclass(frozen=True, slots=True)
class UnreadTable:
    """What a worker raises if it cannot read a table of a database, as `join_batches` says."""

    view: str
    table: str
    message: str
    hint: str | None
    retries: int
    seconds_retrying: float


def find_unread(error: BaseException) -> UnreadTable | None:
    """The table that a worker could not read, if an error out of Spark says so."""
    found = (parse_unread(find_raised(layer)) for layer in list_layers(error) if layer.condition == "PYTHON_EXCEPTION")
    return next((each for each in found if each is not None), None)


def parse_unread(raised: str) -> UnreadTable | None:
    """The table that cannot be read, by the last line of a Python traceback; None for other errors."""
    begin = f"LookupError: {TABLE_ERROR}"
    return UnreadTable(**json.loads(raised.removeprefix(begin))) if raised.startswith(begin) else None


def _python(layer: Layer, causes: list[Layer], query: str) -> Diagnostic:
    """What a Python worker raised. The sums of OVER and of partial aggregates overflow there."""
    told = find_raised(layer)
    if told.startswith("OverflowError: "):
        return R022.at(None, query=query).because("in a sum").with_hint("SUM(CAST(x AS DECIMAL(28, 0)))")
    if told.startswith("LookupError: schema registry "):
        return R081.at(None, name=query, reason=_first_line(told.removeprefix("LookupError: schema registry ")))
    unread = parse_unread(told)
    if unread is not None:
        return explain_unread(unread.table, unread.message, unread.hint)
    return R099.at(None, query=query, reason=_first_line(told or layer.message))


def _explain_worker(layer: Layer, causes: list[Layer], query: str) -> Diagnostic:
    """The Python that reads an input for Spark cannot be started."""
    told = layer.parameters.get("msg") or layer.parameters.get("resFromPython") or layer.message
    return R047.at(None, python="Python", host="a worker", reason=_first_line(told))


_Rule: TypeAlias = Callable[[Layer, list[Layer], str], Diagnostic]
_RULES: tuple[tuple[str, _Rule], ...] = (
    (r"FAILED_READ_FILE\.PARQUET_COLUMN_DATA_TYPE_MISMATCH", _misfit),
    (r"FAILED_READ_FILE|PATH_NOT_FOUND", _unread),
    (r"PYTHON_EXCEPTION", _python),
    (r"USER_RAISED_EXCEPTION", _explain_raised),
    (r"CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT", _explain_few_slots),
    (r"CONCURRENT_STREAM_LOG_UPDATE|CONCURRENT_QUERY|STATE_STORE_INVALID_STAMP|\w*STATE_STORE\w*\.?\w*LOCK", _rival),
    (r"STREAMING_PYTHON_RUNNER_INITIALIZATION", _explain_worker),
)


def find_rule(condition: str) -> _Rule | None:
    """What explains an error of Spark's with this name."""
    return next((rule for conditions, rule in _RULES if re.match(conditions, condition)), None)


def _file(layer: Layer) -> str:
    return unquote(layer.parameters.get("path", "?")).removeprefix("file://")
