"""Checked plans as data: operators over KStream, KTable and WTable."""

from typing import TypeAlias

from penstock.planner.plan.aggregate import (
    Cumulate,
    Distinct,
    Emission,
    GroupAggregate,
    Hop,
    SessionWindow,
    Tumble,
    Window,
    WindowAggregate,
)
from penstock.planner.plan.change import ChangedTable, DeleteRows, PutRows, RowChange, UpdateRows
from penstock.planner.plan.column_filter import ColumnFilter
from penstock.planner.plan.column_sums import ColumnSums
from penstock.planner.plan.expressions import (
    Aggregate,
    Expression,
    Named,
    Sorting,
    conjunction,
    conjuncts,
    find_columns,
    make_column,
)
from penstock.planner.plan.intermediate_rows import Intermediate
from penstock.planner.plan.join import BoundEnd, IntervalJoin, JoinType, TimeBound
from penstock.planner.plan.late import WithLate
from penstock.planner.plan.node import Column, EventTime, KStream, KTable, Node, Shape, WTable, anchor_times
from penstock.planner.plan.over import Frame, FramedAggregate, Over, OverRows, RowsFrame
from penstock.planner.plan.rank import Ranked, Ranking, TableRanked
from penstock.planner.plan.read import OneRow, PlainJoin, Snapshot, Sort
from penstock.planner.plan.rekey import Rekey
from penstock.planner.plan.remote import LookupColumn, LookupKey, RemoteLookup
from penstock.planner.plan.scan import Origin, Scan
from penstock.planner.plan.script_results import Answer, Explained, Listing, RunningQuery, Sink
from penstock.planner.plan.script_settings import DEFAULTS, Settings, StateStore
from penstock.planner.plan.secret_option import Options, SecretOption, Value
from penstock.planner.plan.stateless import AssignWindows, Filter, GroupingSets, Project, UnionAll, Unnest
from penstock.planner.plan.table import ForeignKeyJoin, Latest, Side, Step, TableJoin, TableLookup

Stateless: TypeAlias = (
    Scan
    | Filter
    | Project
    | AssignWindows
    | GroupingSets
    | Unnest
    | Rekey
    | UnionAll
    | RemoteLookup
    | WithLate
    | Intermediate
)
Stateful: TypeAlias = (
    WindowAggregate
    | GroupAggregate
    | Distinct
    | IntervalJoin
    | Over
    | OverRows
    | Ranked
    | Latest
    | TableLookup
    | ForeignKeyJoin
    | TableJoin
    | TableRanked
)
"""The operators that keep state. Spark runs one of them in a query."""
Operator: TypeAlias = Stateless | Stateful
"""The operators of queries that run. Code that tells them apart ends in `assert_never`."""
ReadOperator: TypeAlias = (
    Snapshot | OneRow | Filter | Project | UnionAll | GroupingSets | Unnest | GroupAggregate | PlainJoin | Sort
)
"""The operators of reads."""

__all__ = [
    "DEFAULTS",
    "Aggregate",
    "Answer",
    "AssignWindows",
    "BoundEnd",
    "ChangedTable",
    "Column",
    "ColumnFilter",
    "ColumnSums",
    "Cumulate",
    "DeleteRows",
    "Distinct",
    "Emission",
    "EventTime",
    "Explained",
    "Expression",
    "Filter",
    "ForeignKeyJoin",
    "Frame",
    "FramedAggregate",
    "GroupAggregate",
    "GroupingSets",
    "Hop",
    "Intermediate",
    "IntervalJoin",
    "JoinType",
    "KStream",
    "KTable",
    "Latest",
    "Listing",
    "LookupColumn",
    "LookupKey",
    "Named",
    "Node",
    "OneRow",
    "Operator",
    "Options",
    "Origin",
    "Over",
    "OverRows",
    "PlainJoin",
    "Project",
    "PutRows",
    "Ranked",
    "Ranking",
    "ReadOperator",
    "Rekey",
    "RemoteLookup",
    "RowChange",
    "RowsFrame",
    "RunningQuery",
    "Scan",
    "SecretOption",
    "SessionWindow",
    "Settings",
    "Shape",
    "Side",
    "Sink",
    "Snapshot",
    "Sort",
    "Sorting",
    "StateStore",
    "Stateful",
    "Stateless",
    "Step",
    "TableJoin",
    "TableLookup",
    "TableRanked",
    "TimeBound",
    "Tumble",
    "UnionAll",
    "Unnest",
    "UpdateRows",
    "Value",
    "WTable",
    "Window",
    "WindowAggregate",
    "WithLate",
    "anchor_times",
    "conjunction",
    "conjuncts",
    "find_columns",
    "make_column",
]
