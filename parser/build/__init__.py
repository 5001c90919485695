"""Grammar rules -> AST: one builder per rule, in the family of what it builds."""

from __future__ import annotations

from typing import Any

from penstock.diagnostics.source import Source, Span
from penstock.parser.build import queries, relations, scalars, sets, statements, types, windows
from penstock.parser.build.base import Builder

RULES: dict[str, Builder] = {
    **statements.RULES,
    **queries.RULES,
    **sets.RULES,
    **relations.RULES,
    **windows.RULES,
    **scalars.RULES,
    **types.RULES,
}


def build(source: Source, rule: str, parts: list[Any], start: int, end: int) -> Any:
    """What a rule of the text `source` stands for; `parts` are what was built of the rules inside it.

    Raises CompileError for what the grammar lets pass and the dialect does not.
    """
    return RULES[rule](Span(source, start, end), *parts)
