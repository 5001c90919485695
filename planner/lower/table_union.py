"""UNION ALL of tables -> one table, whose key says which branch a row comes from, and its key there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.kinds import K005
from penstock.planner import scalars
from penstock.planner.lower.intermediates import materialise_changes
from penstock.planner.plan import Column, KTable, Latest, Named, Node, Project, UnionAll, make_column
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.types import INT, VOID, Type


def count_shown(table: Node) -> int:
    """How many columns the table shows. Hidden ones come behind these."""
    return sum(not each.hidden for each in table.schema)


def check_counts(branches: Sequence[Node], spans: Sequence[Span]) -> None:
    """Raises CompileError for tables that do not show equally many columns."""
    count = count_shown(branches[0])
    for branch, span in zip(branches, spans, strict=True):
        if count_shown(branch) != count:
            reason = f"the first has {count} columns, this one {count_shown(branch)}"
            raise CompileError([K005.at(span, "", reason=reason).also(spans[0], "first branch")])


def unite_changes(branches: Sequence[Node], types: Sequence[Type], span: Span) -> UnionAll:
    """The changes of all tables, with values cast to `types`.

    A hidden column says which branch a row comes from, and hidden columns hold the keys that not all branches show.
    """
    names = [each.name for each in branches[0].schema[: len(types)]]
    branch_name = choose_unused_name("branch", names)
    places = find_key_places(branches, len(types))
    keys: list[tuple[int, str, Type, str]] = []
    """Keys that not all branches show: number of the branch, column there, type, name in the union."""
    if places is None:
        for number, branch in enumerate(branches):
            for key in branch.shape.key:
                name = choose_unused_name(key.rpartition(".")[2], [*names, branch_name, *(each[3] for each in keys)])
                keys.append((number, key, branch.column(key).type, name))
    own = [names[place] for place in places or ()] + [name for *_, name in keys]
    shape = KTable((branch_name, *own))

    def list_items(number: int, branch: Node) -> Iterator[Named]:
        for name, column, type_ in zip(names, branch.schema, types, strict=False):
            yield Named(name, scalars.cast(make_column(column.name), column.type, type_), type_)
        yield Named(branch_name, exp.Literal.number(number + 1), INT)
        for of_branch, key, type_, name in keys:
            absent = scalars.cast(exp.Null(), VOID, type_)
            yield Named(name, make_column(key) if of_branch == number else absent, type_)

    inputs = []
    for number, branch in enumerate(branches):
        items = tuple(list_items(number, branch))
        schema = tuple(
            Column(each.name, each.type, each.name != branch_name, hidden=place >= len(types))
            for place, each in enumerate(items)
        )
        below = materialise_changes(branch)
        inputs.append(Project(schema=schema, shape=shape, span=branch.span, input=below, items=items))
    return UnionAll(schema=inputs[0].schema, shape=shape, span=span, inputs=tuple(inputs))


def unite_rows(branches: Sequence[Node], types: Sequence[Type], span: Span) -> Latest:
    """UNION ALL: the newest row of each key of each branch."""
    united = unite_changes(branches, types, span)
    return Latest(schema=united.schema, shape=united.shape, span=span, input=united)


def find_key_places(branches: Sequence[Node], count: int) -> list[int] | None:
    """Where among the first columns all branches show their keys, None if not all show them at the same places."""
    found: list[list[int]] = []
    for branch in branches:
        names = [each.name for each in branch.schema[:count]]
        if not all(key in names for key in branch.shape.key):
            return None
        found.append(sorted(names.index(key) for key in branch.shape.key))
    return found[0] if all(each == found[0] for each in found) else None
