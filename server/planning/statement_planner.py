"""Jobs of the engine: plans of statements, and answers that need none of its queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, assert_never

from penstock import codegen
from penstock.codegen.program import Program
from penstock.compilation import compile
from penstock.diagnostics import CompileError, Diagnostic, Source
from penstock.diagnostics.codes.server import V012
from penstock.explain import answer_text
from penstock.parser import ast, list_statements
from penstock.planner import Catalog, plan_graph
from penstock.planner.plan import Explained, Listing
from penstock.server.engine_protocol import StatementAnswer
from penstock.server.running.live_script import LiveDefinition, LiveScript, Planned, check_submitted, describe_columns
from penstock.server.running.split_statements import check_settings, check_size, command_tag

Direct = ast.Drop | ast.Pause | ast.Resume | ast.ExplainWhy | ast.Show
"""What the engine does without a plan."""


@dataclass(frozen=True, slots=True)
class Relations:
    """News: all statements that are in force."""

    script: LiveScript


@dataclass(frozen=True, slots=True)
class Added:
    """News: a statement is in force. What it replaces was removed before."""

    planned: Planned


@dataclass(frozen=True, slots=True)
class Removed:
    """News: a statement is no longer in force."""

    definition: LiveDefinition


@dataclass(frozen=True, slots=True)
class PlanStatement:
    """One statement of a text.

    `place`: its place among the statements of the text. `number`: the place in the order of all.
    """

    text: str
    place: int
    number: int
    author: str
    max_words: int


@dataclass(frozen=True, slots=True)
class PlannedStatement:
    """A statement that makes something, worked out without Spark. `program`: None without queries."""

    tag: str
    planned: Planned
    columns: list[dict[str, str]]
    program: Program | None = None
    graph: Any = None


@dataclass(frozen=True, slots=True)
class StatementStep:
    """What is to be done with one statement of a text. `is_last`: the text has no other one behind it."""

    does: StatementAnswer | PlannedStatement | Direct
    is_last: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """The statement is refused."""

    findings: tuple[Diagnostic, ...]


class StatementPlanner:
    """Knows what is in force."""

    def __init__(self) -> None:
        self._script: LiveScript | None = None

    def note(self, news: Relations | Added | Removed) -> None:
        """Follows what the engine does."""
        if isinstance(news, Relations):
            self._script = news.script
            return
        assert self._script is not None, "the relations are told first"
        if isinstance(news, Added):
            self._script.add(news.planned)
        else:
            self._script.remove(self._script.definitions[news.definition.number])

    def run(self, work: PlanStatement) -> StatementStep | Refused:
        """Plans or answers a statement."""
        assert self._script is not None, "the relations are told first"
        try:
            return plan_step(self._script, work)
        except CompileError as error:
            return Refused(tuple(error.diagnostics))


def plan_step(script: LiveScript, work: PlanStatement) -> StatementStep:
    """What is to be done with a statement; raises CompileError."""
    source = Source("statement", work.text)
    check_size(source, work.max_words)
    statements = list_statements(source)
    if not statements:
        check_settings(source)
        return StatementStep(StatementAnswer("SET"), is_last=True)
    statement, text = statements[work.place]
    is_last = work.place == len(statements) - 1
    check_submitted(statement)
    match statement:
        case ast.Drop() | ast.Pause() | ast.Resume() | ast.ExplainWhy() | ast.Show(kind=ast.ShowKind.QUERIES):
            return StatementStep(statement, is_last)
        case ast.Show() | ast.ShowCreate() | ast.Describe() | ast.Explain():
            return StatementStep(answer_from_catalog(text, script.catalog), is_last)
        case ast.SetOption():
            raise CompileError([V012.at(statement.span, "", statement="SET alone")])
        case _:
            return StatementStep(
                plan_made(script, statement, Source("statement", text), work.number, work.author), is_last
            )


def plan_made(
    script: LiveScript, statement: ast.Statement, source: Source, number: int, author: str
) -> StatementAnswer | PlannedStatement:
    """The plan of a statement that makes something, or why there is nothing to do; raises CompileError."""
    tag = command_tag(statement)
    there = script.find_unmade(statement)
    if there is not None:
        return StatementAnswer(tag, notices=(f"{there.relation} already exists",))
    planned = script.plan(statement, source, number, author, frozenset())
    return describe_planned(tag, planned)


def describe_planned(tag: str, planned: Planned) -> PlannedStatement:
    """A plan with all that follows from it."""
    queries, settings = planned.definition.queries, planned.compilation.settings
    described = PlannedStatement(tag, planned, describe_columns(planned), graph=plan_graph(queries, settings))
    return replace(described, program=codegen.lower(queries, settings)) if queries else described


def answer_from_catalog(text: str, catalog: Catalog) -> StatementAnswer:
    """The answer to SHOW, DESCRIBE or EXPLAIN over the relations of a catalog; raises CompileError."""
    [answer] = compile(text, catalog).answers
    match answer:
        case Listing():
            return StatementAnswer("SHOW", answer.headings, answer.rows)
        case Explained():
            lines = answer_text(answer).rstrip("\n").split("\n")
            return StatementAnswer("EXPLAIN", ("plan",), tuple((line,) for line in lines))
        case _:
            assert_never(answer)


def names_of(does: PlannedStatement | Direct, script: LiveScript) -> tuple[frozenset[str], frozenset[str]]:
    """What a statement makes, changes or takes away, and what it reads, in lower case. SHOW and EXPLAIN only look."""
    nothing = frozenset[str]()
    match does:
        case PlannedStatement(planned=planned):
            replaced = nothing if planned.replaced is None else planned.replaced.names
            return planned.definition.names | replaced, planned.definition.reads
        case ast.Drop() | ast.Pause() | ast.Resume():
            name = does.name.folded
            named = (each.names for each in script.definitions.values() if name in each.names)
            return frozenset({name}).union(*named), nothing
        case ast.ExplainWhy() | ast.Show():
            return nothing, nothing
