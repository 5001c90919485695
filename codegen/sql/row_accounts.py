"""Plan -> for each scanned stream, the condition under which a row is used and not filtered out.

A row of a stream is used if it passes the filters on some way from its scan to a stateful operator or to the result.
Filters above a stateful operator (HAVING) look at other rows. Filters of tables delete rows, so they use all upserts.
The condition is pushed down to the scan's own columns and evaluated once per row. So
`in = rejected + late + filtered + used` holds however often a stream is read.

A filter above UNNEST, a lookup or a join is taken apart. What it says of the columns of one input is asked of the rows
of that input. What it says of elements is asked of all elements of a row: the row is used if one of them passes.

OVER, rankings and lookups return each of their rows at most once. A row that a filter above them drops was first
counted as used. It is moved to filtered when it comes out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import assert_never

from sqlglot import exp

from penstock.codegen.program import Metric
from penstock.codegen.sql.assign_windows import in_some_window
from penstock.codegen.sql.printing import print_inline
from penstock.codegen.sql.stateless_views import in_some_element
from penstock.codegen.sql.trees import both, call, column, only_if
from penstock.planner.physical.choose import choose
from penstock.planner.plan import (
    AssignWindows,
    Expression,
    Filter,
    GroupingSets,
    Intermediate,
    KStream,
    Node,
    Project,
    Rekey,
    RemoteLookup,
    Scan,
    Stateful,
    Stateless,
    Tumble,
    UnionAll,
    Unnest,
    WithLate,
    conjunction,
    conjuncts,
)
from penstock.planner.plan.substitute import substitute


def find_wanted_rows(nodes: Sequence[Node]) -> dict[Node, Expression | None]:
    """For each node the condition on its rows under which an operator above uses them; None: it uses all.

    `nodes` are all nodes of a plan, each once, inputs before what reads them, the root last. Nodes inside a run of
    filters and projections are left out. Nobody asks for them, and a long run would take long at each of its nodes.
    """
    readers = Counter(below for node in nodes for below in node.inputs)
    wanted: dict[Node, Expression | None] = {nodes[-1]: None}
    for node in reversed(nodes):
        if node not in wanted:
            continue
        run = _run(node, readers)
        passed = [(run[-1].input, _through(run, wanted[node]))] if run else _pass_down(node, wanted[node])
        for below, condition in passed:
            wanted[below] = _any_of(wanted[below], condition) if below in wanted else condition
    return wanted


def count_left_out(nodes: Sequence[Node], wanted: Mapping[Node, Expression | None]) -> dict[Node, tuple[Metric, ...]]:
    """Counts of rows that nothing above wants, on operators that give back the rows of one scan."""
    readers = Counter(below for node in nodes for below in node.inputs)
    metrics: dict[Node, tuple[Metric, ...]] = {}
    for node in nodes:
        condition = wanted.get(node)
        if condition is None or not _gives_back(node):
            continue
        below: Node | None = node
        while below is not None and not isinstance(below, Scan):
            below = _find_row_source(below, readers)
        if below is not None:
            dropped = exp.Not(this=call("COALESCE", condition, exp.Boolean(this=False)))
            # The other rows are counted where they are read.
            _, passed = _pass_down(node, condition)[0]
            if passed == condition:
                continue
            count = count_if(both(passed, dropped) or dropped)
            name = below.origin.name
            metrics[node] = (Metric(f"filtered:{name}", count), Metric(f"used:{name}", f"-{count}"))
    return metrics


def _find_row_source(node: Node, readers: Mapping[Node, int]) -> Node | None:
    """The input of an operator that gives at most one row for each of its rows, and alone reads it; else None."""
    is_single = isinstance(node, Filter | Project | Rekey) or _gives_back(node)
    if isinstance(node, AssignWindows):
        is_single = isinstance(node.window, Tumble)  # each row has one window
    source = node.inputs[0] if is_single else None
    return source if source is not None and readers[source] == 1 else None


def _gives_back(node: Node) -> bool:
    """Whether it has columns of its own, and gives at most one row for each row of a stream."""
    return choose(node).GIVES_BACK if isinstance(node, Stateful) else isinstance(node, RemoteLookup)


def count_if(condition: Expression) -> str:
    """The aggregate that counts the rows for which the condition holds."""
    return print_inline(call("COUNT", only_if(condition, exp.Literal.number(1))))


def _run(node: Node, readers: Mapping[Node, int]) -> list[Filter | Project | Rekey]:
    """The node and the nodes below it, as long as each passes rows of streams on one by one and has one reader."""
    run: list[Filter | Project | Rekey] = []
    # An upsert that fails a filter becomes a delete.
    while isinstance(node, Filter | Project | Rekey) and (isinstance(node.shape, KStream) or isinstance(node, Project)):
        run.append(node)
        node = node.input
        if readers[node] > 1:
            break
    return run


def _through(run: Sequence[Filter | Project | Rekey], wanted: Expression | None) -> Expression | None:
    """The condition on the rows that a run reads, from `wanted`, the condition on the rows that it gives."""
    asked = [_columns_of(wanted)]
    for node in run:
        below = asked[-1]
        if isinstance(node, Filter):
            below = below | _columns_of(node.condition)
        elif isinstance(node, Project):
            below = set().union(*(_columns_of(item.value) for item in node.items if item.name in below))
        asked.append(below)
    values: dict[str, Expression] = {name: column(name) for name in asked.pop()}
    conditions: list[Expression] = []
    for node in reversed(run):
        names = asked.pop()
        if isinstance(node, Filter):
            conditions.append(substitute(node.condition, values))
        elif isinstance(node, Project):
            values = {item.name: substitute(item.value, values) for item in node.items if item.name in names}
    return both(*conditions, None if wanted is None else substitute(wanted, values))


def _columns_of(condition: Expression | None) -> set[str]:
    return set() if condition is None else {each.name for each in condition.find_all(exp.Column)}


def _pass_down(node: Node, wanted: Expression | None) -> list[tuple[Node, Expression | None]]:
    if isinstance(node, Stateful):
        screened = choose(node).screened
        return [(each, _about(wanted, each) if each in screened else None) for each in node.inputs]
    assert isinstance(node, Stateless)
    match node:
        case AssignWindows():
            return [(node.input, None if wanted is None else in_some_window(node, wanted))]
        case UnionAll():
            if wanted is None:
                return [(each, None) for each in node.inputs]
            return [(each, substitute(wanted, _by_position(node, each))) for each in node.inputs]
        case RemoteLookup():
            return [(node.input, _about(wanted, node.input))]
        case Unnest():
            return [(node.input, None if wanted is None else in_some_element(node, wanted))]
        case Scan() | Filter() | Project() | Rekey() | GroupingSets():
            return [(each, None) for each in node.inputs]
        case WithLate() | Intermediate():
            return [(each, None) for each in node.inputs]
        case _:
            assert_never(node)


def _about(wanted: Expression | None, below: Node) -> Expression | None:
    """The parts of a condition that use the columns of one input alone, None if there are none."""
    names = {each.name for each in below.schema}
    return conjunction([each for each in conjuncts(wanted) if (used := _columns_of(each)) and used <= names])


def _by_position(union: UnionAll, below: Node) -> dict[str, Expression]:
    return {out.name: column(each.name) for out, each in zip(union.schema, below.schema, strict=True)}


def _any_of(one: Expression | None, other: Expression | None) -> Expression | None:
    if one is None or other is None:
        return None
    return one if one == other else exp.Or(this=one, expression=other)
