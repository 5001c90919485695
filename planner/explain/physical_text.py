"""Plans -> the text of EXPLAIN PHYSICAL: how each operator with state runs, why, and in which Spark query."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from penstock.planner.connectors import connector_of
from penstock.planner.explain.plan import list_bounds, number_nodes, operator_text
from penstock.planner.explain.state import count_text
from penstock.planner.physical.choose import choose
from penstock.planner.physical.fuse import find_fused, list_operators
from penstock.planner.physical.row_form import RowForm
from penstock.planner.plan import Intermediate, Node, RunningQuery, Settings, Stateful, WTable
from penstock.planner.plan.walk import walk
from penstock.planner.state import sends_changes

_FORMS = {
    RowForm.ROWS: "rows",
    RowForm.ORDERED_ROWS: "rows with their order in the window",
    RowForm.UPSERTS: "upserts",
    RowForm.KEY_RESULTS: "key results",
    RowForm.DELTAS: "deltas",
    RowForm.ORDERED_DELTAS: "deltas with their order",
    RowForm.CHANGES: "changes",
}
_FUSED = "no files: aggregations of tables without windows read each other in one Spark query"
_CUT = "files between two Spark queries: each runs one operator with state, or aggregations that read each other"


def physical_text(queries: Sequence[RunningQuery], settings: Settings, named: Sequence[Mapping[Node, str]]) -> str:
    """All queries. `named`: for each of them, the name of the Spark query that runs each operator with state."""
    blocks = []
    for query, names in zip(queries, named, strict=True):
        numbers, fused = number_nodes(query.root), find_fused(query.root)
        bounds, forms = list_bounds(query, numbers, settings), find_forms(query, fused)
        lines = []
        for node in numbers:
            parts = [_FUSED if node in fused else _CUT] if isinstance(node, Intermediate) else []
            if isinstance(node, Stateful):
                partitions = _count_partitions(node, settings, names)
                parts = list(_describe(node, bounds[node], forms[node], partitions, settings))
                parts.append(f"Spark query: {names[node]}")
            if parts:
                lines += [f"{numbers[node]}: {operator_text(node, numbers)}", *(f"    {part}" for part in parts)]
        blocks.append("\n".join([f"{query.name} -> {query.sink.connector}", *(lines or ["none"])]))
    return "\n\n".join(blocks)


def _describe(
    node: Stateful, bounds: Sequence[str], form: RowForm, partitions: int, settings: Settings
) -> Iterator[str]:
    operator = choose(node)
    *kept, place = bounds
    buckets = operator.count_buckets(settings.state_partitions)
    yield f"runs as {type(operator).__name__}, because {operator.REASON}"
    yield f"keeps {'; '.join(kept)}"
    yield f"{place}, in {count_text(partitions, 'partition')}" + f" and {count_text(buckets, 'bucket')}" * bool(buckets)
    yield f"gives {_FORMS[form]}"


def _count_partitions(node: Stateful, settings: Settings, names: Mapping[Node, str]) -> int:
    """The operators of one Spark query have one number."""
    told = (each.partitions for each, name in names.items() if name == names[node] and each.partitions)
    return next(told, settings.state_partitions)


def find_forms(query: RunningQuery, fused: Collection[Node]) -> dict[Node, RowForm]:
    """The form of the rows of each operator with state. `fused`: what `find_fused` gives."""
    parts = [(query.root, connector_of(query.sink.connector).upserts, False)]
    for node in walk(query.root):
        if isinstance(node, Intermediate) and node not in fused:
            parts.append((node.input, False, isinstance(node.shape, WTable)))
    forms: dict[Node, RowForm] = {}
    for root, upserts, is_numbered in parts:
        is_kept = sends_changes(root, upserts=upserts)
        for node in list_operators(root, fused):
            forms[node] = choose(node).find_form(is_kept=is_kept, is_numbered=is_numbered)
            is_kept = True  # what reads the others in the same Spark query keeps their rows
    return forms
