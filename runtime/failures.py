"""An exception out of Spark -> a coded finding in words of the query, never a stack trace.

Spark wraps the fact in layers (query failed, job aborted, task failed, file not read); each has a condition name and
parameters. The innermost one that the table below knows tells what happened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import CapturedException

from penstock.diagnostics.codes.running import R004, R006, R015, R020, R021, R022, R099
from penstock.diagnostics.diagnostic import Diagnostic

SPARK_ERRORS = (PySparkException, Py4JError, ConnectionError)
"""What a call into Spark may raise; the last two also when its JVM is gone."""

_LINE = 300  # characters of a message that are worth reading


@dataclass(frozen=True, slots=True)
class _Layer:
    """One exception of a chain of causes. `condition` is empty for those that are not Spark's own."""

    condition: str
    parameters: dict[str, str]
    fragment: str
    message: str


def explain(error: BaseException, query: str) -> Diagnostic:
    """The finding for an error that `query` failed with."""
    if isinstance(error, Py4JNetworkError | ConnectionError):
        return R099.at(None, query=query, reason="its JVM has ended: killed, or out of memory")
    layers = list(_layers(error))
    for number in reversed(range(len(layers))):
        for conditions, rule in _RULES:
            if re.match(conditions, layers[number].condition):
                return rule(layers[number], layers[number + 1 :], query)
    told = next((layer for layer in reversed(layers) if layer.condition not in ("", "STREAM_FAILED")), layers[-1])
    return R099.at(None, query=query, reason=_first_line(told.message) or told.condition)


def _layers(error: BaseException) -> Iterator[_Layer]:
    thrown: Any = None
    if isinstance(error, Py4JJavaError):
        thrown = error.java_exception
    elif isinstance(error, CapturedException):
        thrown = error._origin or (error._cause and error._cause._origin)
    if thrown is None:
        yield _Layer("", {}, "", f"{type(error).__name__}: {error}")
    gateway = SparkContext._gateway
    while thrown is not None:
        if gateway is not None and is_instance_of(gateway, thrown, "org.apache.spark.SparkThrowable"):
            context = [place for place in thrown.getQueryContext() if place.contextType().toString() == "SQL"]
            yield _Layer(
                thrown.getCondition() or "",
                dict(thrown.getMessageParameters() or {}),
                context[0].fragment() if context else "",
                thrown.getMessage() or "",
            )
        else:
            yield _Layer("", {}, "", thrown.getMessage() or thrown.getClass().getSimpleName())
        thrown = thrown.getCause()


def _division(layer: _Layer, causes: list[_Layer], query: str) -> Diagnostic:
    hint = "a / NULLIF(b, 0) gives NULL instead"
    return _placed(R020.at(None, query=query), layer).with_hint(hint)


def _cast(layer: _Layer, causes: list[_Layer], query: str) -> Diagnostic:
    value, type_ = layer.parameters.get("expression", "a value"), layer.parameters.get("targetType", "its type")
    finding = R021.at(None, value=value, type=type_.strip('"'), query=query)
    return _placed(finding, layer).with_hint("TRY_CAST(x AS type) gives NULL instead")


def _overflow(layer: _Layer, causes: list[_Layer], query: str) -> Diagnostic:
    return _placed(R022.at(None, query=query), layer).with_hint("compute with a wider type: CAST(x AS BIGINT)")


def _unread(layer: _Layer, causes: list[_Layer], query: str) -> Diagnostic:
    reasons = [_first_line(cause.message) for cause in causes if cause.message]
    finding = R006 if any("CSV header" in reason for reason in reasons) else R004
    return finding.at(None, file=_file(layer)).because(reasons[-1] if reasons else _first_line(layer.message))


def _misfit(layer: _Layer, causes: list[_Layer], query: str) -> Diagnostic:
    wanted = layer.parameters
    detail = "column {} is {} there and {} in the declaration".format(
        wanted.get("column", "?").strip("[]`"), wanted.get("actual", "?"), wanted.get("expected", "?")
    )
    return R006.at(None, file=_file(layer)).because(detail)


def _rival(layer: _Layer, causes: list[_Layer], query: str) -> Diagnostic:
    return R015.at(None, query=query).because(_first_line(layer.message))


def _python(layer: _Layer, causes: list[_Layer], query: str) -> Diagnostic:
    """What a Python worker raised: its last line. The sums of OVER overflow there."""
    told = layer.parameters.get("traceback", "").strip().rpartition("\n")[2]
    if told.startswith("OverflowError: "):
        return R022.at(None, query=query).because("in a sum over a frame").with_hint("SUM(CAST(x AS DECIMAL(28, 0)))")
    return R099.at(None, query=query, reason=_first_line(told or layer.message))


_RULES: tuple[tuple[str, Callable[[_Layer, list[_Layer], str], Diagnostic]], ...] = (
    (r"DIVIDE_BY_ZERO|REMAINDER_BY_ZERO|INTERVAL_DIVIDED_BY_ZERO", _division),
    (r"CAST_INVALID_INPUT|CANNOT_PARSE_TIMESTAMP|INVALID_DATETIME|DATETIME_FIELD_OUT_OF_BOUNDS", _cast),
    (r"\w*ARITHMETIC_OVERFLOW|CAST_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE", _overflow),
    (r"FAILED_READ_FILE\.PARQUET_COLUMN_DATA_TYPE_MISMATCH", _misfit),
    (r"FAILED_READ_FILE|PATH_NOT_FOUND", _unread),
    (r"PYTHON_EXCEPTION", _python),
    (r"CONCURRENT_STREAM_LOG_UPDATE|CONCURRENT_QUERY|\w*STATE_STORE\w*\.?\w*LOCK", _rival),
)


def _placed(finding: Diagnostic, layer: _Layer) -> Diagnostic:
    fragment = re.sub(r"\s*\n\s*", " ", layer.fragment)
    return finding.because(f"in {fragment}") if fragment else finding


def _file(layer: _Layer) -> str:
    return unquote(layer.parameters.get("path", "?")).removeprefix("file://")


def _first_line(message: str) -> str:
    line = message.strip().split("\n", 1)[0].partition(" SQLSTATE")[0]
    return line if len(line) <= _LINE else line[:_LINE] + "…"
