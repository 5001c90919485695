"""Statements -> canonical text: one line, keywords in upper case, every optional word written or left out the same way.

Parsing the text gives the statement again. Every node is turned into pieces, which are strings and nodes inside. A loop
then turns these into pieces, so that no depth of nesting can exhaust the stack.
"""

from __future__ import annotations

from typing import Any, assert_never

from sqlglot import exp

from penstock.parser.ast import (
    ComputedColumn,
    Create,
    CreateAs,
    CreateView,
    DeclaredColumn,
    Delete,
    Describe,
    Drop,
    Explain,
    ExplainWhy,
    Insert,
    Item,
    MetadataColumn,
    Name,
    Option,
    Pause,
    Query,
    QueryStatement,
    Relation,
    Resume,
    Select,
    SetOption,
    SetQuery,
    Show,
    ShowCreate,
    Statement,
    UnionQuery,
    Update,
    Watermark,
    With,
)
from penstock.parser.unparse_queries import duration_text, item_pieces, query_pieces, relation_pieces
from penstock.parser.unparse_scalars import Pieces, name_text, scalar_pieces, separate, string_text


def unparse(node: Any) -> str:
    """The canonical text of a statement (without a semicolon), a query, a relation, an item or a scalar."""
    done: list[str] = []
    open_pieces: Pieces = [node]
    while open_pieces:
        piece = open_pieces.pop()
        if isinstance(piece, str):
            done.append(piece)
        else:
            open_pieces.extend(reversed(_pieces(piece)))
    return "".join(done)


def _pieces(node: Statement | Query | Relation | Item | exp.Expression) -> Pieces:
    if isinstance(node, exp.Expression):
        return scalar_pieces(node)
    if isinstance(node, Select | UnionQuery | SetQuery | With):
        return query_pieces(node)
    if isinstance(node, Item):
        return item_pieces(node)
    if isinstance(node, Relation):
        return relation_pieces(node)
    return _statement(node)


def _statement(statement: Statement) -> Pieces:
    match statement:
        case Create():
            return _create(statement)
        case CreateAs():
            head = _create_head(statement, statement.kind.value) + _comment(statement.comment)
            return [head, *_options(statement.options), " AS ", statement.query]
        case CreateView():
            columns = f" ({_names(statement.columns)})" if statement.columns else ""
            head = _create_head(statement, "VIEW") + columns + _comment(statement.comment)
            return [head, " AS ", statement.query]
        case Insert():
            columns = f" ({_names(statement.columns)})" if statement.columns else ""
            return [f"INSERT INTO {_name(statement.target)}{columns} ", statement.query]
        case Delete():
            head = f"DELETE FROM {_name(statement.target)} USING STREAM "
            return [head, statement.using, " WHERE ", statement.where]
        case Update():
            return _update(statement)
        case Explain():
            stage = "" if statement.stage is None else f"{statement.stage.value} "
            return [f"EXPLAIN {stage}", statement.statement]
        case ExplainWhy():
            return [f"EXPLAIN WHY {_name(statement.name)}"]
        case Show():
            return [f"SHOW {statement.kind.value}"]
        case ShowCreate():
            return [f"SHOW CREATE TABLE {_name(statement.name)}"]
        case Describe():
            return [f"DESCRIBE {_name(statement.name)}"]
        case Drop():
            if_exists = "IF EXISTS " if statement.if_exists else ""
            return [f"DROP {statement.kind.value} {if_exists}{_name(statement.name)}"]
        case Pause():
            return [f"PAUSE QUERY {_name(statement.name)}"]
        case Resume():
            return [f"RESUME QUERY {_name(statement.name)}"]
        case SetOption():
            return ["SET ", *_option(statement.option)]
        case QueryStatement():
            return [statement.query]
        case _:
            assert_never(statement)


def _name(name: Name) -> str:
    return name_text(name.text)


def _names(names: tuple[Name, ...]) -> str:
    return ", ".join(_name(name) for name in names)


def _create_head(statement: Create | CreateAs | CreateView, kind: str) -> str:
    or_replace = "OR REPLACE " if statement.or_replace else ""
    if_not_exists = "IF NOT EXISTS " if statement.if_not_exists else ""
    return f"CREATE {or_replace}{kind} {if_not_exists}{_name(statement.name)}"


def _create(statement: Create) -> Pieces:
    head = _create_head(statement, statement.kind.value)
    like: Pieces = [] if statement.like is None else [f" LIKE {_name(statement.like)}"]
    elements: list[Pieces] = [_column(column) for column in statement.columns]
    if statement.watermark is not None:
        elements.append(_watermark(statement.watermark))
    if not elements:
        return [head, *_options(statement.options), *like]
    inner = [piece for i, element in enumerate(elements) for piece in ([", "] if i else []) + element]
    return [head, " (", *inner, ")", _comment(statement.comment), *_options(statement.options), *like]


def _column(column: DeclaredColumn) -> Pieces:
    if isinstance(column, MetadataColumn):
        source = f" METADATA FROM {string_text(column.key)}{' VIRTUAL' if column.virtual else ''}"
        return [_name(column.name), " ", column.type, source, _comment(column.comment)]
    if isinstance(column, ComputedColumn):
        return [_name(column.name), " AS ", column.value, _comment(column.comment)]
    key = " PRIMARY KEY" if column.primary else " KEY" if column.key else ""
    not_null = " NOT NULL" if column.not_null else ""
    default: Pieces = [] if column.default is None else [" DEFAULT ", column.default]
    return [_name(column.name), " ", column.type, key, not_null, *default, _comment(column.comment)]


def _comment(comment: str | None) -> str:
    return "" if comment is None else f" COMMENT {string_text(comment)}"


def _watermark(watermark: Watermark) -> Pieces:
    idle = "" if watermark.idle is None else f" IDLE AFTER {duration_text(watermark.idle)}"
    return [f"WATERMARK FOR {_name(watermark.column)} AS ", watermark.expression, idle]


def _options(options: tuple[Option, ...]) -> Pieces:
    if not options:
        return []
    inner = [piece for i, option in enumerate(options) for piece in ([", "] if i else []) + _option(option)]
    return [" WITH (", *inner, ")"]


def _option(option: Option) -> Pieces:
    """The dots of a name like `batch.size` are part of it; each word between them is read as a name."""
    words = option.name.text.split(".")
    name = ".".join(map(name_text, words)) if all(words) else name_text(option.name.text)
    return [name, " = ", option.value]


def _update(statement: Update) -> Pieces:
    pieces: Pieces = [f"UPDATE {_name(statement.target)} SET "]
    for i, assignment in enumerate(statement.assignments):
        pieces += [", " if i else "", _name(assignment.column), " = ", assignment.value]
    pieces += [" FROM STREAM ", statement.source, " WHERE ", statement.where]
    if statement.default is not None:
        columns = _names(statement.default.columns)
        pieces += [f" ELSE INSERT ({columns}) VALUES (", *separate(statement.default.values), ")"]
    return pieces
