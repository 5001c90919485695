"""What the builders of all families share: places, names, durations, chains.

A builder is a function from the place of a grammar rule and its parts to an AST node. The parts are what the rules
inside it built, tokens, and None for what was left out. Each module lists its builders in RULES by the rule's name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from sqlglot import exp

from penstock.diagnostics.codes import limits
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import Duration, Name

Builder: TypeAlias = Callable[..., Any]
Node = TypeVar("Node", bound=exp.Expression)

# Operands of one chain of operators that group to the left, and so make a tree as deep as the chain is long.
MAX_CHAIN = 200


def placed(node: Node, span: Span) -> Node:
    """The node, with its place."""
    node.meta["span"] = span
    return node


def span_of(node: exp.Expression) -> Span:
    """The place of a scalar node."""
    span: Span = node.meta["span"]
    return span


def token_span(span: Span, token: Token) -> Span:
    """The place of a token of the rule at `span`."""
    return Span(span.source, token.start, token.end)


def name(span: Span, token: Token) -> Name:
    """A token of the rule at `span` as a name."""
    return Name(token.value, token_span(span, token))


def identifier(span: Span, token: Token) -> exp.Identifier:
    """A token as an identifier inside a scalar. Whether it was quoted makes no difference to us."""
    return placed(exp.Identifier(this=token.value, quoted=False), token_span(span, token))


def duration(interval: exp.Interval) -> Duration:
    """An interval in a clause."""
    return Duration(interval.this.this, interval.args["unit"].this, span_of(interval))


def sequence(span: Span, *parts: Any) -> tuple[Any, ...]:
    """A rule that is just a list."""
    return parts


def flag(span: Span, *parts: Any) -> bool:
    """A rule whose presence is all that matters."""
    return True


def words(span: Span, *tokens: Token) -> str:
    """A rule of keywords, as the keywords in upper case."""
    return " ".join(token.value.upper() for token in tokens)


def balanced(kind: type[exp.Expression], operands: Sequence[exp.Expression]) -> exp.Expression:
    """A chain of AND or OR as a tree of logarithmic depth: both are associative, and chains of thousands occur."""
    level = list(operands)
    while len(level) > 1:
        pairs: list[exp.Expression] = [
            placed(kind(this=left, expression=right), span_of(left).to(span_of(right)))
            for left, right in zip(level[::2], level[1::2], strict=False)
        ]
        level = pairs if len(level) % 2 == 0 else [*pairs, level[-1]]
    return level[0]


def check_chain(span: Span, count: int, what: str) -> None:
    """Raises CompileError if a chain that groups to the left has too many members."""
    if count > MAX_CHAIN:
        code = limits.L002.at(span, count=count, what=what, limit=MAX_CHAIN)
        raise CompileError([code.with_hint("split it with brackets, or compute a part of it in a subquery")])
