"""A declared stream or table -> what a look at its first records is told, without Spark."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.codegen.local_reads.duckdb_expressions import COLUMN, LocalScope, UnknownError, lower
from penstock.codegen.record_reasons import NO_KEY, NO_SEQUENCE, NULL_IN
from penstock.codegen.sampled import Computed, Sampling
from penstock.codegen.sql.printing import print_duckdb
from penstock.codegen.sql.scan_views import input_of
from penstock.codegen.sql.trees import select
from penstock.planner.catalog import Declared
from penstock.planner.plan import Column, KStream, KTable, Origin, Scan

STORED = "stored"
"""DuckDB's name for the columns that records hold."""


def lower_sampling(relation: Declared) -> Sampling:
    """What is read, what a row must have, and the columns that are computed, as far as DuckDB computes them."""
    origin = relation.origin
    is_table = relation.kind == "TABLE"
    shape = KTable(origin.key) if is_table else KStream()
    scan = Scan(schema=origin.columns, shape=shape, span=relation.span, origin=origin)
    columns = [each for each in origin.columns if origin.computed_time is None or each.name != origin.time]
    computed, unknown = _compute(relation, columns)
    items = [each.name for each in relation.items] or [each.name for each in origin.columns]
    time = origin.time if origin.delay is not None and origin.time not in unknown else None
    return Sampling(
        input_of(scan, STORED),
        tuple((each.name, str(each.type)) for each in columns),
        tuple(_list_required(origin, is_table=is_table)),
        time,
        computed,
        tuple(name for name in items if name not in unknown),
        tuple(name for name in items if name in unknown),
    )


def _list_required(origin: Origin, *, is_table: bool) -> list[tuple[str, str]]:
    """The columns in which NULL sets a row aside, each with the reason, in the order in which they are looked at."""
    required = [(each, NO_KEY) for each in origin.key] if is_table else []
    if is_table and origin.newest is not None:
        required.append((origin.newest, NO_SEQUENCE))
    filled = {*(origin.key if is_table else ()), *dict(origin.metadata)}
    others = [each.name for each in origin.columns if not each.nullable and each.name not in filled]
    return [*required, *((name, NULL_IN.format(column=name)) for name in others)]


def _compute(relation: Declared, columns: Sequence[Column]) -> tuple[tuple[Computed, ...], set[str]]:
    """The computed columns as SQL of DuckDB, and the names of other ones, which it may compute differently."""
    origin = relation.origin
    stored = {each.name for each in origin.columns}
    given = [] if origin.computed_time is None or origin.time is None else [(origin.time, origin.computed_time)]
    given += [(each.name, each.value) for each in relation.items if each.name not in stored]
    computed, unknown = [], set()
    for name, value in given:
        constants: dict[str, object] = {}
        try:
            tree, type_ = lower(value, LocalScope.over(columns, STORED, constants))
        except UnknownError:
            unknown.add(name)
            continue
        tree = exp.Alias(this=tree, alias=exp.to_identifier(f"{COLUMN}0"))
        computed.append(Computed(name, str(type_), print_duckdb(select([tree], STORED)), tuple(constants.items())))
    return tuple(computed), unknown
