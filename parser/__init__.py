"""The parser's door: text -> statements, statements and names -> text, and scripts in the canonical layout.

`ast_text` is the tree of EXPLAIN AST. `split_script` gives the tokens of scripts in other dialects, too.
`count_set_words` says how many of them open a set of statements.
`RESERVED`: words that are never names, unless quoted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.grammar import RESERVED, Fault, Token
from penstock.parser.ast_text import ast_text
from penstock.parser.list_statements import list_statements
from penstock.parser.parsing import count_set_words, count_words, parse, parse_tests, split_script
from penstock.parser.synonyms import SYNONYMS
from penstock.parser.typed_text import is_whole, list_keywords, list_types
from penstock.parser.unparse import unparse
from penstock.parser.unparse_scalars import name_text, string_text

if TYPE_CHECKING:
    from penstock.parser.format import LayoutError, format_script, format_tests

__all__ = [
    "RESERVED",
    "SYNONYMS",
    "Fault",
    "LayoutError",
    "Token",
    "ast_text",
    "count_set_words",
    "count_words",
    "format_script",
    "format_tests",
    "is_whole",
    "list_keywords",
    "list_statements",
    "list_types",
    "name_text",
    "parse",
    "parse_tests",
    "split_script",
    "string_text",
    "unparse",
]


def __getattr__(name: str) -> Any:
    """The layout of scripts, loaded when it is asked for: checks do without it."""
    if name not in ("LayoutError", "format_script", "format_tests"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from penstock.parser import format as layout

    return getattr(layout, name)
