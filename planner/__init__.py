"""AST + catalog -> checked plans.

The door: `plan_script` and `plan_read`, the texts of EXPLAIN, the rule of changes, the types of what groups
of tables add up and keep. EXPLAIN is loaded with the first of its names, because `penstock check` needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from penstock.planner.catalog import Catalog
from penstock.planner.durations import duration_text, interval_sql
from penstock.planner.lower.retraction import find_argument_type
from penstock.planner.partitions.text import mermaid, partitions_text
from penstock.planner.passes.merge_partials import merge_partials
from penstock.planner.passes.reject_rows import list_failures
from penstock.planner.plan import Settings
from penstock.planner.reads.select import plan_read
from penstock.planner.scalars.find_type import find_type
from penstock.planner.script.plan_script import PlannedScript, plan_script
from penstock.planner.script.show import list_columns
from penstock.planner.state import sends_changes

if TYPE_CHECKING:
    from penstock.planner.explain.estimate_text import NO_RUN, KeptState, LastRun
    from penstock.planner.explain.graph import plan_graph
    from penstock.planner.explain.physical_text import physical_text
    from penstock.planner.explain.plan import plan_text, state_text

__all__ = [
    "NO_RUN",
    "Catalog",
    "KeptState",
    "LastRun",
    "PlannedScript",
    "Settings",
    "duration_text",
    "find_argument_type",
    "find_type",
    "interval_sql",
    "list_columns",
    "list_failures",
    "merge_partials",
    "mermaid",
    "partitions_text",
    "physical_text",
    "plan_graph",
    "plan_read",
    "plan_script",
    "plan_text",
    "sends_changes",
    "state_text",
]

_HOMES = {
    "NO_RUN": "explain.estimate_text",
    "KeptState": "explain.estimate_text",
    "LastRun": "explain.estimate_text",
    "physical_text": "explain.physical_text",
    "plan_graph": "explain.graph",
    "plan_text": "explain.plan",
    "state_text": "explain.plan",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'penstock.planner' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
