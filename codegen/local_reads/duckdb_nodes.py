"""The operators of a read -> one SELECT of DuckDB for each. Their columns are c0, c1 …, so that no name is told it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from sqlglot import exp

from penstock.codegen.local_reads.duckdb_aggregates import lower_aggregate
from penstock.codegen.local_reads.duckdb_expressions import COLUMN, PLAIN_TYPES, LocalScope, UnknownError, lower
from penstock.codegen.program import LocalRead, LocalTable
from penstock.codegen.sql.printing import print_duckdb
from penstock.codegen.sql.scan_views import input_of
from penstock.codegen.sql.trees import number, select, table
from penstock.planner.connectors import connector_of
from penstock.planner.plan import (
    Column,
    Expression,
    Filter,
    GroupAggregate,
    GroupingSets,
    JoinType,
    KStream,
    KTable,
    Node,
    OneRow,
    PlainJoin,
    Project,
    ReadOperator,
    Scan,
    Snapshot,
    Sort,
    UnionAll,
    Unnest,
)
from penstock.planner.plan.scan import DELETES
from penstock.planner.plan.walk import fold_plan
from penstock.planner.types import Decimal

_JOINS = {
    JoinType.INNER: "INNER",
    JoinType.LEFT: "LEFT",
    JoinType.RIGHT: "RIGHT",
    JoinType.FULL: "FULL",
    JoinType.SEMI: "SEMI",
    JoinType.ANTI: "ANTI",
}


def make_local_read(root: Node) -> LocalRead | None:
    """The read for DuckDB, None if a part of it is not known to mean the same there."""
    lowering = _Lowering()
    try:
        lowering.lower_root(root)
    except UnknownError:
        return None
    *above, last = (print_duckdb(each) for each in lowering.selects)
    named = ", ".join(f"r{place} AS (\n{sql}\n)" for place, sql in enumerate(above))
    columns = tuple((each.name, str(each.type)) for each in root.schema)
    sql = f"WITH {named}\n{last}" if named else last
    return LocalRead(tuple(lowering.tables), sql, tuple(lowering.constants.items()), columns)


class _Lowering:
    """The SELECTs so far, r0, r1 …; the tables that they read, t0, t1 …; and the values of their parameters."""

    def __init__(self) -> None:
        self.selects: list[Expression] = []
        self.tables: list[LocalTable] = []
        self.constants: dict[str, object] = {}

    def lower_root(self, root: Node) -> None:
        """Raises UnknownError."""
        names: dict[Node, str] = {}

        def lower_node(node: Node, below: tuple[str, ...]) -> str:
            if node not in names:
                self._add(node, self._select(node, *below))
                names[node] = f"r{len(self.selects) - 1}"
            return names[node]

        if isinstance(root, Project) and isinstance(root.input, Sort):
            # What is above a Sort has to keep its order, and is one SELECT with it.
            scope = self._scope(root.input.input, fold_plan(root.input.input, lower_node))
            self._add(root, self._sort(root.input, scope, [item.value for item in root.items]))
        else:
            fold_plan(root, lower_node)

    def _add(self, node: Node, tree: Expression) -> None:
        _check_types(node.schema)
        self.selects.append(tree)

    def _scope(self, node: Node, name: str) -> LocalScope:
        return LocalScope.over(node.schema, name, self.constants)

    def _select(self, node: Node, *below: str) -> Expression:
        scopes = [self._scope(each, name) for each, name in zip(node.inputs, below, strict=True)]
        assert isinstance(node, ReadOperator), f"the planner let a {type(node).__name__} into a read"
        match node:
            case Snapshot():
                return self._read(node)
            case OneRow():
                return exp.Select(expressions=_number(exp.Boolean(this=True) for _ in node.schema))
            case Filter():
                tree = select(_number(scopes[0].columns), below[0])
                return tree.where(lower(node.condition, scopes[0])[0], copy=False)
            case Project():
                values = [lower(item.value, scopes[0], item.type) for item in node.items]
                return select(_number(value for value, _ in values), below[0])
            case UnionAll():
                return self._unite(node, scopes)
            case GroupAggregate():
                return self._group(node, scopes[0], below[0])
            case PlainJoin():
                return self._join(node, scopes, below)
            case Sort():
                return self._sort(node, scopes[0], [])
            case Unnest() | GroupingSets():
                raise UnknownError
            case _:
                assert_never(node)

    def _read(self, node: Snapshot) -> Expression:
        origin, connector = node.origin, connector_of(node.origin.connector)
        if not connector.outlives_process:  # its rows are at hand, and are no records
            _check_types(origin.columns)
            return self._add_table(node, KStream(), None, (), None)
        if (
            not connector.parses_records
            or connector.changes_rows
            or origin.computed_time is not None
            or origin.metadata
        ):
            raise UnknownError
        _check_types(origin.columns)
        shape = KStream() if node.key is None else KTable(node.key)
        required = [each.name for each in origin.columns if not each.nullable]
        if node.key is not None:
            required += [*origin.key, *([] if origin.newest is None else [origin.newest])]
        event_time = origin.time if origin.delay is not None else None
        return self._add_table(node, shape, node.key, required, event_time)

    def _add_table(
        self,
        node: Snapshot,
        shape: KStream | KTable,
        key: tuple[str, ...] | None,
        required: Iterable[str],
        event_time: str | None,
    ) -> Expression:
        origin, name = node.origin, f"t{len(self.tables)}"
        scan = Scan(schema=node.schema, shape=shape, span=node.span, origin=origin)
        columns = tuple(each.name for each in node.schema)
        given = (input_of(scan, name), columns, key, origin.newest, origin.operation, DELETES)
        self.tables.append(LocalTable(name, *given, tuple(required), event_time))
        return select((exp.column(f"{COLUMN}{place}") for place, _ in enumerate(node.schema)), name)

    def _unite(self, node: UnionAll, scopes: list[LocalScope]) -> Expression:
        trees: list[Expression] = [select(_number(each.columns), each.relation) for each in scopes]
        if any(scope.types != [each.type for each in node.schema] for scope in scopes):
            raise UnknownError
        united, *others = trees
        for other in others:
            united = exp.Union(this=united, expression=other, distinct=False)
        return united

    def _group(self, node: GroupAggregate, scope: LocalScope, source: str) -> Expression:
        keys = {key.name: lower(key.value, scope, key.type)[0] for key in node.keys}
        values = {**keys, **{each.name: lower_aggregate(each, scope) for each in node.aggregates}}
        tree = select(_number(values[each.name] for each in node.schema), source)
        return tree.group_by(*(key.copy() for key in keys.values()), copy=False) if keys else tree

    def _join(self, node: PlainJoin, scopes: list[LocalScope], below: tuple[str, ...]) -> Expression:
        left, right = below
        if left == right:
            raise UnknownError
        both = scopes[0].beside(scopes[1])
        items = [both.find(each.name)[0] for each in node.schema]
        tree = select(_number(items), left)
        condition, _ = lower(node.condition, both)
        return tree.join(table(right), on=condition, join_type=_JOINS[node.type], copy=False)

    def _sort(self, node: Sort, scope: LocalScope, values: list[Expression]) -> Expression:
        """The rows in order; `values`: what is shown of each, all columns if there are none."""
        shown = [lower(each, scope)[0] for each in values] if values else scope.columns
        tree = select(_number(shown), scope.relation)
        for each in node.order_by:
            by, _ = lower(each.value, scope)
            ordered = exp.Ordered(this=by, desc=each.descending, nulls_first=each.nulls_first)
            tree = tree.order_by(ordered, copy=False)
        if node.limit is not None:
            tree = tree.limit(number(node.limit), copy=False)
        return tree.offset(number(node.skipped), copy=False) if node.skipped else tree


def _check_types(columns: Iterable[Column]) -> None:
    if not all(each.type in PLAIN_TYPES or isinstance(each.type, Decimal) for each in columns):
        raise UnknownError


def _number(values: Iterable[Expression]) -> list[Expression]:
    """The values as c0, c1 …."""
    return [exp.Alias(this=value.copy(), alias=exp.to_identifier(f"{COLUMN}{n}")) for n, value in enumerate(values)]
