"""A script's statements, in order -> its queries, answers and the catalog after it.

A refused statement does not stop the next one from being checked; all findings are raised together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from penstock.diagnostics import CompileError, Diagnostic, nearest
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.kinds import K011, K012, K013, K015
from penstock.parser import ast, ast_text
from penstock.planner.catalog import Broken, Catalog, Derived, Kind
from penstock.planner.lower.context import Context, UsesBroken
from penstock.planner.lower.create import lower_create
from penstock.planner.lower.look import lower_describe, lower_show
from penstock.planner.lower.options import Settings, lower_set
from penstock.planner.lower.query import lower_query
from penstock.planner.lower.write import (
    lower_create_as,
    lower_insert,
    require_stream_word,
    running_query,
)
from penstock.planner.plan import Answer, Emission, Explained, KStream, RunningQuery, Scan, Sink
from penstock.planner.plan.walk import walk


@dataclass(frozen=True, slots=True)
class PlannedScript:
    """What the statements of a script come to."""

    queries: tuple[RunningQuery, ...]
    answers: tuple[Answer, ...]
    catalog: Catalog
    settings: Settings
    warnings: tuple[Diagnostic, ...]


@dataclass(slots=True)
class Script:
    """The state between statements."""

    catalog: Catalog
    settings: Settings = field(default_factory=Settings)
    queries: list[RunningQuery] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    report: list[Diagnostic] = field(default_factory=list)


def plan(statements: Sequence[ast.Statement], catalog: Catalog | None = None) -> PlannedScript:
    """Plans a script over what the catalog knows already; raises CompileError with the findings of all statements."""
    script = Script(catalog or Catalog())
    for statement in statements:
        try:
            lower_statement(statement, script)
        except CompileError as error:
            script.report.extend(error.diagnostics)
            leave_broken(statement, script)
        except UsesBroken:
            leave_broken(statement, script)
    if script.report:
        raise CompileError([*script.report, *script.warnings])
    return PlannedScript(
        asked_for(script.queries), tuple(script.answers), script.catalog, script.settings, tuple(script.warnings)
    )


def asked_for(queries: list[RunningQuery]) -> tuple[RunningQuery, ...]:
    """The queries without those of a stream that nobody named a place for and that others read: it runs inside them."""

    def is_read(query: RunningQuery) -> bool:
        others = (other for other in queries if other is not query)
        return any(node is query.root for other in others for node in walk(other.root))

    return tuple(
        query
        for query in queries
        if not (
            query.sink == Sink(query.sink.name, "memory", ()) and query.emission is Emission.FINAL and is_read(query)
        )
    )


def leave_broken(statement: ast.Statement, script: Script) -> None:
    """Remembers the name that a refused statement would have made, so that its users are not refused for it."""
    match statement:
        case ast.Create() | ast.CreateAs() | ast.CreateView():
            kind: Kind = "VIEW" if isinstance(statement, ast.CreateView) else statement.kind.value
            if script.catalog.find(statement.name.text) is None:
                script.catalog = script.catalog.with_(Broken(kind, statement.name.text, statement.name.span))


def lower_statement(statement: ast.Statement, script: Script) -> None:
    """Adds what one statement asks for to the script; raises CompileError or UsesBroken."""
    context = Context(script.catalog, statement.span, lower_query, warnings=script.warnings)
    match statement:
        case ast.Create():
            if is_new(statement, script):
                script.catalog = script.catalog.with_(lower_create(statement))
        case ast.CreateAs():
            if is_new(statement, script):
                derived, sink = lower_create_as(statement, context)
                target = sink or Sink(derived.name, "memory", ())
                query = running_query(query_name(derived.name, script), derived.node, target, derived.span)
                script.catalog = script.catalog.with_(derived)
                script.queries.append(query)
        case ast.CreateView():
            if is_new(statement, script):
                node = lower_query(statement.query, context)
                script.catalog = script.catalog.with_(Derived("VIEW", statement.name.text, node, statement.name.span))
        case ast.Insert():
            script.queries.append(lower_insert(statement, query_name(statement.target.text, script), context))
        case ast.QueryStatement():
            root = lower_query(statement.query, context)
            if isinstance(root.shape, KStream):
                require_stream_word(statement.query)
            name = query_name("query", script)
            script.queries.append(running_query(name, root, Sink(name, "console", ()), statement.span))
        case ast.Explain():
            script.answers.append(lower_explain(statement, script))
        case ast.Show():
            script.answers.append(lower_show(statement, script.catalog, script.queries))
        case ast.Describe():
            script.answers.append(lower_describe(statement, script.catalog))
        case ast.SetOption():
            script.settings = lower_set(statement, script.settings)
        case ast.Drop():
            lower_drop(statement, script)
        case ast.Pause():
            raise CompileError([B002.at(statement.span, "", construct="PAUSE QUERY")])
        case ast.Resume():
            raise CompileError([B002.at(statement.span, "", construct="RESUME QUERY")])
        case ast.Delete():
            raise CompileError([B002.at(statement.span, "", construct="DELETE")])
        case ast.Update():
            raise CompileError([B002.at(statement.span, "", construct="UPDATE")])
        case _:
            assert_never(statement)


def query_name(wanted: str, script: Script) -> str:
    """A name that no query of the script has yet: `wanted`, or `wanted_2`, `wanted_3` …"""
    taken = {query.name.lower() for query in script.queries}
    name, number = wanted, 1
    while name.lower() in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def is_new(statement: ast.Create | ast.CreateAs | ast.CreateView, script: Script) -> bool:
    """Whether the statement makes something; raises CompileError where the name is taken."""
    entry = script.catalog.find(statement.name.text)
    if entry is None or statement.or_replace or isinstance(entry, Broken):
        return True
    if statement.if_not_exists:
        return False
    found = K011.at(statement.name.span, "", name=statement.name.text).also(entry.span, "made here")
    raise CompileError([found.with_hint("CREATE OR REPLACE … or CREATE … IF NOT EXISTS")])


def lower_explain(statement: ast.Explain, script: Script) -> Explained:
    """Plans the statement beside the script: nothing of it stays but the explanation."""
    stage = statement.stage.value if statement.stage else None
    if stage == "PARTITIONS":
        raise CompileError([B002.at(statement.span, "", construct="EXPLAIN PARTITIONS")])
    beside = replace(script, queries=list(script.queries), answers=[], report=[])
    before = len(beside.queries)
    lower_statement(statement.statement, beside)
    return Explained(stage, ast_text(statement.statement), tuple(beside.queries[before:]))


def lower_drop(statement: ast.Drop, script: Script) -> None:
    """Forgets a relation that no query of the script reads or writes."""
    name = statement.name
    if statement.kind is ast.DropKind.QUERY:
        raise CompileError([B002.at(statement.span, "", construct="DROP QUERY")])
    entry = script.catalog.find(name.text)
    if entry is None:
        if statement.if_exists:
            return
        guess = nearest(name.text, script.catalog.names())
        raise CompileError([K012.at(name.span, "", name=name.text).with_hint(guess and f"did you mean {guess}?")])
    if entry.kind != statement.kind.value:
        wanted = statement.kind.value.lower()
        found = K013.at(name.span, "", name=name.text, found=entry.kind.lower(), wanted=wanted)
        raise CompileError([found.also(entry.span, "made here").with_hint(f"DROP {entry.kind} {name.text}")])
    for query in script.queries:
        scans = (node for node in walk(query.root) if isinstance(node, Scan))
        if name.folded in {query.name.lower(), query.sink.name.lower(), *(scan.origin.name.lower() for scan in scans)}:
            raise CompileError([K015.at(name.span, "", name=name.text, users=query.name).also(query.span, "used here")])
    script.catalog = script.catalog.without(name.text)
