"""Column references -> the columns of a plan's input that they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import Diagnostic, Span, nearest
from penstock.diagnostics.codes.names import N001, N002, N003
from penstock.parser import ast, name_text
from penstock.planner.functions import find_function
from penstock.planner.functions.elsewhere import propose_elsewhere
from penstock.planner.scalars.window_names import CALLED_HERE, PART_COLUMNS, is_processing_time, split_part
from penstock.planner.types import Type


class ScopeColumn(msgspec.Struct, frozen=True):
    """A name that an expression may use.

    `relation` is the alias that it may be qualified with, `name` what the user writes, `column` the name in the schema
    of the plan's input.
    """

    relation: str | None
    name: str
    column: str
    type: Type


class SharedColumn(msgspec.Struct, frozen=True):
    """A column of USING: its name, what it stands for, as written, and the relations that it is in."""

    name: str
    value: exp.Expression
    relations: frozenset[str | None]


class Scope(msgspec.Struct, frozen=True, dict=True):
    """All names that an expression may use. Names are compared without regard to case.

    What stands for none of `columns` may stand for one of `beyond`. `shared`: the columns of USING. `times`: the
    columns that ROWTIME stands for where no column has this name. `times_beyond`: the same for `beyond`.
    """

    columns: tuple[ScopeColumn, ...]
    beyond: tuple[ScopeColumn, ...] = ()
    shared: tuple[SharedColumn, ...] = ()
    times: tuple[ScopeColumn, ...] = ()
    times_beyond: tuple[ScopeColumn, ...] = ()

    @cached_property
    def _by_name(self) -> tuple[dict[str, list[ScopeColumn]], dict[str, list[ScopeColumn]]]:
        """`columns` and `beyond` by their folded names, because a SELECT list may name thousands."""
        both: tuple[dict[str, list[ScopeColumn]], dict[str, list[ScopeColumn]]] = ({}, {})
        for columns, named in zip((self.columns, self.beyond), both, strict=True):
            for column in columns:
                named.setdefault(column.name.casefold(), []).append(column)
        return both

    def inside(self, outer: Scope) -> Scope:
        """The scope of a subquery, which may also use the names of what is around it."""
        return replace(self, beyond=outer.columns, times_beyond=outer.times)

    def named(self, name: str, relation: str | None = None) -> tuple[ScopeColumn, ...]:
        """The columns that `[relation.]name` may stand for."""
        found: tuple[ScopeColumn, ...] = ()
        shared = self.find_shared(name) if relation is None else None
        if shared is not None:
            value = shared.value
            first = self.named(value.name, value.table) if isinstance(value, exp.Column) else ()
            others = self._by_name[0].get(name.casefold(), [])
            return (*first, *(each for each in others if each.relation not in shared.relations))
        for named in self._by_name:
            found = found or tuple(
                column
                for column in named.get(name.casefold(), ())
                if relation is None or is_same_name(column.relation, relation)
            )
        return found

    def find_shared(self, name: str) -> SharedColumn | None:
        """The column of USING of that name."""
        return next((each for each in self.shared if is_same_name(each.name, name)), None)

    def has_relation(self, name: str) -> bool:
        """Whether `name.` may stand before a column."""
        return any(is_same_name(column.relation, name) for column in (*self.columns, *self.beyond))

    @property
    def has_window(self) -> bool:
        """Whether the rows have the columns of a window."""
        return bool(self.named("window_start") and self.named("window_end"))

    def find(self, column: exp.Column, findings: list[Diagnostic]) -> ScopeColumn | None:
        """The column meant by `[relation.]name`; None when there is none or more than one, which is reported."""
        name, relation = column.name, column.table or None
        found = self.named(name, relation)
        if not found and name.upper() == ast.EVENT_TIME:
            return self._find_time(column, relation, findings)
        if len(found) == 1:
            return found[0]
        findings.append(self._problem(column, name, relation, found))
        return None

    def _find_time(self, column: exp.Column, relation: str | None, findings: list[Diagnostic]) -> ScopeColumn | None:
        """The event time; None where the rows have none or several, which is reported."""
        found: list[ScopeColumn] = []
        for times in (self.times, self.times_beyond):
            found = found or [each for each in times if relation is None or is_same_name(each.relation, relation)]
        if len(found) == 1:
            return found[0]
        problem = self._problem(column, column.name, relation, ())
        if found:
            names = [*map(_write_name, found)]
            problem = N002.at(column.meta.get("span"), name=column.name)
            problem = problem.because(f"The rows have the event times {', '.join(names)}.")
            problem = problem.with_sql(f"GREATEST({', '.join(names)})", after=", or one of them")
        elif relation is None or self.has_relation(relation):
            problem = problem.because("It stands for the event time of a stream. These rows have none.")
            of_window = [name for name in ("window_end", "window_start") if self.named(name, relation)]
            made = "where they are made: ROWTIME AS at, or MAX(ROWTIME) AS at beside GROUP BY"
            after = " or window_start" if len(of_window) > 1 else ""
            problem = problem.with_sql(next(iter(of_window), None), after=after, otherwise=made)
        findings.append(problem)
        return None

    def _problem(
        self, column: exp.Column, name: str, relation: str | None, found: tuple[ScopeColumn, ...]
    ) -> Diagnostic:
        span = column.meta.get("span")
        if found:
            choices = [_write_name(each) for each in found if each.relation]
            problem = N002.at(span, name=name)
            after = "".join(f" or {each}" for each in choices[1:])
            return problem.with_sql(choices[0] if choices else None, before="write ", after=after)
        if relation is not None and not self.has_relation(relation):
            known = {each.relation: None for each in (*self.columns, *self.beyond) if each.relation}
            return _add_relation(N003.at(span, name=relation), relation, [*known])
        if name.lower() == "window_time" and self.named("window_end", relation):
            return N001.at(span, name=name).with_sql("window_end - INTERVAL '1' MILLISECOND")
        _, part = split_part(name)
        if part and self.has_window:
            return N001.at(span, name=name).with_sql(PART_COLUMNS[part])
        pseudo = _PSEUDO_COLUMNS.get(name.upper(), _OF_WINDOW if part else None)
        if pseudo is None and name.upper() == "STREAM" and span is not None and _is_before_comma(span):
            pseudo = "leave out the comma behind it, or name a column: SELECT STREAM id"
        if pseudo is not None:
            return N001.at(span, name=name).with_hint(pseudo)
        both = (*self.columns, *self.beyond)
        visible = [each.name for each in both if relation is None or is_same_name(each.relation, relation)]
        shown = name if relation is None else f"{relation}.{name}"
        quote = "" if relation is not None or span is None else span.text[:1]
        problem = N001.at(span, name=shown)
        if relation is None and self.has_relation(name):
            return problem.with_hint(f"{name}.* has all its columns, and {name}.column one of them")
        if relation is None and has_call_alone(name):
            return problem.with_sql(f"{name.upper()}()")
        if quote in _QUOTES:
            return add_text(problem, name, visible, _QUOTES[quote])
        is_alike = nearest(name, visible, 0.8) is not None
        if (is_processing_time(name) or propose_elsewhere(name.upper(), ()) is not None) and not is_alike:
            return problem.with_sql("CURRENT_TIMESTAMP", after=" is the time of the clock")
        if relation is None and is_call(name) and not is_alike:
            return problem.with_hint(f"{name.upper()} is a function: its arguments are in parentheses")
        found_near = add_nearest(problem, name, visible)
        is_text = found_near.paste is None and relation is None and column.meta.get(COMPARED)
        return add_text(problem, name, (), "") if is_text else found_near


COMPARED = "compared"
"""The key in `meta` of a name that is compared with a value."""
_QUOTES = {'"': "double quotes", "`": "backquotes"}
_OF_WINDOW = "a GROUP BY with a window has window_start and window_end, and so has a table of such groups"
# Columns that ksqlDB adds to rows, and columns of windows.
_PSEUDO_COLUMNS = {
    "ROWNUM": "QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY time) <= 10",
    "ROWPARTITION": "declare it: place INT METADATA FROM 'partition' VIRTUAL",
    "ROWOFFSET": "declare it: place BIGINT METADATA FROM 'offset' VIRTUAL",
    "ROWKEY": "name the key column; a FULL JOIN has COALESCE of both",
    "WINDOWSTART": "a GROUP BY with a window has it, and a table of such groups window_start",
    "WINDOWEND": "a GROUP BY with a window has it, and a table of such groups window_end",
    **dict.fromkeys(("WINDOW_START", "WINDOW_END", "WINDOW_TIME"), _OF_WINDOW),
}


def _write_name(column: ScopeColumn) -> str:
    """The column with its relation, as SQL has it."""
    return ".".join(name_text(each) for each in (column.relation, column.name) if each)


def _is_before_comma(span: Span) -> bool:
    return span.source.text[span.end :].lstrip().startswith(",")


def _add_relation(problem: Diagnostic, name: str, known: list[str]) -> Diagnostic:
    """The finding with the relation that is meant: one of a like name, or the only one."""
    if len(known) == 1 and nearest(name, known) is None:
        return problem.with_sql(name_text(known[0]), _find_name(problem, name), after=" is the only relation here")
    return add_nearest(problem, name, known)


def has_call_alone(name: str) -> bool:
    """Whether it is a function without arguments."""
    function = find_function(name)
    return function is not None and any(text.startswith("() ") for text in function.signatures)


def is_call(name: str) -> bool:
    """Whether it is a function, or one that a GROUP BY with a window has."""
    return find_function(name) is not None or name.upper() in CALLED_HERE


def is_same_name(left: str | None, right: str) -> bool:
    """Whether two names are equal without regard to case."""
    return left is not None and left.casefold() == right.casefold()


def add_text(problem: Diagnostic, name: str, known: Iterable[str], quotes: str) -> Diagnostic:
    """The finding with a hint about a name in quotes, which is a text in other systems."""
    near = nearest(name, tuple(dict.fromkeys(known)))
    text = "'" + name.replace("'", "''") + "'"
    if near is not None:
        return problem.with_sql(name_text(near), before="did you mean ", after=f", or the text {text}?")
    why = f"{quotes} are around names" if quotes else "what has no quotes is a name"
    return problem.with_sql(text, after=f" is a text: {why}")


def add_nearest(problem: Diagnostic, name: str, known: Iterable[str], likeness: float = 0.6) -> Diagnostic:
    """The finding with a hint that names the known name nearest to an unknown one, or lists the few that there are.

    Args:
        problem: the finding at the unknown name.
        name: the unknown name.
        known: the known names.
        likeness: how much of the two has to be the same.
    """
    names = tuple(dict.fromkeys(known))
    near = nearest(name, names, likeness)
    if near is not None:
        return problem.with_guess(name_text(near), _find_name(problem, name))
    return problem.with_hint(f"known: {', '.join(names)}" if 0 < len(names) <= 12 else None)


def _find_name(problem: Diagnostic, name: str) -> Span | None:
    """The place of a name in what a finding marks, which may have a relation in front of it or arguments behind it."""
    span = problem.labels[0].span if problem.labels else None
    if span is None:
        return None
    found = re.search(rf"(?<!\w)[`\"]?{re.escape(name)}[`\"]?(?!\w)", span.text, re.IGNORECASE)
    return span if found is None else Span(span.source, span.start + found.start(), span.start + found.end())
