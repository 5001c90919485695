"""A script's statements, in order -> its queries, answers and the catalog after it.

A refused statement does not stop the next one from being checked; all findings are raised together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import assert_never

import msgspec
from msgspec.structs import replace

from penstock.diagnostics import CompileError, Diagnostic, Source, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.connectors import C010
from penstock.diagnostics.codes.event_time import W005
from penstock.diagnostics.codes.kinds import K008, K011, K013, K015
from penstock.diagnostics.codes.server import V014
from penstock.parser import ast, ast_text, parse
from penstock.planner.catalog import Broken, Catalog, Derived, Kind, UsesBroken, explain_unknown
from penstock.planner.connectors import CONSOLE, MEMORY, connector_of
from penstock.planner.lower.context import Context
from penstock.planner.lower.query import lower_query
from penstock.planner.lower.select_items import name_columns
from penstock.planner.partitions.check_joins import check_partitions
from penstock.planner.partitions.text import partitions_text
from penstock.planner.passes.pipeline import complete_query, plan_query
from penstock.planner.plan import Answer, Explained, KStream, Node, RunningQuery, Scan, Settings, Sink, WindowAggregate
from penstock.planner.plan.walk import stateful, walk
from penstock.planner.reads.constant import reads_nothing
from penstock.planner.reads.select import lower_query as lower_read
from penstock.planner.script.caches import check_caches
from penstock.planner.script.change import lower_delete, lower_update
from penstock.planner.script.computed import apply_like
from penstock.planner.script.create import lower_create
from penstock.planner.script.create_as import lower_create_as, put_result, show_key
from penstock.planner.script.dialect_warnings.find_differences import Places, find_differences, find_emitting
from penstock.planner.script.dialect_warnings.find_swapped import find_swapped
from penstock.planner.script.feedback import find_feedback
from penstock.planner.script.find_casts import find_casts
from penstock.planner.script.find_growth import find_growth
from penstock.planner.script.find_never_true import find_never_true
from penstock.planner.script.insert import lower_insert
from penstock.planner.script.late import find_late, split_late
from penstock.planner.script.loops import check_loops
from penstock.planner.script.read_options import check_batch_mode, lower_set
from penstock.planner.script.show import lower_describe, lower_show, lower_show_create
from penstock.planner.script.stream_word import require_stream_word


class PlannedScript(msgspec.Struct, frozen=True):
    """What the statements of a script come to."""

    queries: tuple[RunningQuery, ...]
    answers: tuple[Answer, ...]
    catalog: Catalog
    settings: Settings
    warnings: tuple[Diagnostic, ...]


class ScriptState(msgspec.Struct):
    """The state between statements."""

    catalog: Catalog
    settings: Settings = msgspec.field(default_factory=Settings)
    queries: list[RunningQuery] = msgspec.field(default_factory=list)
    answers: list[Answer] = msgspec.field(default_factory=list)
    warnings: list[Diagnostic] = msgspec.field(default_factory=list)
    errors: list[Diagnostic] = msgspec.field(default_factory=list)
    unplaced: set[str] = msgspec.field(default_factory=set)  # queries of derived streams without a place to go to
    read: set[str] = msgspec.field(default_factory=set)  # derived streams that queries read
    named: dict[str, RunningQuery] = msgspec.field(default_factory=dict)  # the queries by their names, in lower case
    numbers: dict[str, int] = msgspec.field(default_factory=dict)  # the last number behind each wanted name
    placed: dict[tuple[str, str], RunningQuery] = msgspec.field(default_factory=dict)  # by where they append to

    def __post_init__(self) -> None:
        if not self.named:
            for query in self.all_queries:
                self.note(query)

    def note(self, query: RunningQuery) -> None:
        """Remembers the name of a query, and the place that it appends to."""
        self.named[query.name.lower()] = query
        connector = connector_of(query.sink.connector)
        place = None if connector.changes_rows else connector.place(query.sink.options)
        if place is not None:
            self.placed.setdefault((connector.name, place), query)

    def copy(self) -> ScriptState:
        """The same state for a statement beside the script. Nothing but its warnings stays."""
        return replace(
            self,
            queries=list(self.queries),
            answers=[],
            errors=[],
            unplaced=set(),
            read=set(),
            named=dict(self.named),
            numbers=dict(self.numbers),
            placed=dict(self.placed),
        )

    def leave_out(self, span: Span) -> None:
        """Takes away the queries of a statement that another one replaces."""
        self.queries = [query for query in self.queries if query.span != span]
        self.named, self.placed, self.numbers = {}, {}, {}
        for query in self.all_queries:
            self.note(query)

    @property
    def all_queries(self) -> list[RunningQuery]:
        """The queries that run already, and the queries of the script."""
        return [*self.catalog.running, *self.queries]


def plan_script(statements: Sequence[ast.Statement], catalog: Catalog | None = None) -> PlannedScript:
    """Plans a script over what the catalog knows already; raises CompileError with the findings of all statements."""
    script = ScriptState(catalog or Catalog())
    for statement in statements:
        try:
            lower_statement(statement, script)
        except CompileError as error:
            script.errors.extend(error.diagnostics)
            leave_broken(statement, script)
        except UsesBroken:
            leave_broken(statement, script)
    queries = infer_partitions(select_queries(script), statements, script)
    script.errors += check_caches(queries)
    script.errors += check_loops(queries, script.catalog.running)
    script.warnings += [keep_accepted(each, script) for each in find_feedback(queries, script.catalog.running)]
    emitting, known = find_emitting(statements), set(script.warnings)
    found = [each for query in queries for each in list_warnings(query, statements, emitting, script)]
    script.warnings += [each for each in dict.fromkeys(found) if each not in known]
    answers = [complete_answer(each, queries, statements, script) for each in script.answers]
    if script.errors:
        raise CompileError([*script.errors, *script.warnings])
    return PlannedScript(queries, tuple(answers), script.catalog, script.settings, tuple(script.warnings))


def list_warnings(
    query: RunningQuery, statements: Sequence[ast.Statement], emitting: Places, script: ScriptState
) -> Iterator[Diagnostic]:
    """What is said of an accepted query that may not be what was meant."""
    yield from find_casts(query)
    yield from find_swapped(query)
    yield from find_differences(query, emitting)
    yield from find_never_true(query)
    yield from (keep_accepted(each, script) for each in find_growth(query, statements))


def keep_accepted(found: Diagnostic, script: ScriptState) -> Diagnostic:
    """The finding without its fix where that is refused, or would be found fault with in the same way."""
    if found.fix is None:
        return found
    beside = ScriptState(script.catalog, script.settings)
    try:
        statements = parse(Source("<fix>", found.fix))
        for statement in statements:
            if isinstance(statement, ast.CreateAs | ast.CreateView):
                beside.catalog = beside.catalog.without(statement.name.text)
            lower_statement(statement, beside)
    except (CompileError, UsesBroken):
        return dataclasses.replace(found, fix=None)
    again = [*find_feedback(beside.queries, ()), *(each for q in beside.queries for each in find_growth(q, ()))]
    return dataclasses.replace(found, fix=None) if any(each.code == found.code for each in again) else found


def complete_answer(
    answer: Answer, beside: tuple[RunningQuery, ...], statements: Sequence[ast.Statement], script: ScriptState
) -> Answer:
    """The answer. A statement is answered as one that runs beside the queries of the script."""
    if not isinstance(answer, Explained):
        return answer
    both = infer_partitions((*beside, *answer.queries), statements, script)
    beside, queries = both[: len(beside)], both[len(beside) :]
    text = partitions_text(queries, script.settings, script.catalog, beside) if answer.stage == "PARTITIONS" else ""
    return replace(answer, queries=queries, settings=script.settings, partitions=text)


def infer_partitions(
    queries: tuple[RunningQuery, ...], statements: Sequence[ast.Statement], script: ScriptState
) -> tuple[RunningQuery, ...]:
    """The queries with the partitions of their joins; reports where these cannot be."""
    queries = tuple(each for query in queries for each in complete_or_refuse(query, script))
    result = check_partitions(queries, script.settings, script.catalog, statements)
    for found in result.findings:
        told = script.errors if found.severity == "error" else script.warnings
        if found not in told:
            told.append(found)
    return result.queries


def complete_or_refuse(query: RunningQuery, script: ScriptState) -> Iterator[RunningQuery]:
    """The query as the settings want it; none, and a finding, where it cannot be so."""
    try:
        yield complete_query(query, script.settings)
    except CompileError as refusal:
        script.errors.extend(each for each in refusal.diagnostics if each not in script.errors)


def select_queries(script: ScriptState) -> tuple[RunningQuery, ...]:
    """Leaves out queries of a stream without a place of its own that other queries read. It runs inside its readers."""
    return tuple(q for q in script.queries if not (q.name in script.unplaced and q.sink.name.lower() in script.read))


def leave_broken(statement: ast.Statement, script: ScriptState) -> None:
    """Remembers the name that a refused statement would have made, so that its users are not refused for it."""
    match statement:
        case ast.Create() | ast.CreateAs() | ast.CreateView():
            kind: Kind = "VIEW" if isinstance(statement, ast.CreateView) else statement.kind.value
            if script.catalog.find(statement.name.text) is None:
                script.catalog = script.catalog.with_(Broken(kind, statement.name.text, statement.name.span))


def lower_statement(statement: ast.Statement, script: ScriptState) -> None:
    """Adds what one statement asks for to the script; raises CompileError or UsesBroken."""
    late = None
    if isinstance(statement, ast.Insert | ast.CreateAs | ast.QueryStatement):
        late = find_late(statement.query)
    context = Context(script.catalog, statement.span, warnings=script.warnings, late=late)
    match statement:
        case ast.Create():
            if is_new(statement, script):
                script.catalog = script.catalog.with_(lower_create(apply_like(statement, script.catalog)))
        case ast.CreateAs():
            if is_new(statement, script):
                derived = lower_create_as(statement, context)
                is_placed = derived.sink is not None
                replaced = script.catalog.find(derived.name)
                if isinstance(replaced, Derived):
                    script.leave_out(replaced.span)
                sink = derived.sink or script.catalog.home(derived.name, derived.node.shape)
                change = put_result(derived.node, sink)
                query = plan_query(choose_name(derived.name, script), derived.node, sink, derived.span, change)
                add_query(query, context, script)
                if sink.connector == MEMORY.name and not is_placed and is_stream(derived) and late is None:
                    script.unplaced.add(query.name)
                script.catalog = script.catalog.with_(replace(derived, sink=sink))
        case ast.CreateView():
            if is_new(statement, script):
                name, is_constant = statement.name, reads_nothing(statement.query)
                node = (lower_read if is_constant else lower_query)(statement.query, context)
                node = name_columns(node, statement.columns, name.text, name.span)
                view = Derived("VIEW", name.text, node, frozenset(context.reads), name.span, statement)
                script.catalog = script.catalog.with_(view)
        case ast.Insert():
            add_query(lower_insert(statement, choose_name(statement.target.text, script), context), context, script)
        case ast.QueryStatement():
            root = show_key(lower_query(statement.query, context))
            if isinstance(root.shape, KStream):
                require_stream_word(statement.query, statement.span)
            check_retention(root, statement.span)
            shown = choose_name("query", script)
            add_query(plan_query(shown, root, Sink(shown, CONSOLE.name, ()), statement.span), context, script)
        case ast.Explain():
            script.answers.append(lower_explain(statement, script))
        case ast.ExplainWhy():
            found = V014.at(statement.span, "")
            raise CompileError([found.with_hint("send it to the server that runs the query, or call penstock why")])
        case ast.Show():
            script.answers.append(lower_show(statement, script.catalog, script.all_queries))
        case ast.ShowCreate():
            script.answers.append(lower_show_create(statement, script.catalog))
        case ast.Describe():
            script.answers.append(lower_describe(statement, script.catalog))
        case ast.SetOption():
            if script.queries:
                found = C010.at(statement.span, "").also(script.queries[0].span, "the first query")
                raise CompileError([found.with_hint("a setting holds for the whole script: put SET first")])
            script.settings = lower_set(statement, script.settings)
        case ast.Drop():
            lower_drop(statement, script)
        case ast.Pause():
            raise CompileError([B002.at(statement.span, "", construct="PAUSE QUERY")])
        case ast.Resume():
            raise CompileError([B002.at(statement.span, "", construct="RESUME QUERY")])
        case ast.Delete():
            add_query(lower_delete(statement, choose_name(statement.target.text, script), context), context, script)
        case ast.Update():
            check_batch_mode(statement, script.catalog)
            add_query(lower_update(statement, choose_name(statement.target.text, script), context), context, script)
        case _:
            assert_never(statement)


def check_retention(root: Node, statement: Span) -> None:
    """Raises CompileError for RETENTION of windows that the statement makes and gives no name to look them up by."""
    windows = stateful(root)
    if (
        isinstance(windows, WindowAggregate)
        and windows.retention is not None
        and windows.span.to(statement) == statement
    ):
        found = W005.at(windows.span, "", clause="RETENTION", needed="table that can be looked up")
        raise CompileError([found.with_hint("CREATE TABLE windows AS in front of the query gives it a name")])


def add_query(query: RunningQuery, context: Context, script: ScriptState) -> None:
    """Adds a query, and the query of its late rows. Raises CompileError where another one appends to the same files."""
    parts = (query,) if context.late is None else split_late(query, context.late, context)
    for part in parts:
        check_folder(part, script)
        script.queries.append(part)
        script.note(part)
    script.read |= context.reads


def check_folder(query: RunningQuery, script: ScriptState) -> None:
    """Raises CompileError where another query of the script appends to the same files, without transactions."""
    sink = query.sink
    if connector_of(sink.connector).changes_rows:
        return
    place = connector_of(sink.connector).place(sink.options)
    other = None if place is None else script.placed.get((sink.connector, place))
    if other is not None:
        found = K008.at(query.span, "", target=sink.name, reason="another query writes to these files")
        hint = f"one INSERT INTO {sink.name} with both queries, joined by UNION ALL, or a folder of its own for each"
        raise CompileError([found.also(other.span, "this one").with_hint(hint)])


def is_stream(derived: Derived) -> bool:
    return isinstance(derived.node.shape, KStream)


def choose_name(wanted: str, script: ScriptState) -> str:
    """A name that no query of the script has yet: `wanted`, or `wanted_2`, `wanted_3` …"""
    name, number = wanted, script.numbers.get(wanted.lower(), 1)
    while name.lower() in script.named or name.lower() in script.catalog.taken:
        number += 1
        script.numbers[wanted.lower()] = number
        name = f"{wanted}_{number}"
    return name


def is_new(statement: ast.Create | ast.CreateAs | ast.CreateView, script: ScriptState) -> bool:
    """Whether the statement makes something; raises CompileError where the name is taken."""
    entry = script.catalog.find(statement.name.text)
    if entry is None or statement.or_replace or isinstance(entry, Broken):
        return True
    if statement.if_not_exists:
        return False
    found = K011.at(statement.name.span, "", name=statement.name.text).also(entry.span, "made here")
    raise CompileError([found.with_hint("CREATE OR REPLACE replaces it, CREATE with IF NOT EXISTS leaves it")])


def lower_explain(statement: ast.Explain, script: ScriptState) -> Explained:
    """Plans the statement beside the script: nothing of it stays but the explanation."""
    stage = statement.stage.value if statement.stage else None
    beside = script.copy()
    try:
        lower_statement(statement.statement, beside)
    except CompileError as refusal:
        behind = statement.span.source.text[statement.span.start : statement.statement.span.start]
        raise CompileError(
            dataclasses.replace(each, fix=each.fix and behind + each.fix) for each in refusal.diagnostics
        ) from None
    # A statement that replaces another one takes the queries of that away.
    known = set(map(id, script.queries))
    queries = tuple(each for each in beside.queries if id(each) not in known)
    return Explained(stage, ast_text(statement.statement), queries, script.settings)


def lower_drop(statement: ast.Drop, script: ScriptState) -> None:
    """Forgets a relation that no query of the script reads or writes."""
    name = statement.name
    if statement.kind is ast.DropKind.QUERY:
        raise CompileError([B002.at(statement.span, "", construct="DROP QUERY")])
    entry = script.catalog.find(name.text)
    if entry is None:
        if statement.if_exists:
            return
        raise CompileError([explain_unknown(name, name.text, script.catalog.names())])
    if entry.kind != statement.kind.value:
        wanted = statement.kind.value.lower()
        found = K013.at(name.span, "", name=name.text, found=entry.kind.lower(), wanted=wanted)
        raise CompileError([found.also(entry.span, "made here").with_hint(f"DROP {entry.kind} {name.text}")])
    for query in script.all_queries:
        scans = (node for node in walk(query.root) if isinstance(node, Scan))
        if name.folded in {query.name.lower(), query.sink.name.lower(), *(scan.origin.name.lower() for scan in scans)}:
            raise CompileError([K015.at(name.span, "", name=name.text, users=query.name).also(query.span, "used here")])
    script.catalog = script.catalog.without(name.text)
