"""Statements: declaring, writing, looking, running."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from sqlglot import exp

from penstock.diagnostics.source import Span
from penstock.parser.ast.base import Name, Option, Scalar
from penstock.parser.ast.intervals import Duration
from penstock.parser.ast.queries import Query
from penstock.parser.ast.relations import Table


class RelationKind(Enum):
    STREAM = "STREAM"
    TABLE = "TABLE"


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
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
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ComputedColumn:
    """`name AS expression`: a column of every row that no record holds."""

    name: Name
    value: Scalar
    comment: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MetadataColumn:
    """`name type METADATA [FROM 'key'] [VIRTUAL]`: what the connector knows of a record, by its own name for it.

    `virtual`: INSERT INTO leaves the column out.
    """

    name: Name
    type: exp.DataType
    key: str
    virtual: bool
    comment: str | None
    span: Span = field(compare=False, repr=False)


DeclaredColumn: TypeAlias = ColumnDefinition | ComputedColumn | MetadataColumn


@dataclass(frozen=True, slots=True)
class Watermark:
    """`WATERMARK FOR column AS expression [IDLE AFTER interval]`; the planner reads the delay from the expression."""

    column: Name
    expression: Scalar
    idle: Duration | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Create:
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
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateAs:
    """CREATE STREAM or TABLE [WITH (…)] AS query."""

    kind: RelationKind
    name: Name
    or_replace: bool
    if_not_exists: bool
    comment: str | None
    options: tuple[Option, ...]
    query: Query
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateView:
    """CREATE VIEW [(columns)] AS query. No columns: those of the query keep their names."""

    name: Name
    or_replace: bool
    if_not_exists: bool
    columns: tuple[Name, ...]
    comment: str | None
    query: Query
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Insert:
    target: Name
    columns: tuple[Name, ...]
    query: Query
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Delete:
    """DELETE FROM target USING [STREAM] source WHERE condition."""

    target: Name
    using: Table
    where: Scalar
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assignment:
    column: Name
    value: Scalar


@dataclass(frozen=True, slots=True)
class ElseInsert:
    """The default of a partial update: ELSE INSERT (columns) VALUES (values)."""

    columns: tuple[Name, ...]
    values: tuple[Scalar, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Update:
    """UPDATE target SET … FROM [STREAM] source WHERE condition [ELSE INSERT …]."""

    target: Name
    assignments: tuple[Assignment, ...]
    source: Table
    where: Scalar
    default: ElseInsert | None
    span: Span = field(compare=False, repr=False)


class Stage(Enum):
    AST = "AST"
    PLAN = "PLAN"
    PARTITIONS = "PARTITIONS"
    STATE = "STATE"
    SPARK = "SPARK"
    CODE = "CODE"


@dataclass(frozen=True, slots=True)
class Explain:
    """`stage` is None where none was named."""

    stage: Stage | None
    statement: Statement
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExplainWhy:
    """EXPLAIN WHY name: what holds back the rows of a running query."""

    name: Name
    span: Span = field(compare=False, repr=False)


class ShowKind(Enum):
    STREAMS = "STREAMS"
    TABLES = "TABLES"
    VIEWS = "VIEWS"
    QUERIES = "QUERIES"
    FUNCTIONS = "FUNCTIONS"


@dataclass(frozen=True, slots=True)
class Show:
    kind: ShowKind
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ShowCreate:
    """SHOW CREATE TABLE name: the statement that made a relation."""

    name: Name
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Describe:
    name: Name
    span: Span = field(compare=False, repr=False)


class DropKind(Enum):
    STREAM = "STREAM"
    TABLE = "TABLE"
    VIEW = "VIEW"
    QUERY = "QUERY"


@dataclass(frozen=True, slots=True)
class Drop:
    kind: DropKind
    name: Name
    if_exists: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pause:
    name: Name
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Resume:
    name: Name
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SetOption:
    option: Option
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class QueryStatement:
    """A query as a statement of its own: its rows are shown."""

    query: Query
    span: Span = field(compare=False, repr=False)


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
