"""A limit on the height of a finished statement, found without recursion.

The grammar limits how deep things nest and the builders how long a chain is; chains inside nested things multiply.
What comes after the parser may recurse, so the sum is limited here, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from sqlglot import exp

from penstock.diagnostics.codes import limits
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.parser.ast import Statement, TestStatement

# Nodes on the longest path from a statement to a leaf. A chain of 200 operands at the bottom of a few levels fits.
MAX_HEIGHT = 300


def check_depth(statement: Statement | TestStatement) -> None:
    """Raises CompileError if a path from the statement to a leaf has more than MAX_HEIGHT nodes."""
    open_nodes: list[tuple[Any, int]] = [(statement, 1)]
    while open_nodes:
        node, depth = open_nodes.pop()
        if depth > MAX_HEIGHT:
            place: Span = node.meta["span"] if isinstance(node, exp.Expression) else node.span
            raise CompileError([limits.L003.at(place, limit=MAX_HEIGHT)])
        open_nodes.extend((child, depth + 1) for child in children(node))


def children(node: Any) -> Iterator[Any]:
    """The nodes directly inside an AST node or a scalar."""
    if isinstance(node, exp.Expression):
        values: Any = node.args.values()
    else:
        values = (getattr(node, name) for name in node.__struct_fields__)
    for value in values:
        for part in value if isinstance(value, list | tuple) else (value,):
            if isinstance(part, exp.Expression) or (isinstance(part, msgspec.Struct) and not isinstance(part, Span)):
                yield part
