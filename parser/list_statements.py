"""A text of several statements -> each with a text of its own, in which places are as in the whole text."""

from __future__ import annotations

import re

from penstock.diagnostics import Source
from penstock.parser import ast
from penstock.parser.parsing import parse


def list_statements(source: Source) -> list[tuple[ast.Statement, str]]:
    """The statements of a text but SET, each with its own text: blanks stand for what is before it, except for SET.

    Raises:
        CompileError: the text cannot be parsed.
    """
    listed: list[tuple[ast.Statement, str]] = []
    before = ""
    for statement in parse(source):
        start, end = statement.span.start, statement.span.end
        before += re.sub(r"[^\n]", " ", source.text[len(before) : start])
        if isinstance(statement, ast.SetOption):
            before += source.text[start:end] + ";"
        else:
            listed.append((statement, before + source.text[start:end]))
    return listed
