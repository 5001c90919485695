"""Warnings of queries that look up the table that they write: rows of one micro-batch do not see each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.kinds import K040
from penstock.parser import name_text, unparse
from penstock.planner.plan import (
    Column,
    Expression,
    Filter,
    JoinType,
    Node,
    Project,
    PutRows,
    RemoteLookup,
    RunningQuery,
    Scan,
    UpdateRows,
    make_column,
)
from penstock.planner.plan.substitute import substitute
from penstock.planner.plan.walk import walk
from penstock.planner.script.caches import identify_table
from penstock.planner.script.loops import find_readers

_REASON = "Each row looks up what is there before its micro-batch, so of two rows of a key the last one counts alone."


def find_feedback(queries: Sequence[RunningQuery], running: Sequence[RunningQuery]) -> Iterator[Diagnostic]:
    """K040 for each query that puts rows into a table which it, or a query before it, looks up.

    The fix is the UPDATE that sees each change, where the rows come from one stream. It is not known to be accepted.
    """
    every = [*running, *queries]
    lookups = {
        place: [node for node in walk(query.root) if isinstance(node, RemoteLookup)]
        for place, query in enumerate(every)
    }
    if not any(lookups.values()):
        return
    readers = find_readers(every)
    for place in range(len(running), len(every)):
        query = every[place]
        if not isinstance(query.change, PutRows | UpdateRows):
            continue
        table = identify_table(query.sink.connector, query.sink.options)
        for source in list_before(place, readers):
            for node in lookups[source]:
                if identify_table(node.origin.connector, node.origin.options) == table:
                    yield explain(query, node, is_own=source == place)


def list_before(place: int, readers: Sequence[Sequence[int]]) -> list[int]:
    """The query itself, and the queries whose rows reach it through what they write."""
    writers: dict[int, list[int]] = {}
    for writer, reading in enumerate(readers):
        for each in reading:
            writers.setdefault(each, []).append(writer)
    seen, pending = {place: None}, [place]
    while pending:
        for each in writers.get(pending.pop(), ()):
            if each not in seen:
                seen[each] = None
                pending.append(each)
    return list(seen)


def explain(query: RunningQuery, lookup: RemoteLookup, *, is_own: bool) -> Diagnostic:
    """The finding, with the UPDATE if there is one."""
    table = lookup.origin.name
    found = K040.at(lookup.span, "looked up here", table=query.sink.name).also(query.span, "written here")
    found = found.because(_REASON)
    if isinstance(query.change, UpdateRows):
        return found.with_hint(
            f"leave the join out: in SET, {name_text(table)}.column is the value of the row as it is"
        )
    fix = write_update(query, lookup) if is_own else None
    return found.with_hint(
        f"UPDATE {name_text(query.sink.name)} SET … FROM the stream: in SET, {name_text(query.sink.name)}.column is the"
        " value that the row before has left",
        fix=fix,
    )


def write_update(query: RunningQuery, lookup: RemoteLookup) -> str | None:
    """UPDATE … FROM … ELSE INSERT with the values of the rows that the query puts; None where there is none."""
    above, end = list_run(query.root)
    below, scan = list_run(lookup.input)
    if end != lookup or not isinstance(scan, Scan) or lookup.any_row is not None:
        return None
    target, stream = query.sink.name, scan.origin.name
    if target.lower() == stream.lower():
        return None
    of_stream, filters = follow(below, {each.name: qualify(stream, each.name) for each in scan.schema})
    shown = {each.name: qualify(target, each.column) for each in lookup.columns}
    keys = {each.column: substitute(each.value, of_stream) for each in lookup.keys}
    values, later = follow(above, {**of_stream, **shown})
    if any(is_of(target, each) for each in later):
        return None
    assert isinstance(query.change, PutRows)
    columns = query.change.table.columns
    if not all(name in values and values[name] == keys.get(name) for name in query.change.table.key):
        return None
    changed = [each for each in columns if each.name not in keys and is_set(each, values[each.name], target)]
    if not changed:
        return None
    read = {part.name for each in changed for part in values[each.name].find_all(exp.Column) if part.table == target}
    assigned = ", ".join(f"{name_text(each.name)} = {write(values[each.name])}" for each in changed)
    matched = [f"{name_text(target)}.{name_text(name)} = {write(value)}" for name, value in keys.items()]
    text = f"UPDATE {name_text(target)} SET {assigned} FROM {name_text(stream)}"
    text += f" WHERE {' AND '.join([*matched, *(write(each) for each in (*filters, *later))])}"
    if lookup.type is not JoinType.LEFT:
        return text
    first = sorted(read - set(keys)) or [changed[0].name]
    return f"{text} ELSE INSERT ({', '.join(map(name_text, first))}) VALUES ({', '.join(['NULL'] * len(first))})"


def list_run(root: Node) -> tuple[list[Filter | Project], Node]:
    """The filters and projections from the root down, and the first node that is neither."""
    run: list[Filter | Project] = []
    while isinstance(root, Filter | Project):
        run.append(root)
        root = root.input
    return run, root


def follow(
    run: Sequence[Filter | Project], values: dict[str, Expression]
) -> tuple[dict[str, Expression], list[Expression]]:
    """The columns on top of a run, and its conditions, over what `values` says of the columns below."""
    conditions: list[Expression] = []
    for node in reversed(run):
        if isinstance(node, Filter):
            conditions.append(substitute(node.condition, values))
        else:
            values = {item.name: substitute(item.value, values) for item in node.items}
    return values, conditions


def qualify(relation: str, name: str) -> exp.Column:
    """A column of a relation, as a statement names it."""
    column = make_column(name)
    column.set("table", exp.to_identifier(relation, quoted=True))
    return column


def is_of(relation: str, expression: Expression) -> bool:
    return any(each.table == relation for each in expression.find_all(exp.Column))


def is_set(column: Column, value: Expression, target: str) -> bool:
    """Whether the row gets another value than it has; the query names it for a reason."""
    own = isinstance(value, exp.Column) and value.table == target and value.name == column.name
    absent = isinstance(value, exp.Cast) and isinstance(value.this, exp.Null)
    return not own and not absent


def write(value: Expression) -> str:
    """The text of a value in a statement, without casts of numbers, which their columns ask for anyway."""
    holder = exp.Paren(this=value.copy())
    for cast in list(holder.find_all(exp.Cast)):
        if isinstance(cast.this, exp.Literal) and not cast.this.is_string:
            cast.replace(cast.this)
    return unparse(holder.this)
