"""Scalars, types, OVER -> canonical text, as pieces: strings, and the nodes inside them still to be printed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from sqlglot import exp

from penstock.grammar import PREFERRED, RESERVED
from penstock.parser.ast import OverClause

Piece: TypeAlias = Any  # a string, a scalar or an AST node
Pieces: TypeAlias = list[Piece]

# How tightly an expression holds together, loosest first, as in the grammar.
LAMBDA, OR, AND, NOT, PREDICATE, BIT_OR, BIT_XOR, BIT_AND, SUM, PRODUCT, SIGN, ACCESS, ATOM = range(13)

# Operators that group to the left: their sign and their precedence.
BINARY: dict[type[exp.Expression], tuple[str, int]] = {
    exp.BitwiseOr: ("|", BIT_OR),
    exp.BitwiseXor: ("^", BIT_XOR),
    exp.BitwiseAnd: ("&", BIT_AND),
    exp.Add: ("+", SUM),
    exp.Sub: ("-", SUM),
    exp.DPipe: ("||", SUM),
    exp.Mul: ("*", PRODUCT),
    exp.Div: ("/", PRODUCT),
    exp.IntDiv: ("DIV", PRODUCT),
    exp.Mod: ("%", PRODUCT),
}
# Predicates of two operands, which do not chain.
COMPARISONS: dict[type[exp.Expression], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
}
LIKES: dict[type[exp.Expression], str] = {exp.Like: "LIKE", exp.ILike: "ILIKE", exp.RegexpLike: "RLIKE"}
# Predicates whose NOT stands in the middle.
NEGATABLE: tuple[type[exp.Expression], ...] = (*LIKES, exp.Between, exp.In, exp.Is)

TYPES = {
    exp.DType.TEXT: "STRING",
    exp.DType.TIMESTAMPTZ: "TIMESTAMP",
}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words that mean something else at the start of an expression or a list of items.
_QUOTED = RESERVED | PREFERRED | {"ALL", "STREAM", "DISTINCT", "DIV"}


def name_text(text: str) -> str:
    """An identifier, quoted where it would not be read as one."""
    if _PLAIN.fullmatch(text) and text.upper() not in _QUOTED:
        return text
    return "`" + text.replace("`", "``") + "`"


def string_text(value: str) -> str:
    """A string literal. No other function prints one: a quote is doubled, and nothing else is special in ours."""
    return "'" + value.replace("'", "''") + "'"


def separate(parts: Iterable[Piece], separator: str = ", ") -> Pieces:
    """The parts with a separator between each two."""
    pieces: Pieces = []
    for part in parts:
        if pieces:
            pieces.append(separator)
        pieces.append(part)
    return pieces


def scalar_pieces(node: exp.Expression) -> Pieces:
    """A scalar node, one level deep. Brackets are added where an operand would not hold together without."""
    kind = type(node)
    left, right = node.args.get("this"), node.args.get("expression")
    if kind in BINARY:
        sign, level = BINARY[kind]
        return [*_bracket(left, level), f" {sign} ", *_bracket(right, level + 1)]
    if kind in COMPARISONS:
        return [*_bracket(left, BIT_OR), f" {COMPARISONS[kind]} ", *_bracket(right, BIT_OR)]
    if isinstance(node, NEGATABLE):
        return _predicate(node, "")
    match node:
        case exp.Or():
            return separate_chain(node, exp.Or, " OR ", AND)
        case exp.And():
            return separate_chain(node, exp.And, " AND ", NOT)
        case exp.Not() if isinstance(left, NEGATABLE):
            return _predicate(left, "NOT ")
        case exp.Not():
            return ["NOT ", *_bracket(left, NOT)]
        case exp.Neg():
            return ["- " if isinstance(left, exp.Neg) else "-", *_bracket(left, SIGN)]
        case exp.BitwiseNot():
            return ["~", *_bracket(left, SIGN)]
        case exp.Dot():
            dot = " ." if isinstance(left, exp.Literal) and not left.is_string else "."
            return [*_bracket(left, ACCESS), dot, right]
        case exp.Bracket():
            return [*_indexed(left), "[", *separate(node.expressions), "]"]
        case exp.Lambda():
            return _lambda(node)
        case _:
            return _atom_pieces(node)


def _bracket(node: Any, level: int) -> Pieces:
    """An operand, in brackets if it binds less tightly than its place asks."""
    return [node] if _level(node) >= level else ["(", node, ")"]


def _indexed(node: Any) -> Pieces:
    """What stands before `[`. A column is quoted where its name would make an array or a map of the index."""
    if isinstance(node, exp.Column) and not node.table and node.name.upper() in ("ARRAY", "MAP"):
        return [f"`{node.name}`"]
    return _bracket(node, ACCESS)


def _level(node: exp.Expression) -> int:
    kind = type(node)
    if kind in BINARY:
        return BINARY[kind][1]
    if kind in COMPARISONS or isinstance(node, NEGATABLE):
        return PREDICATE
    match node:
        case exp.Lambda():
            return LAMBDA
        case exp.Or():
            return OR
        case exp.And():
            return AND
        case exp.Not():
            return PREDICATE if isinstance(node.this, NEGATABLE) else NOT
        case exp.Neg() | exp.BitwiseNot():
            return SIGN
        case exp.Dot() | exp.Bracket():
            return ACCESS
        case _:
            return ATOM


def separate_chain(node: exp.Expression, kind: type[exp.Expression], word: str, level: int) -> Pieces:
    """AND or OR: the operands of the whole tree in order. They are associative, so its shape does not show."""
    operands: list[exp.Expression] = []
    open_nodes = [node]
    while open_nodes:
        inner = open_nodes.pop()
        if isinstance(inner, kind):
            open_nodes += [inner.expression, inner.this]
        else:
            operands.append(inner)
    pieces: Pieces = []
    for operand in operands:
        pieces += [*([word] if pieces else []), *_bracket(operand, level)]
    return pieces


def _predicate(node: exp.Expression, negation: str) -> Pieces:
    operand = _bracket(node.this, BIT_OR)
    match node:
        case exp.Is():
            return [*operand, f" IS {negation}", node.expression]
        case exp.Between():
            low, high = node.args["low"], node.args["high"]
            return [*operand, f" {negation}BETWEEN ", *_bracket(low, BIT_OR), " AND ", *_bracket(high, BIT_OR)]
        case exp.In():
            values = [node.args["query"]] if "query" in node.args else separate(node.expressions)
            return [*operand, f" {negation}IN (", *values, ")"]
        case _:
            return [*operand, f" {negation}{LIKES[type(node)]} ", *_bracket(node.expression, BIT_OR)]


def _lambda(node: exp.Lambda) -> Pieces:
    parameters = node.expressions
    if len(parameters) == 1:
        return [parameters[0], " -> ", node.this]
    return ["(", *separate(parameters), ") -> ", node.this]


def _atom_pieces(node: exp.Expression) -> Pieces:
    match node:
        case exp.Identifier():
            return [name_text(node.this)]
        case exp.Column():
            table = node.args.get("table")
            return [node.this] if table is None else [table, ".", node.this]
        case exp.Literal():
            return [string_text(node.this) if node.is_string else node.this]
        case exp.Boolean():
            return ["TRUE" if node.this else "FALSE"]
        case exp.Null():
            return ["NULL"]
        case exp.Star():
            return ["*"]
        case exp.Var():
            return [node.name]
        case exp.Interval():
            return ["INTERVAL ", node.this, " ", node.args["unit"].this]
        case exp.Paren() | exp.Subquery():
            return ["(", node.this, ")"]
        case exp.Tuple():
            return ["(", *separate(node.expressions), ")"]
        case exp.GroupingSets():
            return ["GROUPING SETS (", *separate(node.expressions), ")"]
        case exp.Exists():
            return ["EXISTS(", node.this, ")"]
        case exp.TryCast():
            return ["TRY_CAST(", node.this, " AS ", node.args["to"], ")"]
        case exp.Cast():
            return ["CAST(", node.this, " AS ", node.args["to"], ")"]
        case exp.Case():
            return _case(node)
        case exp.Anonymous():
            return [name_text(node.this), "(", *separate(node.expressions), ")"]
        case exp.Distinct():
            return ["DISTINCT ", *separate(node.expressions)]
        case exp.Filter():
            return [node.this, " FILTER (WHERE ", node.expression.this, ")"]
        case exp.WithinGroup():
            return [node.this, " WITHIN GROUP (ORDER BY ", *separate(node.expression.expressions), ")"]
        case exp.Window():
            return _window(node)
        case exp.Ordered():
            return _order_item(node)
        case exp.WindowSpec():
            return _frame(node)
        case exp.DataType() | exp.DataTypeParam() | exp.ColumnDef():
            return _type(node)
        case _:
            raise AssertionError(f"a scalar of kind {type(node).__name__} is not of this dialect")


def _case(node: exp.Case) -> Pieces:
    pieces: Pieces = ["CASE"]
    if node.this is not None:
        pieces += [" ", node.this]
    for branch in node.args["ifs"]:
        pieces += [" WHEN ", branch.this, " THEN ", branch.args["true"]]
    if node.args.get("default") is not None:
        pieces += [" ELSE ", node.args["default"]]
    return [*pieces, " END"]


def _window(node: exp.Window) -> Pieces:
    if node.args.get("alias") is not None:
        return [node.this, " OVER ", node.args["alias"]]
    order = node.args.get("order")
    inner = over_pieces(
        node.args.get("partition_by") or (), () if order is None else order.expressions, node.args.get("spec")
    )
    return [node.this, " OVER ", *inner]


def over_pieces(
    partition_by: Sequence[exp.Expression], order_by: Sequence[exp.Expression], frame: exp.Expression | None
) -> Pieces:
    """The bracket behind OVER."""
    parts: list[Pieces] = []
    if partition_by:
        parts.append(["PARTITION BY ", *separate(partition_by)])
    if order_by:
        parts.append(["ORDER BY ", *separate(order_by)])
    if frame is not None:
        parts.append([frame])
    return ["(", *(piece for i, part in enumerate(parts) for piece in ([" "] if i else []) + part), ")"]


def over_node_pieces(over: OverClause) -> Pieces:
    """OVER of a relation or a named window."""
    return over_pieces(over.partition_by, over.order_by, over.frame)


def _order_item(node: exp.Ordered) -> Pieces:
    descending, nulls_first = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
    nulls = "" if nulls_first != descending else (" NULLS FIRST" if nulls_first else " NULLS LAST")
    return [node.this, " DESC" if descending else "", nulls]


def _frame(node: exp.WindowSpec) -> Pieces:
    start = _frame_bound(node.args["start"], node.args["start_side"])
    end = _frame_bound(node.args["end"], node.args["end_side"])
    if node.args["end"] == "CURRENT ROW" and node.args["start_side"] == "PRECEDING":
        return [node.args["kind"], " ", *start]
    return [node.args["kind"], " BETWEEN ", *start, " AND ", *end]


def _frame_bound(distance: exp.Expression | str, side: str | None) -> Pieces:
    return [distance] if side is None else [distance, f" {side}"]


def _type(node: exp.Expression) -> Pieces:
    match node:
        case exp.DataTypeParam():
            return [node.this]
        case exp.ColumnDef():
            return [node.this, ": ", node.args["kind"]]
        case _:
            word = TYPES.get(node.this, node.this.name)
            if not node.expressions:
                return [word]
            opening, closing = ("<", ">") if node.args.get("nested") else ("(", ")")
            return [word, opening, *separate(node.expressions), closing]
