"""WithLate -> the result's rows and the late rows of the scans, one under the other."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import alias, column, null, select
from penstock.planner.plan import Expression, Node, WithLate


def late_view(node: WithLate, name: str, source: str, names: Mapping[Node, str]) -> View:
    """`names`: what the views of the scans are called; each has a `_split` with its late rows marked."""
    results = [each for each in node.schema if each.name.startswith("r")]
    lates = [each for each in node.schema if each.name.startswith("l")]
    tree: Expression = select(
        [
            alias(exp.Boolean(this=False), "is_late"),
            *(alias(column(each.name), r.name) for each, r in zip(node.input.schema, results, strict=True)),
            *(alias(null(each.type), each.name) for each in lates),
        ],
        source,
    )
    for scan, shown in node.late:
        rows = select(
            [
                alias(exp.Boolean(this=True), "is_late"),
                *(alias(null(each.type), each.name) for each in results),
                *(alias(value, each.name) for value, each in zip(shown, lates, strict=True)),
            ],
            f"{names[scan]}_split",
        ).where(column("_late"), copy=False)
        tree = exp.Union(this=tree, expression=rows, distinct=False)
    return View(name, print_sql(tree))
