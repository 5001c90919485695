"""The parser's door: text -> statements, statements and names -> text, statements -> the tree of EXPLAIN AST."""

from penstock.parser.ast_text import ast_text
from penstock.parser.synonyms import SYNONYMS
from penstock.parser.syntax import count_words, parse
from penstock.parser.unparse import unparse
from penstock.parser.unparse_scalars import name_text

__all__ = ["SYNONYMS", "ast_text", "count_words", "name_text", "parse", "unparse"]
