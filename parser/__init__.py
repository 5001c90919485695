"""The parser's door: text -> statements, statements -> text, statements -> the tree that EXPLAIN AST prints."""

from penstock.parser.ast_text import ast_text
from penstock.parser.syntax import parse
from penstock.parser.unparse import unparse

__all__ = ["ast_text", "parse", "unparse"]
