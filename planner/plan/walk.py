"""The shape of a plan as a graph, and what is true of it as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from sqlglot import exp

from penstock.planner.plan import Stateful
from penstock.planner.plan.aggregate import Emission, GroupAggregate, WindowAggregate
from penstock.planner.plan.intermediate_rows import Intermediate
from penstock.planner.plan.node import KStream, KTable, Node, WTable
from penstock.planner.plan.rank import TableRanked
from penstock.planner.plan.remote import RemoteLookup
from penstock.planner.plan.scan import Scan
from penstock.planner.plan.stateless import AssignWindows, Filter, Project, UnionAll

T = TypeVar("T")


def walk(root: Node) -> Iterator[Node]:
    """The root and all below it, inputs before what reads them. A shared node comes once, equal ones each."""
    pending: list[tuple[Node, bool]] = [(root, False)]
    seen: set[int] = set()
    while pending:
        node, is_behind_inputs = pending.pop()
        if is_behind_inputs:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            pending.append((node, True))
            pending += [(below, False) for below in reversed(node.inputs)]


def fold_plan(
    root: Node, value: Callable[[Node, tuple[T, ...]], T], known: dict[int, tuple[Node, T]] | None = None
) -> T:
    """Computes a value for each node, once, from the node and the values of its inputs. Returns the value of the root.

    Plans are too deep to recurse. `known` holds values from before by the id of their node, and the node, so that no
    other one gets its id. New values are added to it.
    """
    known = {} if known is None else known
    pending = [root]
    while pending:
        node = pending[-1]
        missing = [each for each in node.inputs if id(each) not in known]
        if not missing and id(pending.pop()) not in known:
            known[id(node)] = node, value(node, tuple(known[id(each)][1] for each in node.inputs))
        pending += reversed(missing)
    return known[id(root)][1]


def list_nodes(root: Node) -> list[Node]:
    """The root and all nodes below it, each once, inputs before what reads them."""
    nodes: dict[Node, None] = {}
    fold_plan(root, lambda node, _: nodes.setdefault(node))
    return list(nodes)


def is_retracting(node: Node) -> bool:
    """Whether it is a group of a table: rows before are taken out of it."""
    return isinstance(node, GroupAggregate) and not isinstance(node.input.shape, KStream)


def _is_session_table(node: Node) -> bool:
    """Whether it is a table of sessions that change, maybe filtered and projected. Its last two keys are the window."""
    while isinstance(node, Filter | Project):
        node = node.input
    return isinstance(node, WindowAggregate) and node.rows_leave


def has_window_key(node: Node) -> bool:
    """Whether it is a KTable whose last two keys are a window: sessions that change, or ranks of windows."""
    while isinstance(node, Filter | Project | Intermediate):
        node = node.input
    if isinstance(node, TableRanked):
        return isinstance(node.input.shape, WTable) or has_window_key(node.input)
    return _is_session_table(node)


def is_changing(root: Node) -> bool:
    """Whether rows of the result are replaced by newer ones."""
    if isinstance(root.shape, KStream):  # also where its rows look tables up, whose later changes touch none of them
        return False
    if isinstance(root.shape, KTable) or (isinstance(root, WindowAggregate) and root.emission is Emission.CHANGES):
        return True
    return any(map(is_changing, root.inputs))


def rows_leave(root: Node) -> bool:
    """Whether rows of the table can cease to exist: groups of a stream stay, if nothing filters them."""
    while isinstance(root, Project):
        root = root.input
    return is_retracting(root) if isinstance(root, GroupAggregate) else isinstance(root.shape, KTable)


def arrives_in_order(root: Node) -> bool:
    """Whether its rows are rows of streams, one by one, so that the order in which these arrive is theirs."""
    return isinstance(root.shape, KStream) and all(
        isinstance(node, Scan | Filter | Project | UnionAll | RemoteLookup) and isinstance(node.shape, KStream)
        for node in walk(root)
    )


def stateful(root: Node) -> Node | None:
    """The node itself or one below it that keeps state in the same query, None in a stateless one."""
    pending, seen = [root], set[int]()
    while pending:
        node = pending.pop()
        if isinstance(node, Stateful):
            return node
        if not isinstance(node, Intermediate) and id(node) not in seen:
            seen.add(id(node))
            pending += reversed(node.inputs)
    return None


def find_assigned_windows(node: Node) -> tuple[AssignWindows | None, dict[str, str]]:
    """What assigns the rows of a stream to windows, and what its columns are called above; None if nothing does."""
    if isinstance(node, AssignWindows):
        return node, {each.name: each.name for each in node.schema}
    if not isinstance(node, Filter | Project):
        return None, {}
    assigned, names = find_assigned_windows(node.input)
    if isinstance(node, Filter):
        return assigned, names
    shown = {each.value.name: each.name for each in node.items if isinstance(each.value, exp.Column)}
    return assigned, {name: shown[below] for name, below in names.items() if below in shown}
