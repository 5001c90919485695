"""An exception out of Spark -> the layers that it is made of, from the outermost to the cause."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors.exceptions.captured import CapturedException


@dataclass(frozen=True, slots=True)
class Layer:
    """One exception of a chain of causes. `condition` is empty if the exception is not Spark's own.

    `kind` is the Java class. `sql` is the text that Spark was given. In it, Spark names the expression `fragment`,
    from the character `start` on. Both are empty where Spark does not know the place.
    """

    condition: str
    parameters: dict[str, str]
    fragment: str
    message: str
    kind: str = ""
    sql: str = ""
    start: int = 0


def list_layers(error: BaseException) -> Iterator[Layer]:
    """The exception, and then its causes."""
    thrown: Any = None
    if isinstance(error, Py4JJavaError):
        thrown = error.java_exception
    elif isinstance(error, CapturedException):
        thrown = error._origin or (error._cause and error._cause._origin)
    if thrown is None:
        yield Layer("", {}, "", f"{type(error).__name__}: {error}")
    gateway = SparkContext._gateway
    while thrown is not None:
        kind = str(thrown.getClass().getName())
        if gateway is not None and is_instance_of(gateway, thrown, "org.apache.spark.SparkThrowable"):
            places = [place for place in thrown.getQueryContext() if place.contextType().toString() == "SQL"]
            text = places[0].sqlText() if places else None
            sql = str(text.get()) if text is not None and text.isDefined() else ""
            start, stop = (places[0].startIndex(), places[0].stopIndex() + 1) if sql else (0, 0)
            yield Layer(
                thrown.getCondition() or "",
                dict(thrown.getMessageParameters() or {}),
                sql[start:stop],  # Spark's own fragment is shifted behind characters of two UTF-16 units
                thrown.getMessage() or "",
                kind,
                sql,
                start,
            )
        else:
            yield Layer("", {}, "", thrown.getMessage() or thrown.getClass().getSimpleName(), kind)
        thrown = thrown.getCause()
