"""Queries and a version of Spark -> the functions in them, and the triggers, that this version does not have.

Functions are looked for in the texts that Spark is given: a script may ask for one by another name, or by an operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from penstock.codegen.program import AnyView, Printed, Program, Read, View
from penstock.codegen.spark_versions import REAL_TIME_SINCE, SPARK_VERSIONS, Number, number_text
from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R009
from penstock.diagnostics.source import Span
from penstock.planner.functions import Function, find_function

# Literals and quoted names are skipped.
_CALL = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`|\b(?P<name>\w+)\(""", re.DOTALL)


def find_newer_functions(program: Program, spark: Number) -> Iterator[Diagnostic]:
    """What a script cannot run with on this version of Spark: a finding for each function of each query."""
    for query in program.queries:
        if query.real_time is not None and spark < REAL_TIME_SINCE:
            yield _make_finding("SET trigger = 'realtime'", query.name, query.span, REAL_TIME_SINCE, spark)
        views = [*query.views, *(view for rejects in query.rejects for view in rejects.views)]
        yield from _find(query.name, views, query.printed, query.span, spark)


def find_newer_in_read(read: Read, spark: Number) -> Iterator[Diagnostic]:
    """The same of a SELECT over what is there now."""
    return _find("the read", read.views, read.printed, None, spark)


def list_versions_for(program: Program) -> list[Number]:
    """The versions of Spark that have all functions of a script, in ascending order."""
    return [number for number in SPARK_VERSIONS if not any(find_newer_functions(program, number))]


def _find(
    query: str, views: Iterable[AnyView], printed: Sequence[Printed], span: Span | None, spark: Number
) -> Iterator[Diagnostic]:
    places = sorted((place for text in printed for place in text.places), key=lambda place: place.since is None)
    dated = {name: function.since for name, function in _list_calls(views).items()}
    dated |= {place.name: place.since for place in places if place.since is not None}
    for name, first in dated.items():
        if first is not None and first > spark:
            place = next((each.span for each in places if each.name == name), span)
            yield _make_finding(name, query, place, first, spark)


def _make_finding(what: str, query: str, span: Span | None, first: Number, spark: Number) -> Diagnostic:
    since = number_text(first)
    finding = R009.at(span, function=what, query=query, since=since, spark=number_text(spark))
    return finding.with_hint(f"pip install 'pyspark>={since}', and the same Spark on a cluster; or leave it out")


def _list_calls(views: Iterable[AnyView]) -> dict[str, Function]:
    """The functions that views call, by the names that Spark is given."""
    texts = [
        text for view in views if isinstance(view, View) for text in (view.sql, *(each.sql for each in view.metrics))
    ]
    names = {call["name"].upper() for text in texts for call in _CALL.finditer(text) if call["name"]}
    return {name: function for name in sorted(names) if (function := find_function(name)) is not None}
