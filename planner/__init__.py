"""AST + catalog -> checked plans. The door: `plan`, and the texts of EXPLAIN PLAN and STATE."""

from penstock.planner.catalog import Catalog
from penstock.planner.lower.options import Settings
from penstock.planner.lower.script import PlannedScript, plan
from penstock.planner.plan_text import plan_text, state_text

__all__ = ["Catalog", "PlannedScript", "Settings", "plan", "plan_text", "state_text"]
