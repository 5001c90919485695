"""Statements: declaring, writing, looking, running."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

import msgspec
from sqlglot import exp

from penstock.diagnostics.source import Placed, Span
from penstock.parser.ast.base import Name, Option, Scalar
from penstock.parser.ast.intervals import Duration
from penstock.parser.ast.queries import Query
from penstock.parser.ast.relations import Table


class RelationKind(Enum):
    STREAM = "STREAM"
    TABLE = "TABLE"


class ColumnDefinition(Placed, frozen=True):
    """`name type [KEY | PRIMARY KEY] [NOT NULL] [DEFAULT value] [COMMENT text]`.

    `key` is for either word; which one is right depends on the statement.
    """

    name: Name
    type: exp.DataType
    key: bool
    primary: bool
    not_null: bool
    default: Scalar | None
    comment: str | None
    span: Span


class ComputedColumn(Placed, frozen=True):
    """`name AS expression`: a column of every row that no record holds."""

    name: Name
    value: Scalar
    comment: str | None
    span: Span


class MetadataColumn(Placed, frozen=True):
    """`name type METADATA [FROM 'key'] [VIRTUAL]`: what the connector knows of a record, by its own name for it.

    `virtual`: INSERT INTO leaves the column out.
    """

    name: Name
    type: exp.DataType
    key: str
    virtual: bool
    comment: str | None
    span: Span


DeclaredColumn: TypeAlias = ColumnDefinition | ComputedColumn | MetadataColumn


class Watermark(Placed, frozen=True):
    """`WATERMARK FOR column AS expression [IDLE AFTER interval]`; the planner reads the delay from the expression."""

    column: Name
    expression: Scalar
    idle: Duration | None
    span: Span


class Create(Placed, frozen=True):
    """CREATE STREAM or TABLE from an outside place. `like`: the relation that the rest of its definition is from."""

    kind: RelationKind
    name: Name
    or_replace: bool
    if_not_exists: bool
    columns: tuple[DeclaredColumn, ...]
    watermark: Watermark | None
    comment: str | None
    options: tuple[Option, ...]
    like: Name | None
    span: Span


class CreateAs(Placed, frozen=True):
    """CREATE STREAM or TABLE [WITH (…)] AS query."""

    kind: RelationKind
    name: Name
    or_replace: bool
    if_not_exists: bool
    comment: str | None
    options: tuple[Option, ...]
    query: Query
    span: Span


class CreateView(Placed, frozen=True):
    """CREATE VIEW [(columns)] AS query. Without `columns`, the columns of the query keep their names."""

    name: Name
    or_replace: bool
    if_not_exists: bool
    columns: tuple[Name, ...]
    comment: str | None
    query: Query
    span: Span


class Insert(Placed, frozen=True):
    target: Name
    columns: tuple[Name, ...]
    query: Query
    span: Span


class Delete(Placed, frozen=True):
    """DELETE FROM target USING [STREAM] source WHERE condition."""

    target: Name
    using: Table
    where: Scalar
    span: Span


class Assignment(msgspec.Struct, frozen=True):
    column: Name
    value: Scalar


class ElseInsert(Placed, frozen=True):
    """The default of a partial update: ELSE INSERT (columns) VALUES (values)."""

    columns: tuple[Name, ...]
    values: tuple[Scalar, ...]
    span: Span


class Update(Placed, frozen=True):
    """UPDATE target SET … FROM [STREAM] source WHERE condition [ELSE INSERT …]."""

    target: Name
    assignments: tuple[Assignment, ...]
    source: Table
    where: Scalar
    default: ElseInsert | None
    span: Span


class Stage(Enum):
    AST = "AST"
    PLAN = "PLAN"
    PARTITIONS = "PARTITIONS"
    STATE = "STATE"
    PHYSICAL = "PHYSICAL"
    SPARK = "SPARK"
    CODE = "CODE"


class Explain(Placed, frozen=True):
    """`stage` is None where none was named."""

    stage: Stage | None
    statement: Statement
    span: Span


class ExplainWhy(Placed, frozen=True):
    """EXPLAIN WHY name: what holds back the rows of a running query."""

    name: Name
    span: Span


class ShowKind(Enum):
    STREAMS = "STREAMS"
    TABLES = "TABLES"
    VIEWS = "VIEWS"
    QUERIES = "QUERIES"
    FUNCTIONS = "FUNCTIONS"


class Show(Placed, frozen=True):
    kind: ShowKind
    span: Span


class ShowCreate(Placed, frozen=True):
    """SHOW CREATE TABLE name: the statement that made a relation."""

    name: Name
    span: Span


class Describe(Placed, frozen=True):
    name: Name
    span: Span


class DropKind(Enum):
    STREAM = "STREAM"
    TABLE = "TABLE"
    VIEW = "VIEW"
    QUERY = "QUERY"


class Drop(Placed, frozen=True):
    kind: DropKind
    name: Name
    if_exists: bool
    span: Span


class Pause(Placed, frozen=True):
    name: Name
    span: Span


class Resume(Placed, frozen=True):
    name: Name
    span: Span


class SetOption(Placed, frozen=True):
    option: Option
    span: Span


class QueryStatement(Placed, frozen=True):
    """A query as a statement of its own: its rows are shown."""

    query: Query
    span: Span


Statement: TypeAlias = (
    Create
    | CreateAs
    | CreateView
    | Insert
    | Delete
    | Update
    | Explain
    | ExplainWhy
    | Show
    | ShowCreate
    | Describe
    | Drop
    | Pause
    | Resume
    | SetOption
    | QueryStatement
)
