"""SELECT items -> named expressions: stars spread out, every column with a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.kinds import K006, K010, K022, K025
from penstock.diagnostics.codes.names import N001, N003, N006, N007
from penstock.parser import ast, name_text
from penstock.planner import scalars
from penstock.planner.lower.context import collect_findings, place, resolve_scalar
from penstock.planner.lower.plan_limits import check_type
from penstock.planner.plan import Column, KStream, KTable, Named, Node, Project, Shape, WTable, make_column
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.plan.substitute import substitute, substitute_columns
from penstock.planner.plan.walk import has_window_key
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.scopes import Scope, add_nearest
from penstock.planner.types import Struct, Type

WINDOW_COLUMNS = ("window_start", "window_end")


class OutputColumn(msgspec.Struct, frozen=True):
    """One column to be: its name, its expression (not resolved yet) and its place."""

    name: str
    value: exp.Expression
    span: Span


def spread_items(items: Sequence[ast.Item], scope: Scope) -> list[OutputColumn]:
    """The output columns of a SELECT list. Unnamed expressions are called col1, col2 … by position."""
    outputs: list[OutputColumn] = []
    for item in items:
        value = item.value
        if ast.is_star(value):
            outputs += leave_out(spread_star(value, item.span, scope), item.excluded)
        else:
            outputs.append(OutputColumn(choose_output_name(item, len(outputs)), value, item.span))
    if not outputs:
        raise CompileError([K025.at(items[0].span, "")])
    seen: dict[str, OutputColumn] = {}
    for output in outputs:
        first = seen.setdefault(output.name.lower(), output)
        if first is not output:
            found = K010.at(output.span, "", name=output.name).also(first.span, "")
            raise CompileError([propose_apart(found, first, output)])
    return outputs


def propose_apart(found: Diagnostic, first: OutputColumn, second: OutputColumn) -> Diagnostic:
    """The finding with a hint how two columns of one name get different ones."""
    tables = [each.value.text("table") for each in (first, second) if isinstance(each.value, exp.Column)]
    if first.span == second.span and len(tables) == 2 and all(tables):
        apart = f"{tables[0]}.*, {tables[1]}.* EXCEPT ({second.name}), or JOIN … USING ({second.name})"
        return found.with_hint(apart)
    value: Span | None = second.value.meta.get("span")
    name = name_text(f"other_{second.name}")
    if value is None or second.span.text.startswith("*") or second.span.text.endswith("*"):
        return found.with_hint(f"name one of them otherwise: AS {name}")
    return found.with_sql(f"{value.text} AS {name}", second.span, before="name one of them otherwise: ")


def leave_out(outputs: list[OutputColumn], excluded: Sequence[ast.Name]) -> list[OutputColumn]:
    """The columns of a star without the columns behind EXCEPT; raises CompileError for an unknown one."""
    names = {each.name.casefold() for each in outputs}
    for name in excluded:
        if name.text.casefold() not in names:
            found = N001.at(name.span, name=name.text)
            raise CompileError([add_nearest(found, name.text, (each.name for each in outputs))])
    left_out = {each.text.casefold() for each in excluded}
    return [each for each in outputs if each.name.casefold() not in left_out]


def choose_output_name(item: ast.Item, position: int) -> str:
    if item.alias is not None:
        return item.alias.text
    value = item.value
    if isinstance(value, exp.Column | exp.Dot):
        return str(value.name)
    return f"col{position + 1}"


def spread_fields(struct: exp.Expression, span: Span, scope: Scope) -> list[OutputColumn]:
    """The fields of a struct; raises CompileError for another value."""
    for node in struct.walk():
        node.meta.setdefault("span", span)
    type_ = resolve_scalar(struct, scope).type
    if not isinstance(type_, Struct):
        raise CompileError([N006.at(span, type=type_, name="*")])
    outputs = []
    for name, _ in type_.fields:
        field = exp.Dot(this=struct.copy(), expression=exp.to_identifier(name, quoted=True))
        field.meta["span"] = span
        outputs.append(OutputColumn(name, field, span))
    return outputs


def spread_star(value: exp.Expression, span: Span, scope: Scope) -> list[OutputColumn]:
    """`*`, `relation.*`, and the fields of `struct.*`."""
    relation = value.text("table") if isinstance(value, exp.Column) else ""
    if isinstance(value, exp.Dot):
        return spread_fields(value.this, span, scope)
    if relation and not scope.has_relation(relation):
        if not scope.named(relation):
            raise CompileError([N003.at(span, "", name=relation)])
        return spread_fields(exp.column(value.args["table"].copy()), span, scope)
    names: list[tuple[str, str | None]] = []
    if not relation:
        names = [(shared.name, None) for shared in scope.shared]
    for known in scope.columns:
        shared = None if relation else scope.find_shared(known.name)
        is_shown = shared is None or known.relation not in shared.relations
        if is_shown and (not relation or (known.relation or "").lower() == relation.lower()):
            names.append((known.name, known.relation))
    outputs = []
    for name, table in names:
        outputs.append(OutputColumn(name, place(exp.column(name, table=table, quoted=True), span), span))
    return outputs


def find_numbered(value: exp.Expression, outputs: Sequence[OutputColumn], clause: str) -> OutputColumn | None:
    """The item of a SELECT list whose number an expression of `clause` is, None for what is no number.

    Raises CompileError for a number that no item has.
    """
    if not isinstance(value, exp.Literal) or value.is_string:
        return None
    number = ast.parse_count(value.name)
    if not number or number > len(outputs):
        found = N007.at(value.meta["span"], "", clause=clause, number=value.name)
        count = f"{len(outputs)} item{'s' if len(outputs) != 1 else ''}"
        raise CompileError([found.because(f"The SELECT list has {count}.")])
    return outputs[number - 1]


def substitute_outputs(expression: exp.Expression, outputs: Iterable[OutputColumn], scope: Scope) -> exp.Expression:
    """The expression with names that only the SELECT list gives replaced by what they stand for there."""
    values = {output.name.casefold(): output.value for output in outputs}

    def value_of(column: exp.Column) -> exp.Expression | None:
        return None if column.table or scope.named(column.name) else values.get(column.name.casefold())

    return substitute_columns(expression, value_of)


def project_items(node: Node, outputs: Iterable[OutputColumn], scope: Scope, span: Span) -> Node:
    """The projection of `node`; the identity gives `node` itself, or with other columns hidden.

    A windowed table keeps its window columns, and a table its key, hidden if the SELECT list does not show it.
    """
    items: list[Named] = []
    findings: list[Diagnostic] = []
    for output in outputs:
        with collect_findings(findings):
            typed = resolve_scalar(output.value, scope)
            check_type(typed.type, output.name, output.span)
            items.append(Named(output.name, bare(typed.expression), typed.type))
    if findings:
        raise CompileError(findings)
    window = find_window_columns(node)
    if window is not None:
        sources = dict(zip(WINDOW_COLUMNS, window, strict=True))
        for item in items:
            source = sources.get(item.name.lower())
            if source is not None and not has_value(item.value, node, source):
                found = K010.at(span, "", name=item.name)
                hint = f"a windowed table has a {item.name.lower()} already: name this one otherwise"
                raise CompileError([found.with_hint(hint)])
        shown = {item.name.lower() for item in items}
        if isinstance(node.shape, KTable):  # under any name they are part of its key
            shown |= {n for n, s in sources.items() if any(has_value(item.value, node, s) for item in items)}
        items += [Named(n, make_column(s), node.column(s).type) for n, s in sources.items() if n not in shown]
    shown_count = len(items)
    if not isinstance(node.shape, KStream):
        items += list_missing_keys(node, node.shape, items)
    schema = tuple(
        Column(item.name, item.type, is_nullable(item.value, node), hidden=place >= shown_count)
        for place, item in enumerate(items)
    )
    if is_identity(items, node):  # the same rows, with other columns hidden
        flags = zip(node.schema, schema, strict=True)
        hiding = tuple(replace(one, hidden=other.hidden) for one, other in flags)
        return node if hiding == node.schema else replace(node, schema=hiding)
    return Project(
        schema=schema, shape=derive_projected_shape(node, items, span), span=span, input=node, items=tuple(items)
    )


def is_identity(items: Sequence[Named], node: Node) -> bool:
    """Whether the items are the columns of `node`, in their order and under their names."""
    return [(item.name, item.value) for item in items] == [(c.name, make_column(c.name)) for c in node.schema]


def find_window_columns(node: Node) -> tuple[str, str] | None:
    """What the window of a table's rows is called, None of a relation whose rows have none."""
    if isinstance(node.shape, WTable):
        return node.shape.start, node.shape.end
    if has_window_key(node):
        assert isinstance(node.shape, KTable)
        *_, start, end = node.shape.key
        return start, end
    return None


