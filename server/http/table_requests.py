"""Rows of a table or a view in the schema `public`: what is asked of them, as SQL with parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection, sql
from psycopg.rows import tuple_row

from penstock.diagnostics import nearest
from penstock.server.http.door_catalog import Row
from penstock.server.http.paging import list_behind, write_key
from penstock.server.http.problems import Problem
from penstock.server.parameterized import ParameterizedName

RESERVED = ("limit", "after", "order", "format")
"""Parameters that are no filters."""

_SHAPE = """
SELECT relation.relname AS name, attribute.attname AS column,
       format_type(attribute.atttypid, attribute.atttypmod) AS type,
       array_position(index.indkey::int2[], attribute.attnum) AS place, NOT attribute.attnotnull AS nullable
FROM pg_catalog.pg_class AS relation
JOIN pg_catalog.pg_attribute AS attribute ON attrelid = relation.oid AND attnum > 0 AND NOT attisdropped
LEFT JOIN LATERAL (
    SELECT indkey FROM pg_catalog.pg_index AS own
    WHERE indrelid = relation.oid AND indisvalid AND indpred IS NULL AND indexprs IS NULL
      -- Before version 15 there is no such column.
      AND (indisprimary OR (to_jsonb(own) ->> 'indnullsnotdistinct')::boolean)
    ORDER BY indisprimary DESC, indexrelid LIMIT 1) AS index ON true
WHERE relation.oid = (
    SELECT oid FROM pg_catalog.pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') AND relname IN (%s, lower(%s))
    ORDER BY relname = lower(relname) LIMIT 1)
ORDER BY attnum
"""


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table as PostgreSQL has it."""

    name: str
    columns: tuple[tuple[str, str], ...]
    """Names and types of PostgreSQL."""
    key: tuple[str, ...]
    """The columns of the primary key in order, or of a unique constraint in which NULL is a value. None of a view."""
    nullable: frozenset[str] = frozenset()
    """The columns that may be NULL."""

    def require(self, column: str) -> str:
        """The column.

        Raises:
            Problem: there is none of this name.
        """
        names = [name for name, _ in self.columns]
        if column not in names:
            guess = nearest(column, names)
            raise Problem(400, f"unknown column {column}", hint=guess and f"did you mean {guess}?")
        return column


@dataclass(frozen=True, slots=True)
class TableRequest:
    """Which rows are asked for."""

    limit: int
    after: tuple[str, ...] = ()
    """The row that the rows come behind: its values of the columns of the order, as texts. NULL is `\\N`."""
    order: tuple[str, ...] = ()
    """Columns, with `-` before one that descends; several have commas between them. The primary key completes them."""
    filters: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Columns, each with texts. The column has to equal one of them.

    Behind `column>` or `column<` it has to be at least, or at most, each of them.
    """
    counts: bool = False
    """Whether to count all rows that the filters let pass."""


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows of a table, in the order that was asked for."""

    shape: TableShape
    rows: list[tuple[Any, ...]]
    next: tuple[str, ...] | None
    """The `after` of the rows behind them. None if there are none, or if the table has no key."""
    count: int | None = None
    """All rows that the filters let pass, on all pages. None if nobody asked."""


async def read_rows(connection: AsyncConnection[Row], name: str, request: TableRequest) -> TableRows:
    """The rows of a table, with the rights of the connection.

    Raises:
        Problem: there is no such table or column, or the order has no rows behind others.
        psycopg.Error: a text is no value of its column; the role may not read the table; it takes too long.
    """
    shape = await find_shape(connection, name)
    query, parameters, order = write_select(shape, request)
    async with connection.cursor(row_factory=tuple_row) as cursor:
        await cursor.execute(query, parameters)
        rows = await cursor.fetchall()
        count = None
        if request.counts:
            await cursor.execute(*write_count(shape, request))
            (count,) = await cursor.fetchone() or (None,)
    more = len(rows) > request.limit
    rows = rows[: request.limit]
    names = [column for column, _ in shape.columns]
    places = [names.index(column) for column, _ in order]
    following = tuple(write_key(rows[-1][place]) for place in places) if more and rows and shape.key else None
    return TableRows(shape, rows, following, count)


async def find_shape(connection: AsyncConnection[Row], name: str) -> TableShape:
    """The columns of a table or view of `public`.

    Raises:
        Problem: there is none of this name.
    """
    rows = await (await connection.execute(_SHAPE, (name, name))).fetchall()
    if not rows:
        raise Problem(404, f"unknown table {name}")
    keyed = sorted((row["place"], row["column"]) for row in rows if row["place"] is not None)
    columns = tuple((row["column"], row["type"]) for row in rows)
    nullable = frozenset(row["column"] for row in rows if row["nullable"])
    return TableShape(rows[0]["name"], columns, tuple(column for _, column in keyed), nullable)


