"""AST + catalog -> checked plans.

The door: `plan_script` and `plan_read`, the texts of EXPLAIN, the rules of state and changes, the types of what groups
of tables add up and keep.
"""

from penstock.planner.catalog import Catalog
from penstock.planner.durations import duration_text, interval_sql
from penstock.planner.explain.estimate_text import NO_RUN, KeptState, LastRun
from penstock.planner.explain.graph import plan_graph
from penstock.planner.explain.plan import plan_text, state_text
from penstock.planner.fuse import find_fused
from penstock.planner.lower.retraction import find_argument_type
from penstock.planner.partitions.text import mermaid, partitions_text
from penstock.planner.passes.merge_partials import merge_partials
from penstock.planner.passes.reject_rows import list_failures
from penstock.planner.plan import Settings
from penstock.planner.reads.select import plan_read
from penstock.planner.scalars.find_type import find_type
from penstock.planner.script.plan_script import PlannedScript, plan_script
from penstock.planner.script.show import list_columns
from penstock.planner.state import sends_changes, state_store

__all__ = [
    "NO_RUN",
    "Catalog",
    "KeptState",
    "LastRun",
    "PlannedScript",
    "Settings",
    "duration_text",
    "find_argument_type",
    "find_fused",
    "find_type",
    "interval_sql",
    "list_columns",
    "list_failures",
    "merge_partials",
    "mermaid",
    "partitions_text",
    "plan_graph",
    "plan_read",
    "plan_script",
    "plan_text",
    "sends_changes",
    "state_store",
    "state_text",
]