def list_missing_keys(node: Node, shape: KTable | WTable, items: Sequence[Named]) -> list[Named]:
    """The key columns of a table that none of the items shows, as items."""
    missing: list[Named] = []
    for name in shape.key:
        if not any(has_value(item.value, node, name) for item in items):
            own = min(shape.same[shape.key.index(name)][0]) if shape.same else name
            free = choose_unused_name(own.rpartition(".")[2], [each.name for each in (*items, *missing)])
            missing.append(Named(free, make_column(name), node.column(name).type))
    return missing


def is_nullable(expression: exp.Expression, node: Node) -> bool:
    """Whether the expression over the columns of `node` can be NULL, as far as is known."""
    match bare(expression):
        case exp.Column() as column:
            return node.column(column.name).nullable
        case exp.Literal() | exp.Boolean():
            return False
        case exp.Cast() as cast:  # one that fails gives no NULL
            return type(cast) is not exp.Cast or is_nullable(cast.this, node)
        case exp.Add() | exp.Sub() | exp.Mul() as sum_:
            return is_nullable(sum_.this, node) or is_nullable(sum_.expression, node)
        case exp.Anonymous() as call if str(call.this).upper() == "COALESCE":
            return all(is_nullable(each, node) for each in call.expressions)
        case _:
            return True


