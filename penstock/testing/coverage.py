"""The tests of a script -> which classes of rows each operator of the script meets in them, and rows for the others.

A class says nothing about right or wrong: it is met if a test gives rows of it, and expects rows of a query that has
the operator. It is looked at as if the input ended behind the rows of the test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never

from penstock.compilation import Compilation
from penstock.diagnostics import CompileError, Source, Span
from penstock.evaluator import QueryFailure, Row, Unsupported, clocks, columns, evaluate_scalar
from penstock.parser.ast import RowsOf, ThenFails, ThenRefused, ThenRows
from penstock.planner.plan import (
    AssignWindows,
    Cumulate,
    Distinct,
    Filter,
    ForeignKeyJoin,
    GroupAggregate,
    GroupingSets,
    Hop,
    Intermediate,
    IntervalJoin,
    Latest,
    Node,
    Operator,
    Over,
    OverRows,
    Project,
    Ranked,
    Rekey,
    RemoteLookup,
    RunningQuery,
    Scan,
    SessionWindow,
    TableJoin,
    TableLookup,
    TableRanked,
    Tumble,
    UnionAll,
    Unnest,
    Window,
    WindowAggregate,
    WithLate,
)
from penstock.planner.plan.texts import relation_text
from penstock.planner.plan.walk import list_nodes
from penstock.testing.cases import Case, read_cases
from penstock.testing.coverage_classes import CoveredClass, Watched, is_written, name_sides, text_of, want, watch
from penstock.testing.coverage_conditions import Conditions
from penstock.testing.coverage_groups import (
    list_distinct_classes,
    list_element_classes,
    list_group_classes,
    list_order_classes,
)
from penstock.testing.coverage_inputs import list_input_classes
from penstock.testing.coverage_joins import (
    list_interval_classes,
    list_reference_classes,
    list_remote_classes,
    list_table_classes,
)
from penstock.testing.coverage_rows import ClassFinder, is_met
from penstock.testing.coverage_windows import list_frame_classes, list_window_classes
from penstock.testing.planned_steps import PlannedStep, plan_case
from penstock.testing.query_runs import QueryRun
from penstock.testing.run_case import Scripts, compile_script
from penstock.testing.script_relations import ScriptRelations
from penstock.testing.solved_values import plain_value


@dataclass
class ClassResult:
    """A class of an operator. `given`: rows that meet it, for a class that no test meets; None if none were found."""

    text: str
    sources: list[tuple[RunningQuery, CoveredClass]] = field(default_factory=list)
    met: bool = False
    given: list[str] | None = None
    relation: str = ""
    """What the query computes that the rows are for."""


@dataclass
class OperatorResult:
    """An operator with its classes. `note`: why it has none."""

    title: str
    span: Span
    classes: dict[str, ClassResult] = field(default_factory=dict)
    note: str = ""

    @property
    def line(self) -> int:
        return self.span.source.position(self.span.start)[0]


@dataclass
class ScriptCoverage:
    """The operators of a script, and the file whose tests are looked at."""

    file: str
    operators: list[OperatorResult] = field(default_factory=list)

    @property
    def classes(self) -> list[ClassResult]:
        return [each for operator in self.operators for each in operator.classes.values()]


def cover(source: Source, folder: Path, keyword: str = "") -> list[ScriptCoverage]:
    """The coverage of each script that the tests of a file name. Raises CompileError for what cannot be read."""
    scripts: Scripts = {}
    by_script: dict[tuple[str, ...], list[Case]] = {}
    for case in read_cases(source):
        if keyword.lower() in case.begin.name.text.lower() and case.refused is None:
            by_script.setdefault(tuple(each.text for each in case.begin.scripts), []).append(case)
    results = []
    for cases in by_script.values():
        script = compile_script(cases[0], folder, scripts)
        if isinstance(script, CompileError):
            raise script
        results.append(cover_script(source.name, script, cases, folder))
    return results


def cover_script(
    file: str, script: ScriptRelations, cases: Sequence[Case], folder: Path, *, search: bool = True
) -> ScriptCoverage:
    """Raises CompileError for tests whose rows cannot be read. `search`: rows are searched for what no test meets."""
    scripts = [script.for_test() for _ in cases]
    asked = [(case, own, list_asked(case, own)) for case, own in zip(cases, scripts, strict=True)]
    names = {query: query.sink.name for query in script.compilation.queries}
    for _, _, queries in asked:
        names = queries | names
    result = ScriptCoverage(file, join_operators(names))
    for case, own, queries in asked:
        steps, _ = plan_case(case, own, folder)
        watched = watch_queries(queries, steps)
        for each in result.classes:
            each.met = each.met or any(
                query in watched and is_met(covered, watched[query]) for query, covered in each.sources
            )
    for query, name in names.items() if search else ():
        find_rows(result, script.compilation, query, name)
    return result


def join_operators(queries: Iterable[RunningQuery]) -> list[OperatorResult]:
    """The operators of all queries in the order of the script, one that several queries have once."""
    operators: dict[tuple[str, str, int, int], OperatorResult] = {}
    for query in queries:
        for operator in list_operators(query):
            span = operator.span
            known = operators.setdefault((operator.title, span.source.name, span.start, span.end), operator)
            for text, each in operator.classes.items():
                if known is not operator:
                    known.classes.setdefault(text, ClassResult(text)).sources.extend(each.sources)
    return sorted(operators.values(), key=lambda each: (each.span.source.name, each.span.start))


def watch_queries(queries: Iterable[RunningQuery], steps: Sequence[PlannedStep]) -> dict[RunningQuery, Watched]:
    """What the queries get of a test, without the ones that the evaluator does not know."""
    watched: dict[RunningQuery, Watched] = {}
    for query in queries:
        try:
            watched[query] = watch(query, [step.arrival for step in steps])
        except (Unsupported, ArithmeticError):
            continue
    return watched


def list_asked(case: Case, script: ScriptRelations) -> dict[RunningQuery, str]:
    """The queries whose rows, late rows or failures a test expects, and what they compute. Raises CompileError."""
    own = {query: query.sink.name for query in script.compilation.queries}
    asked: dict[RunningQuery, str] = {}
    for then in (each for step in case.steps for each in step.then):
        if isinstance(then, ThenFails | ThenRefused):
            asked |= own
        elif isinstance(then, ThenRows) and then.of is not RowsOf.RESULT:
            name = script.find_declared(then.relation).origin.name
            asked |= {query: text for query, text in own.items() if name in list_read(query)}
        else:
            asked |= dict.fromkeys(script.find_output(then.relation).queries, then.relation.text)
    return asked


def list_read(query: RunningQuery) -> set[str]:
    return {node.origin.name for node in list_nodes(query.root) if isinstance(node, Scan)}


def find_rows(result: ScriptCoverage, compilation: Compilation, query: RunningQuery, name: str) -> None:
    """Rows for the classes of a query that no test meets. `name`: what the query computes."""
    missing = {
        id(covered): (each, covered)
        for each in result.classes
        for owner, covered in each.sources
        if owner is query and not each.met and each.given is None
    }
    finder = ClassFinder(compilation, query, name)
    for covered, lines in finder.find_all(covered for _, covered in missing.values()):
        each = missing[id(covered)][0]
        each.given, each.relation = lines, name


def list_operators(query: RunningQuery) -> Iterator[OperatorResult]:
    """The operators of a query that have classes, or a note that says why they have none."""
    problem = QueryRun(query).problem
    if problem is not None:
        yield OperatorResult(f"the query {query.name}", query.span, note=f"the evaluator does not know {problem}")
        return
    delays = {name: clock.delay for name, clock in clocks(query.root).items()}
    for node in list_nodes(query.root):
        title, classes, note = describe_operator(node, query, delays)  # type: ignore[arg-type]
        unknown = find_unknown(node) if classes else None
        if unknown is not None:
            classes, note = [], f"the evaluator does not know {unknown}"
        results: dict[str, ClassResult] = {}
        for each in classes:
            results.setdefault(each.text, ClassResult(each.text)).sources.append((query, each))
        if results or note:
            yield OperatorResult(title, node.span, results, note)


def find_unknown(node: Node) -> str | None:
    """What the evaluator does not know of the operator's expressions, as far as a plain row shows."""
    row = {each.name: plain_value(each.type) for below in node.inputs for each in below.schema}
    types = {name: type_ for below in node.inputs for name, type_ in columns(below.schema).items()}
    for each in node.expressions:
        try:
            evaluate_scalar(each, row, types)
        except Unsupported as problem:
            return str(problem)
        except (QueryFailure, TypeError, ValueError, LookupError, ArithmeticError, AttributeError):
            continue
    return None


