"""Expression texts -> what they resolve to, over one relation `o` with a column of every kind of type."""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.sql.aggregate_views import aggregate_call
from penstock.diagnostics import Diagnostic, Source
from penstock.parser import ast, parse
from penstock.planner.functions import is_aggregate, is_framed
from penstock.planner.plan import Aggregate
from penstock.planner.scalars import Typed, resolve, resolve_aggregate
from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TINYINT,
    Array,
    Decimal,
    Map,
    Struct,
    Type,
)

COLUMNS: tuple[tuple[str, Type], ...] = (
    ("t", TINYINT),
    ("sm", SMALLINT),
    ("i", INT),
    ("l", BIGINT),
    ("f", FLOAT),
    ("x", DOUBLE),
    ("p", Decimal(10, 2)),
    ("q", Decimal(38, 10)),
    ("r", Decimal(5, 0)),
    ("s", STRING),
    ("d", DATE),
    ("ts", TIMESTAMP),
    ("tod", TIME),
    ("b", BOOLEAN),
    ("bin", BINARY),
    ("a", Array(INT)),
    ("al", Array(BIGINT)),
    ("m", Map(STRING, INT)),
    ("st", Struct((("k", INT), ("v", STRING)))),
)
SCOPE = Scope(tuple(ScopeColumn("o", name, name, type_) for name, type_ in COLUMNS))


def expression(text: str) -> exp.Expression:
    """The syntax of a scalar expression."""
    (statement,) = parse(Source("<sql>", f"SELECT STREAM {text} AS v FROM o"))
    assert isinstance(statement, ast.QueryStatement)
    assert isinstance(statement.query, ast.Select)
    return statement.query.items[0].value


def calls_aggregate(node: exp.Expression) -> bool:
    return isinstance(node, exp.Filter | exp.WithinGroup) or (
        isinstance(node, exp.Anonymous) and is_aggregate(node.name)
    )


def resolved(text: str, scope: Scope = SCOPE) -> Typed | Aggregate:
    """What a text that is right resolves to; its findings fail the test."""
    node, report = expression(text), list[Diagnostic]()
    is_over_rows = calls_aggregate(node) or is_framed(node.name)
    found = resolve_aggregate(node, scope, report) if is_over_rows else resolve(node, scope, report)
    assert report == []
    assert found is not None
    return found


def refused(text: str, scope: Scope = SCOPE) -> list[Diagnostic]:
    """The findings about a text that is wrong, every one with a place inside it."""
    report: list[Diagnostic] = []
    assert resolve(expression(text), scope, report) is None
    assert report
    assert all(finding.labels for finding in report)
    return report


def spark_sql(value: Typed | Aggregate) -> str:
    """The resolved expression as Spark SQL."""
    match value:
        case Typed():
            return value.expression.sql("spark")
        case Aggregate() if value.entry.collecting is not None:
            return aggregate_call(value).sql("spark")
        case Aggregate():
            return exp.Anonymous(this=value.function, expressions=list(value.arguments)).sql("spark")


def columns_sql() -> str:
    """A relation `o` with one row of typed NULLs."""
    return "(SELECT " + ", ".join(f"CAST(NULL AS {type_}) AS {name}" for name, type_ in COLUMNS) + ") AS o"