def name_columns(node: Node, names: Sequence[ast.Name], relation: str, span: Span) -> Node:
    """The relation with these names for its columns, or with its own ones if there are none. Raises CompileError.

    Columns that its SELECT list does not show keep their names: the columns of the key and of windows.
    """
    if not names:
        return node
    visible = [each for each in node.schema if not each.hidden]
    is_windowed = find_window_columns(node) is not None and len(names) == len(visible) - len(WINDOW_COLUMNS)
    if is_windowed and tuple(each.name for each in visible[-len(WINDOW_COLUMNS) :]) == WINDOW_COLUMNS:
        visible = visible[: -len(WINDOW_COLUMNS)]
    if len(names) != len(visible):
        place = names[0].span.to(names[-1].span)
        count = f"{len(visible)} column{'s' if len(visible) != 1 else ''}"
        shown = ", ".join(each.name for each in visible)
        found = K022.at(place, "", relation=relation, columns=count, names=len(names))
        raise CompileError([found.because(f"The columns are {shown}.")])
    seen: dict[str, ast.Name] = {}
    for name in names:
        first = seen.setdefault(name.folded, name)
        if first is not name:
            raise CompileError([K010.at(name.span, "", name=name.text).also(first.span, "")])
    renamed = {each.name: each.name for each in node.schema}
    renamed |= {column.name: name.text for column, name in zip(visible, names, strict=True)}
    for kept in (each for each in node.schema if each not in visible):
        if kept.hidden:
            renamed[kept.name] = choose_unused_name(kept.name, [n for c, n in renamed.items() if c != kept.name])
        elif kept.name.lower() in seen:
            raise CompileError([K010.at(seen[kept.name.lower()].span, "", name=kept.name)])
    items = [Named(renamed[each.name], make_column(each.name), each.type) for each in node.schema]
    result = rename_columns(node, items, rename_shape(node.shape, renamed), span)
    return replace(result, schema=tuple(replace(each, name=renamed[each.name]) for each in node.schema))


def rename_shape(shape: Shape, names: Mapping[str, str]) -> Shape:
    """The shape of a relation with all its columns under other names."""
    match shape:
        case KStream():
            return shape.rename(names)
        case KTable():
            return KTable(tuple(names[each] for each in shape.key), rename_same(shape.same, names))
        case WTable():
            key = tuple(names[each] for each in shape.key)
            return WTable(key, names[shape.start], names[shape.end], rename_same(shape.same, names))
        case _:
            assert_never(shape)


