"""The SELECT list -> Items."""

from __future__ import annotations

from sqlglot import exp

from penstock.diagnostics.codes import syntax
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.parser.ast import Item, Name, Unnesting, is_star
from penstock.parser.build.base import Builder, sequence, span_of
from penstock.parser.build.standard import make_call, refuse
from penstock.parser.build.units import make_struct


def item(span: Span, value: exp.Expression, alias: Name | None) -> Item:
    if isinstance(value, exp.Tuple):
        value = make_struct(make_call(span_of(value), "STRUCT", *value.expressions))
    if alias is not None and is_star(value):
        reason = "Each column of a star keeps its own name."
        raise refuse(alias.span, "a name for a star", reason, sql=f"{span_of(value).text}, {alias.text}", at=span)
    return Item(value, alias, span)


def item_except(span: Span, value: exp.Expression, excluded: tuple[Name, ...]) -> Item:
    if not is_star(value):
        found = syntax.S020.at(span_of(value)).because("EXCEPT stands behind *, relation.* or struct.* only.")
        shown = ", ".join(each.text for each in excluded)
        raise CompileError([found.with_hint(f"SELECT * EXCEPT ({shown})")])
    return Item(value, None, span, excluded)


def item_columns(span: Span, value: exp.Expression, columns: tuple[Name, ...]) -> Item:
    """`EXPLODE(map) AS (k, v)`."""
    name = value.name.upper().removesuffix("_OUTER") if isinstance(value, exp.Anonymous) else ""
    if name in Unnesting.__members__ and name != Unnesting.UNNEST.value:
        return Item(value, None, span, (), columns)
    found = syntax.S026.at(span, construct="several names for a value")
    reason = "Only EXPLODE, POSEXPLODE and INLINE make several columns."
    raise CompileError([found.because(reason).with_sql(f"{span_of(value).text} AS {columns[0].text}")])


RULES: dict[str, Builder] = {
    "items": sequence,
    "item": item,
    "item_except": item_except,
    "item_columns": item_columns,
}
