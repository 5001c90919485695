"""The parser's door: text -> statements, statements and names -> text, and scripts in the canonical layout.

`ast_text` is the tree of EXPLAIN AST.
"""

from penstock.parser.ast_text import ast_text
from penstock.parser.format import LayoutError, format_script
from penstock.parser.syntax import count_words, parse
from penstock.parser.unparse import unparse
from penstock.parser.unparse_scalars import name_text

__all__ = ["LayoutError", "ast_text", "count_words", "format_script", "name_text", "parse", "unparse"]
