"""sqlglot tree -> Spark SQL text. The one place where SQL is printed, and where user text is kept in its quotes.

sqlglot lays the text out. What it could get wrong is taken out of its hands. String literals are escaped here. Operands
get their parentheses here, and sqlglot adds none. Only kinds of nodes that it prints as they stand are let through.
"""

from __future__ import annotations

import re

from sqlglot import exp

from penstock.codegen.sql.expression_places import record
from penstock.planner.plan import Expression

_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUANTITY = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?[A-Za-z]{0,2}|\.[0-9]+([eE][+-]?[0-9]+)?[A-Za-z]{0,2}")
_WORD = re.compile(r"[A-Z]+")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

# Kinds whose printed form ends by itself, so that they may stand beside any operator.
_ATOMS = (
    exp.Column,
    exp.Identifier,
    exp.Dot,
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Placeholder,
    exp.Star,
    exp.Interval,
    exp.Cast,
    exp.TryCast,
    exp.Paren,
    exp.Bracket,
    exp.Case,
    exp.Anonymous,
    exp.Var,
    exp.Window,
)
# Operators by how tightly they bind, loosest first. An operand of an equal level or of arithmetic gets parentheses.
_COMPARISONS = (
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Is,
    exp.Like,
    exp.ILike,
    exp.RegexpLike,
    exp.In,
    exp.Between,
)
_ARITHMETIC = (
    exp.Neg,
    exp.BitwiseNot,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.IntDiv,
    exp.Mod,
    exp.DPipe,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseXor,
)
_BINDING = ((exp.Or,), (exp.And,), (exp.Not,), _COMPARISONS, _ARITHMETIC)
_OPERATORS = tuple(kind for kinds in _BINDING for kind in kinds)
# Nodes below which sqlglot needs no help: their children are separated by keywords, commas or brackets.
_STRUCTURE = (
    exp.Select,
    exp.With,
    exp.CTE,
    exp.Subquery,
    exp.SetOperation,
    exp.From,
    exp.Table,
    exp.TableAlias,
    exp.Join,
    exp.Where,
    exp.Group,
    exp.Having,
    exp.Alias,
    exp.Aliases,
    exp.If,
    exp.Filter,
    exp.Distinct,
    exp.Lambda,
    exp.DataType,
    exp.DataTypeParam,
    exp.ColumnDef,
    exp.Qualify,
    exp.WindowSpec,
    exp.Order,
    exp.Ordered,
    exp.Limit,
    exp.Offset,
)


def print_sql(tree: Expression) -> str:
    """The Spark SQL text of a query or a scalar expression, indented; the tree is left as it was.

    A node of an unknown kind is a defect of the planner and fails.
    """
    return _print(tree, pretty=True)


def print_inline(tree: Expression) -> str:
    """The same on one line, for expressions that stand in other text."""
    return _print(tree, pretty=False)


def print_duckdb(tree: Expression) -> str:
    """The same for DuckDB. There is no user text in what it is given, and so there are no string literals."""
    assert not any(literal.is_string for literal in tree.find_all(exp.Literal)), "a string for DuckDB"
    return _print(tree, pretty=True, dialect="duckdb")


def quote_string(value: str) -> str:
    r"""A Spark string literal: nothing in it can end the literal, start a `${…}` substitution or break the line.

    Spark reads `\\`, `\'` and `\uXXXX` inside quotes; every character that is not plain text is written so.
    """
    characters = (_ESCAPES.get(char) or (char if char.isprintable() else _escape_char(char)) for char in value)
    return "'" + "".join(characters).replace("${", "\\u0024{") + "'"


def _escape_char(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04X}" for i in range(0, len(units), 2))


def _print(tree: Expression, *, pretty: bool, dialect: str = "spark") -> str:
    def lay_out(node: Expression, *, pretty: bool = False) -> str:
        return str(node.sql(dialect=dialect, identify=True, pretty=pretty, comments=False, normalize_functions=False))

    safe = tree.copy().transform(_safe, copy=False)
    sql = lay_out(safe, pretty=pretty)
    record(safe, sql, lay_out)
    return sql


def _safe(node: Expression) -> Expression:
    """The node in a form that sqlglot prints to the letter. Parents are visited before their children."""
    if isinstance(node, exp.Literal):
        return _literal(node)
    if isinstance(node, exp.Anonymous):
        assert _FUNCTION.fullmatch(str(node.this)), f"no function name: {node.this!r}"
    elif isinstance(node, exp.Var):
        assert node.this.startswith("'") or _WORD.fullmatch(node.this), f"no keyword: {node.this!r}"
    elif isinstance(node, exp.Interval) and not isinstance(node.parent, exp.DataType):
        assert _QUANTITY.fullmatch(node.this.name), f"no quantity: {node!r}"
    elif isinstance(node, _OPERATORS):
        _parenthesise(node)
    else:
        assert isinstance(node, _ATOMS + _STRUCTURE), f"not a kind of node that is printed: {type(node).__name__}"
        if isinstance(node, (exp.Dot, exp.Bracket, exp.Filter)) and not isinstance(node.this, _ATOMS):
            node.set("this", exp.Paren(this=node.this))
        if isinstance(node, exp.TryCast):
            node.set("safe", True)  # without it sqlglot prints CAST
    return node


def _literal(node: exp.Literal) -> Expression:
    if node.is_string:
        return node if isinstance(node.parent, exp.Interval) else exp.Var(this=quote_string(node.name))
    assert _NUMBER.fullmatch(node.name), f"no number: {node.name!r}"
    return node


def _parenthesise(node: Expression) -> None:
    """Wraps each operand that could be read as part of something else; chains of one logical operator stay flat."""
    for name in ("this", "expression", "low", "high"):
        operand = node.args.get(name)
        if isinstance(operand, exp.Expression):
            node.set(name, _operand(node, operand))


def _operand(node: Expression, operand: Expression) -> Expression:
    chained = isinstance(node, (exp.And, exp.Or)) and type(operand) is type(node)
    arithmetic = isinstance(node, _ARITHMETIC)
    if isinstance(operand, (*_ATOMS, exp.Filter)) or chained or (not arithmetic and _level(operand) > _level(node)):
        return operand
    return exp.Paren(this=operand)


def _level(node: Expression) -> int:
    """The operator's place in `_BINDING`; -1 for what is no operator."""
    return next((level for level, kinds in enumerate(_BINDING) if isinstance(node, kinds)), -1)