Described = tuple[str, list[CoveredClass], str]


def describe_operator(node: Operator, query: RunningQuery, delays: dict[str, int]) -> Described:
    """What an operator is called, its classes, and a note if it should have some and has none."""
    name = relation_text(node)
    note = ""
    match node:
        case Scan():
            title = f"the rows of {node.origin.name}"
            classes = list(list_input_classes(node, query, delays.get(node.origin.name)))
        case Filter() if not is_written(node.condition):
            title, classes = "", []
        case Filter():
            title = f"the condition {text_of(node.condition)}"
            conditions = Conditions(node.input, lambda each: each.rows(node.input), tried(node.input))
            classes = [*conditions.list_filter(node.condition), *conditions.list_failing([node.condition])]
        case Project():
            title = f"the columns of {name}"
            conditions = Conditions(node.input, lambda each: each.rows(node.input), tried(node.input))
            classes = [*conditions.list_computed(node.expressions), *conditions.list_failing(node.expressions)]
        case IntervalJoin():
            title, classes = f"the {node.type.name} JOIN of {name}", list(list_interval_classes(node))
        case ForeignKeyJoin() | TableLookup():
            title, classes = f"the {node.type.name} JOIN of {name}", list(list_reference_classes(node))
        case TableJoin():
            title, classes = f"the JOIN of {name}", list(list_table_classes(node))
        case RemoteLookup():
            title, classes = f"the lookup in {node.origin.name}", list(list_remote_classes(node))
        case WindowAggregate():
            title = f"the {name_window(node.window)} windows of {name}"
            classes = [*list_window_classes(node), *list_group_classes(node), *list_computed(node.input, node)]
        case GroupAggregate():
            title = f"the groups of {name}"
            classes = [*list_group_classes(node), *list_computed(node.input, node)]
        case AssignWindows():
            title, classes = f"the {name_window(node.window)} windows of {name}", list(list_window_classes(node))
        case Over():
            title, classes = f"OVER of {name}", [*list_order_classes(node), *list_frame_classes(node)]
        case OverRows() | Ranked() | TableRanked():
            title, classes = f"the order of {name}", list(list_order_classes(node))
        case Distinct():
            title, classes = f"DISTINCT of {name}", list(list_distinct_classes(node))
        case Unnest():
            title, classes = f"UNNEST of {name}", list(list_element_classes(node))
        case UnionAll():
            title, classes = "UNION ALL", list(list_union_classes(node))
        case GroupingSets():
            title, classes, note = f"GROUPING SETS of {name}", [], "no classes are known for GROUPING SETS"
        case WithLate() | Rekey() | Intermediate() | Latest():
            title, classes = "", []  # they pass rows on
        case _:
            assert_never(node)
    return title, classes, note


def tried(node: Node) -> Callable[[Watched], list[Row]]:
    """The rows of an operator, and the ones for which the query fails."""
    return lambda watched: watched.rows_tried(node)


def list_computed(below: Node, node: Node) -> Iterator[CoveredClass]:
    """Branches and failures in the keys and arguments of groups."""
    conditions = Conditions(below, lambda each: each.rows(below), tried(below))
    yield from conditions.list_computed(node.expressions)
    yield from conditions.list_failing(node.expressions)


def list_union_classes(node: UnionAll) -> Iterator[CoveredClass]:
    for side, name in zip(node.inputs, name_sides(*node.inputs), strict=True):
        yield CoveredClass(f"a row of {name}", lambda each, side=side: bool(each.rows(side)), (want((side, {})),))  # type: ignore[misc]


def name_window(window: Window) -> str:
    match window:
        case Tumble():
            return "TUMBLE"
        case Hop():
            return "HOP"
        case Cumulate():
            return "CUMULATE"
        case SessionWindow():
            return "SESSION"
