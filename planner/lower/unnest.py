"""UNNEST, LATERAL VIEW and EXPLODE -> a row for each element of an array, or for each entry of a map."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W005
from penstock.diagnostics.codes.expression_types import T006
from penstock.diagnostics.codes.joins import J014
from penstock.diagnostics.codes.kinds import K022, K023
from penstock.parser import ast
from penstock.planner.lower.context import place, resolve_scalar
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.select_items import leave_out, spread_star
from penstock.planner.plan import Column, Expression, KStream, Named, Project, Unnest, conjuncts, make_column
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.plan.texts import kind_text
from penstock.planner.scalars import Typed
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.scopes import ScopeColumn
from penstock.planner.types import INT, Array, Map, Struct, Type

_UNNEST = ast.Unnesting.UNNEST.value
# UNNEST as an item keeps structs whole, as EXPLODE does.
_GENERATORS = {each.value: each for each in ast.Unnesting} | {_UNNEST: ast.Unnesting.EXPLODE}


class Element(msgspec.Struct, frozen=True):
    """A column that the rows get: what it is called where nothing else is said, and its value over the elements."""

    name: str
    value: Expression
    type: Type


def join_elements(join: ast.Join, unnest: ast.UnnestedTable, left: FromRows) -> FromRows:
    """The rows of a join with UNNEST, whose condition is TRUE, or is left to WHERE. Raises CompileError."""
    if join.within is not None:
        raise CompileError([W005.at(join.within.span, "", clause="WITHIN", needed="join of two streams")])
    if join.using or join.natural:
        construct = "USING and NATURAL beside UNNEST"
        raise CompileError([B002.at(unnest.span, "", construct=construct).with_hint(f"CROSS JOIN {unnest.span.text}")])
    if join.kind not in (ast.JoinKind.INNER, ast.JoinKind.LEFT):
        found = B002.at(unnest.span, "", construct=f"{join.kind.value} JOIN UNNEST")
        raise CompileError([found.with_hint(f"CROSS JOIN {unnest.span.text}, or LEFT JOIN {unnest.span.text} ON TRUE")])
    if join.kind is ast.JoinKind.LEFT and any(not is_true(each) for each in conjuncts(join.on)):
        found = B002.at(unnest.span, "", construct="LEFT JOIN UNNEST with a condition")
        raise CompileError([found.with_hint("ON TRUE, with FILTER(array, e -> e > 1) around the array")])
    alias = unnest.alias
    if alias is not None and left.scope.has_relation(alias.text):
        raise CompileError([J014.at(unnest.span, "", name=alias.text).with_hint(f"{alias.text} AS another")])
    return unnest_rows(left, unnest, join.kind is ast.JoinKind.LEFT)


def is_true(condition: exp.Expression) -> bool:
    """Whether it is the word TRUE."""
    inner = bare(condition)
    return isinstance(inner, exp.Boolean) and bool(inner.this)


def unnest_rows(rows: FromRows, unnest: ast.UnnestedTable, outer: bool) -> FromRows:
    """Each row once for each element. `outer`: also once where there are none. Raises CompileError."""
    node = rows.node
    if not isinstance(node.shape, KStream):
        found = K023.at(unnest.span, "", function=unnest.function.value, kind=kind_text(node.shape))
        reason = "Rows of a table are replaced by their key, and elements can move or be equal."
        raise CompileError([found.because(reason).with_hint("UNNEST the stream behind the table")])
    typed = resolve_scalar(unnest.value, rows.scope)
    taken = [each.name for each in node.schema]
    element_types = list_elements(unnest, typed)
    bases = [choose_unused_name(f"_{name}", taken) for name, _ in element_types]
    place = choose_unused_name("_position", taken)
    elements = number_elements(unnest, spread_elements(unnest, element_types, bases), place)
    names = name_elements(unnest, elements)
    chosen = choose_columns(names, unnest, taken)
    renamed = {e.value.name: c for e, c in zip(elements, chosen, strict=True) if isinstance(e.value, exp.Column)}
    is_numbered = unnest.function is ast.Unnesting.POSEXPLODE or unnest.ordinality
    position = renamed.get(place, place) if is_numbered else None
    columns = [Column(renamed.get(base, base), type_) for base, (_, type_) in zip(bases, element_types, strict=True)]
    made = Unnest(
        schema=(*node.schema, *([] if position is None else [Column(position, INT)]), *columns),
        shape=node.shape,
        span=unnest.span,
        input=node,
        value=typed.expression,
        position=position,
        elements=tuple(each.name for each in columns),
        outer=outer,
    )
    values = [make_column(c) if e.value.name in renamed else e.value for e, c in zip(elements, chosen, strict=True)]
    items = [Named(each.name, make_column(each.name), each.type) for each in node.schema]
    items += [Named(c, value, e.type) for e, c, value in zip(elements, chosen, values, strict=True)]
    known = [
        ScopeColumn(None if unnest.alias is None else unnest.alias.text, name, column, each.type)
        for name, column, each in zip(names, chosen, elements, strict=True)
    ]
    result = made if [each.name for each in items] == [each.name for each in made.schema] else project(made, items)
    scope = replace(rows.scope, columns=(*rows.scope.columns, *known))
    return replace(rows, node=result, scope=scope)


def project(made: Unnest, items: Sequence[Named]) -> Project:
    """The rows with what is computed of their elements."""
    schema = (*made.input.schema, *(Column(each.name, each.type) for each in items[len(made.input.schema) :]))
    return Project(schema=schema, shape=made.shape, span=made.span, input=made, items=tuple(items))


def list_elements(unnest: ast.UnnestedTable, value: Typed) -> list[tuple[str, Type]]:
    """The names and types of what an element has: itself, or key and value. Raises CompileError."""
    is_inline = unnest.function is ast.Unnesting.INLINE
    match value.type:
        case Array(element) if isinstance(element, Struct) or not is_inline:
            return [("col", element)]
        case Map(key, entry) if not is_inline:
            return [("key", key), ("value", entry)]
    found = T006.at(value.span, "", name=unnest.function.value, types=value.type)
    takes = "an array of structs" if is_inline else "an array or a map"
    raise CompileError([found.because(f"It takes {takes}.")])


def spread_elements(
    unnest: ast.UnnestedTable, element_types: Sequence[tuple[str, Type]], columns: Sequence[str]
) -> list[Element]:
    """What the rows get of an element. A struct gives its fields. EXPLODE and POSEXPLODE keep it whole."""
    spreads = unnest.function in (ast.Unnesting.UNNEST, ast.Unnesting.INLINE)
    elements: list[Element] = []
    for column, (name, type_) in zip(columns, element_types, strict=True):
        if spreads and isinstance(type_, Struct) and len(element_types) == 1:
            fields = ((field, exp.to_identifier(field, quoted=True), each) for field, each in type_.fields)
            elements += [Element(f, exp.Dot(this=make_column(column), expression=i), t) for f, i, t in fields]
        else:
            elements.append(Element(name, make_column(column), type_))
    return elements


def number_elements(unnest: ast.UnnestedTable, elements: list[Element], place: str) -> list[Element]:
    """The elements, with their place in front of them, from 0, or behind them, from 1."""
    if unnest.function is ast.Unnesting.POSEXPLODE:
        elements = [Element("pos", make_column(place), INT), *elements]
    if unnest.ordinality:
        later = exp.Add(this=make_column(place), expression=exp.Literal.number(1))
        elements = [*elements, Element("ordinality", later, INT)]
    return elements


def name_elements(unnest: ast.UnnestedTable, elements: Sequence[Element]) -> list[str]:
    """What the columns are called. The alias of UNNEST is the name of an only column."""
    if unnest.columns:
        if len(unnest.columns) != len(elements):
            place = unnest.columns[0].span.to(unnest.columns[-1].span)
            names = ", ".join(each.name for each in elements)
            count = f"{len(elements)} column{'s' if len(elements) > 1 else ''}"
            found = K022.at(place, "", relation=unnest.function.value, columns=count, names=len(unnest.columns))
            raise CompileError([found.because(f"The columns are {names}.")])
        return [each.text for each in unnest.columns]
    is_field = isinstance(elements[0].value, exp.Dot)
    is_whole = unnest.function is ast.Unnesting.UNNEST and elements[0].name == "col" and not is_field
    first = (unnest.alias.text if unnest.alias is not None else "unnest") if is_whole else elements[0].name
    return [first, *(each.name for each in elements[1:])]


def choose_columns(names: Sequence[str], unnest: ast.UnnestedTable, taken: Sequence[str]) -> list[str]:
    """Names for the plan, each of which stands for one column."""
    chosen: list[str] = []
    for name in names:
        free = choose_unused_name(name, (*taken, *chosen))
        alias = "unnest" if unnest.alias is None else unnest.alias.text
        chosen.append(name if free == name else choose_unused_name(f"{alias}.{name}", (*taken, *chosen)))
    return chosen


def explode_items(select: ast.Select, rows: FromRows, refused: str | None) -> tuple[ast.Select, FromRows]:
    """The SELECT without EXPLODE and its sisters as items, over rows that have the elements.

    `refused`: what else it has that they cannot stand beside. Raises CompileError.
    """
    found = [each for each in select.items if find_generator(each) is not None]
    if not found:
        return select, rows
    if len(found) > 1 or refused is not None:
        construct = f"{found[-1].value.name} beside {'another function that makes rows' if len(found) > 1 else refused}"
        problem = B002.at(found[-1].span, "", construct=construct)
        raise CompileError([problem.with_hint("FROM events, UNNEST(events.tags) AS t(tag)")])
    alias = choose_unused_name("_element", [each.relation or "" for each in rows.scope.columns])
    exploded = explode_item(found[0], rows, alias)
    made = [each for each in exploded.scope.columns if each.relation == alias]
    items: list[ast.Item] = []
    for item in select.items:
        if item is found[0]:
            items += [make_item(each.name, alias, item.span) for each in made]
        elif ast.is_star(item.value):
            outputs = leave_out(spread_star(item.value, item.span, rows.scope), item.excluded)
            items += [ast.Item(each.value, ast.Name(each.name, each.span), each.span) for each in outputs]
        else:
            items.append(item)
    return replace(select, items=tuple(items)), exploded


def find_generator(item: ast.Item) -> ast.Unnesting | None:
    """Which function that makes rows the item is a call of."""
    value = item.value
    return _GENERATORS.get(value.name.upper().removesuffix("_OUTER")) if isinstance(value, exp.Anonymous) else None


def explode_item(item: ast.Item, rows: FromRows, alias: str) -> FromRows:
    """The rows with the elements that the item makes, as columns of the relation `alias`."""
    function, word = find_generator(item), item.value.name.upper()
    if function is None or len(item.value.expressions) != 1:
        count = len(item.value.expressions)
        raise CompileError([T006.at(item.span, "", name=word, types=f"{count} arguments")])
    names = item.columns if item.alias is None else (item.alias,)
    if word == _UNNEST and not names and isinstance(resolve_scalar(item.value.expressions[0], rows.scope).type, Array):
        names = (ast.Name("unnest", item.span),)
    unnest = ast.UnnestedTable(function, item.value.expressions[0], False, ast.Name(alias, item.span), names, item.span)
    return unnest_rows(rows, unnest, word.endswith("_OUTER"))


def make_item(name: str, alias: str, span: Span) -> ast.Item:
    """A column of the elements as an item."""
    return ast.Item(place(exp.column(name, table=alias, quoted=True), span), ast.Name(name, span), span)