def rename_same(
    same: tuple[tuple[frozenset[str], ...], ...], names: Mapping[str, str]
) -> tuple[tuple[frozenset[str], ...], ...]:
    """The groups of columns with the value of the key, under other names."""
    return tuple(tuple(frozenset(names[each] for each in group) for group in groups) for groups in same)


def rename_columns(node: Node, items: Iterable[Named], shape: Shape, span: Span) -> Node:
    """`node` with its columns renamed, cast or left out. Each is used once, so a projection below is merged."""
    items = tuple(items)
    schema = tuple(Column(item.name, item.type) for item in items)
    if is_identity(items, node):
        return node
    if isinstance(node, Project):
        values = {item.name: item.value for item in node.items}
        items = tuple(Named(item.name, substitute(item.value, values), item.type) for item in items)
        node = node.input
    return Project(schema=schema, shape=shape, span=span, input=node, items=items)


def derive_projected_shape(node: Node, items: Iterable[Named], span: Span) -> Shape:
    """The shape under the new names. A stream may lose its key and its time, a table may not lose its key."""
    names: dict[str, str] = {}
    for item in items:
        if isinstance(item.value, exp.Column):
            names.setdefault(item.value.name, item.name)
    shape = node.shape
    if not isinstance(shape, KStream):
        for name in shape.key:
            shown = next((item.name for item in items if has_value(item.value, node, name)), None)
            if shown is not None:
                names.setdefault(name, shown)
    missing = [name for name in shape.key if name not in names]
    key = tuple(names[name] for name in shape.key if name in names)
    match shape:
        case KStream():
            return shape.rename(names)
        case KTable() | WTable():
            if missing:
                wanted = key_text(shape, missing[0])
                found = K006.at(span, "", column=wanted)
                raise CompileError([found.with_hint(f"add {wanted} to the SELECT list: rows are replaced by it")])
            return type(shape)(key)


def has_value(expression: exp.Expression, node: Node, name: str) -> bool:
    """Whether the expression over the table `node` has the value of that column of its identity in every row."""
    shape = node.shape
    assert not isinstance(shape, KStream)
    if expression == make_column(name):
        return True
    return bool(shape.same) and is_same(expression, node, shape.same[shape.identity.index(name)])


def is_same(expression: exp.Expression, node: Node, groups: Iterable[frozenset[str]]) -> bool:
    """Whether it is a column, or COALESCE of columns, that has the value of the key by one of the groups."""
    value = find_value(expression, node)
    columns = frozenset(name for group in groups for name in group)
    return value is not None and value.columns <= columns and any(group <= value.columns for group in groups)


class Value(msgspec.Struct, frozen=True):
    """The value of a column, or of the first of several columns that is not NULL, and its type."""

    columns: frozenset[str]
    type: Type


def find_value(expression: exp.Expression, node: Node) -> Value | None:
    """The columns of `node` that the expression has the value of, None if it computes anything else.

    A cast is no other value where it keeps different values apart.
    """
    match bare(expression):
        case exp.Column() as known:
            return Value(frozenset([known.name]), node.column(known.name).type)
        case exp.Cast() as cast:
            value, target = find_value(cast.this, node), scalars.type_of(cast.to, [])
            if value is None or target is None or not scalars.is_lossless(value.type, target):
                return None
            return Value(value.columns, target)
        case exp.Anonymous() as call if str(call.this).upper() == "COALESCE":
            parts = [find_value(each, node) for each in call.expressions]
            known_parts = [each for each in parts if each is not None]
            if len(known_parts) < len(parts):
                return None
            return Value(frozenset(name for each in known_parts for name in each.columns), known_parts[0].type)
        case _:
            return None


def find_value_column(expression: exp.Expression, node: Node) -> str | None:
    """The one column of `node` that the expression has the value of, None if it is something else."""
    value = find_value(expression, node)
    return next(iter(value.columns)) if value is not None and len(value.columns) == 1 else None


def key_text(shape: KTable | WTable, name: str) -> str:
    """What the key column of that name is called in a SELECT list."""
    if shape.same:
        group = sorted(shape.same[shape.identity.index(name)][0])
        return group[0] if len(group) == 1 else f"COALESCE({', '.join(group)})"
    return name