def write_select(
    shape: TableShape, request: TableRequest
) -> tuple[sql.Composed, list[Any], tuple[tuple[str, bool], ...]]:
    """The SELECT with its parameters, and the columns of its order, each with whether it descends.

    One more row than asked for tells whether there are more.

    Raises:
        Problem: a column is not there, or `after` has another number of values than the order has columns.
    """
    order = complete_order(shape, read_order(shape, request.order))
    if request.after and not shape.key:
        raise Problem(400, f"{shape.name} has no primary key, so its rows have no pages")
    if len(request.after) not in (0, len(order)):
        hint = ", ".join(column for column, _ in order)
        raise Problem(400, f"after takes {_count(len(order))}, one for each column of the order", hint=hint)
    conditions, parameters = write_filters(shape, request)
    begin = sql.SQL("SELECT {} FROM ").format(sql.SQL(", ").join(ParameterizedName(name) for name, _ in shape.columns))
    end = sql.SQL(" LIMIT {}").format(sql.Literal(request.limit + 1))
    if order:
        sorting = (sql.SQL("{} DESC" if down else "{}").format(ParameterizedName(column)) for column, down in order)
        end = sql.SQL(" ORDER BY {}").format(sql.SQL(", ").join(sorting)) + end

    def write_part(conditions: Sequence[sql.Composable]) -> sql.Composed:
        return begin + _write_from(shape, conditions) + end

    if not request.after:
        return write_part(conditions), parameters, order
    stretches = list_behind(order, shape.nullable, request.after)
    parts = [write_part([*conditions, each.condition]) for each in stretches]
    parameters = [value for each in stretches for value in (*parameters, *each.parameters)]
    if len(parts) == 1:
        return parts[0], parameters, order
    union = sql.SQL(" UNION ALL ").join(sql.SQL("({})").format(part) for part in parts)
    return begin + sql.SQL("({}) AS behind").format(union) + end, parameters, order


def write_count(shape: TableShape, request: TableRequest) -> tuple[sql.Composed, list[Any]]:
    """The SELECT that counts all rows that the filters let pass, with its parameters; may raise Problem."""
    conditions, parameters = write_filters(shape, request)
    return sql.SQL("SELECT count(*) FROM ") + _write_from(shape, conditions), parameters


def write_filters(shape: TableShape, request: TableRequest) -> tuple[list[sql.Composable], list[Any]]:
    """The conditions of a request with their parameters.

    Raises:
        Problem: a column is not there.
    """
    names = {name for name, _ in shape.columns}
    conditions: list[sql.Composable] = []
    parameters: list[Any] = []
    for column, values in request.filters:
        if column not in names and column.endswith((">", "<")):
            bound = sql.SQL("{} >= %s" if column.endswith(">") else "{} <= %s")
            conditions += [bound.format(ParameterizedName(shape.require(column[:-1])))] * len(values)
        else:
            choices = sql.SQL(", ").join([sql.Placeholder()] * len(values))
            conditions.append(sql.SQL("{} IN ({})").format(ParameterizedName(shape.require(column)), choices))
        parameters += values
    return conditions, parameters


def _write_from(shape: TableShape, conditions: Sequence[sql.Composable]) -> sql.Composed:
    where = sql.SQL(" WHERE ") + sql.SQL(" AND ").join(conditions) if conditions else sql.SQL("")
    return sql.SQL("public.{}").format(ParameterizedName(shape.name)) + where


def complete_order(shape: TableShape, order: Sequence[tuple[str, bool]]) -> tuple[tuple[str, bool], ...]:
    """An order in which each row has its own place: the columns of the primary key come behind those asked for."""
    places: dict[str, bool] = {}
    for column, descends in (*order, *((column, False) for column in shape.key)):
        places.setdefault(column, descends)
    return tuple(places.items())


def read_order(shape: TableShape, texts: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """Columns, each with whether it descends. A name may have commas, or begin with `-`.

    Raises:
        Problem: a column is not there.
    """
    names = {name for name, _ in shape.columns}
    order: list[tuple[str, bool]] = []
    for text in texts:
        if text in names or (text.startswith("-") and text[1:] in names):
            parts = [text]
        else:
            parts = [each.strip() for each in text.split(",") if each.strip()]
        for part in parts:
            descends = part not in names and part.startswith("-")
            order.append((shape.require(part[1:] if descends else part), descends))
    return tuple(order)


def _count(values: int) -> str:
    return f"{values} value{'' if values == 1 else 's'}"
