"""Grammar rules -> AST: one builder per rule, in the family of what it builds."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from sqlglot import exp

from penstock.diagnostics.source import Source, Span
from penstock.grammar import END, Token, dialect
from penstock.parser.build import (
    declarations,
    grouping,
    intervals,
    items,
    named_values,
    predicates,
    queries,
    relations,
    row_comparisons,
    scalars,
    sets,
    standard,
    statements,
    tests,
    type_names,
    windows,
)
from penstock.parser.build.base import Builder
from penstock.parser.build.synonyms import expand_call

RULES: dict[str, Builder] = {
    **statements.RULES,
    **tests.RULES,
    **declarations.RULES,
    **queries.RULES,
    **grouping.RULES,
    **items.RULES,
    **sets.RULES,
    **relations.RULES,
    **windows.RULES,
    **scalars.RULES,
    **standard.RULES,
    **predicates.RULES,
    **row_comparisons.RULES,
    **named_values.RULES,
    **intervals.RULES,
    **type_names.RULES,
}

_EXPANDED = ("call", "call_empty", "within_group")


def build(source: Source, rule: str, parts: list[Any], start: int, end: int) -> Any:
    """What a rule of the text `source` stands for; `parts` are what was built of the rules inside it.

    Raises CompileError for what the grammar lets pass and the dialect does not.
    """
    made = RULES[rule](Span(source, start, end), *parts)
    return expand_call(made, _read) if rule in _EXPANDED else made


@cache
def _read(text: str) -> exp.Expression:
    """An expression that stands in no statement."""
    source = Source("<synonym>", f"SELECT {text} FROM t")
    language = dialect()
    end = len(source.text)
    tokens = [*language.lexer.tokens(source.text), Token(END, "", end, end)]
    value: exp.Expression = language.parser.parse(tokens, partial(build, source)).query.items[0].value
    return value
