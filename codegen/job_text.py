"""Program -> the texts of a job: calls that say what is read, computed and written, and the SQL of its views."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import msgspec

from penstock.codegen.job_facts import (
    ARCHIVE,
    PACKAGE,
    TEXTS,
    QueryFacts,
    digest_query,
    digest_records,
    name_parsing,
    name_text,
)
from penstock.codegen.job_layout import write_call, write_text, write_value
from penstock.codegen.job_readme import write_readme
from penstock.codegen.program import AnyView, Input, Program, Rejects, SparkQuery, View
from penstock.codegen.spark_versions import number_text

_HEAD = '''"""Streaming queries, written by Penstock. README.md says how to run them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("{archive}")))

from {package}.job import {names}

job = SparkJob(__file__, {facts})
'''
_METHODS = {
    "PackedView": "packed_view",
    "PartialView": "partial_view",
    "PaneView": "pane_view",
    "BucketView": "bucket_view",
    "LookupView": "lookup_view",
    "MultisetView": "multiset_view",
    "SessionView": "session_view",
    "RemoteView": "remote_view",
}


def write_job(program: Program) -> dict[str, str]:
    """The files of a job by their paths in its folder, all but the archive. `job.py` comes first."""
    files: dict[str, str] = {}
    parts = [_write_query(query, files) for query in program.queries]
    names = "SecretOption, SparkJob" if any("SecretOption(" in part for part in parts) else "SparkJob"
    versions = [number_text(number) for number, lacking in program.newer if not lacking]
    facts = f"state_partitions={program.state_partitions}, spark={write_value(versions)}"
    head = _HEAD.format(archive=ARCHIVE, package=PACKAGE, names=names, facts=facts)
    text = "\n".join([head, *parts, 'if __name__ == "__main__":\n    job.main()\n'])
    return {"job.py": text, "README.md": write_readme(program), **files}


def _write_query(query: SparkQuery, files: dict[str, str]) -> str:
    """The calls for a query. Its texts are added to the files."""
    folder = f"sql/{query.name}"
    calls = [
        write_call(
            f"{_variable(query)} = job.query", [write_text(query.name), write_text(query.mode)], **_list_facts(query)
        )
    ]
    calls += [_write_source(each, query, folder, files) for each in query.inputs]
    calls += [_write_view(each, query, folder, files) for each in query.views]
    calls += [_write_rejects(each, query, folder, files) for each in query.rejects]
    calls.append(_write_sink(query))
    facts = QueryFacts(
        query.fingerprint,
        query.contract_views,
        query.watermark_inputs,
        query.closing,
        query.change,
        query.message_items,
        query.output.avro,
        tuple(each.columns for each in query.rejects),
        digest_query(query),
        (
            *((name_parsing(each.view), digest_records(each, each.parsing)) for each in query.inputs),
            *(
                (name_parsing(each.input.view, rejected=True), digest_records(each.input, each.input.parsing))
                for each in query.rejects
            ),
        ),
    )
    files[f"{folder}/query.json"] = _write_json(facts)
    return "\n".join(calls) + "\n"


def _variable(query: SparkQuery) -> str:
    # A suffix, because a query may be called `job` or `import`.
    return f"{query.name}_query"


def _list_facts(query: SparkQuery) -> dict[str, Any]:
    names = ("timed", "key", "interval", "takes_heartbeats", "partitions", "operation", "checked", "numbered")
    facts = _list_set(query, (*names, "rejects_beside", "real_time"))
    return facts if query.store is None else {**facts, "store": query.store.value}


def _list_set(part: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields of these names that have other values than by default. Empty tuples and False are such values."""
    plain = {each.name: each.default for each in fields(part)}
    found = {name: getattr(part, name) for name in names}
    return {
        name: value
        for name, value in found.items()
        if value != plain[name] and not (plain[name] is MISSING and value in ((), False))
    }


def _write_source(source: Input, query: SparkQuery, folder: str, files: dict[str, str]) -> str:
    if source.parsing is not None:
        files[f"{folder}/{name_parsing(source.view)}"] = _write_json(source.parsing)
    first = [write_text(source.view), write_text(source.name), write_text(source.connector)]
    return write_call(
        f"{_variable(query)}.source",
        [*first, write_value(dict(source.options)), write_value(dict(source.columns))],
        **_list_set(source, _FLAGS),
    )


_FLAGS = (*("ordered", "metadata", "key", "tombstones", "newest_by_place", "partitions", "explained"),)


def _write_view(view: AnyView, query: SparkQuery, folder: str, files: dict[str, str]) -> str:
    for field in TEXTS:
        text = getattr(view, field, None)
        if text is not None:
            files[f"{folder}/{name_text(view.name, field)}"] = f"{text}\n"
    if isinstance(view, View):
        keywords: dict[str, Any] = {}
        if view.watermark is not None:
            keywords["watermark"] = (view.watermark.column, view.watermark.delay)
        if view.metrics:
            keywords["counts"] = {each.name: each.sql for each in view.metrics}
        return write_call(f"{_variable(query)}.view", [write_text(view.name)], **keywords)
    named = [each for each in fields(view) if each.name not in ("name", *TEXTS) and each.compare]
    keywords = {each.name: getattr(view, each.name) for each in named if getattr(view, each.name) != each.default}
    for name in ("picked", "options"):
        if name in keywords:
            keywords[name] = dict(keywords[name])
    return write_call(f"{_variable(query)}.{_METHODS[type(view).__name__]}", [write_text(view.name)], **keywords)


def _write_rejects(rejects: Rejects, query: SparkQuery, folder: str, files: dict[str, str]) -> str:
    """The input of rejected rows is an input of the query, but for some facts."""
    like = next(each for each in query.inputs if each.view == rejects.input.view)
    other = {
        name: getattr(rejects.input, name)
        for name in (*_FLAGS, "options", "columns")
        if getattr(rejects.input, name) != getattr(like, name)
    }
    for name in ("options", "columns"):
        if name in other:
            other[name] = dict(other[name])
    if rejects.input.parsing is not None:
        files[f"{folder}/{name_parsing(rejects.input.view, rejected=True)}"] = _write_json(rejects.input.parsing)
    for each in rejects.views:
        files[f"{folder}/rejected/{name_text(each.name, 'sql')}"] = f"{each.sql}\n"
        assert each.watermark is None, "rejected rows are read without a watermark"
    first = [write_text(rejects.input.view), write_value([each.name for each in rejects.views])]
    return write_call(f"{_variable(query)}.rejected", first, **other)


def _write_sink(query: SparkQuery) -> str:
    output = query.output
    first = [write_text(query.result), write_text(output.name), write_text(output.connector)]
    return write_call(
        f"{_variable(query)}.sink",
        [*first, write_value(dict(output.options)), write_value(dict(output.columns))],
        **_list_set(output, ("partitions", "key", "time", "is_table", "is_written_by_spark")),
    )


def _write_json(facts: object) -> str:
    return msgspec.json.format(msgspec.json.encode(facts), indent=1).decode() + "\n"
