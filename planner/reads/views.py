"""The views that a read uses, in the order in which they can be planned: each once, however often it is read.

A view may read a view that reads another one, hundreds of times. Plans are not made by recursion through all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from penstock.parser import ast
from penstock.planner.catalog import Catalog, Derived
from penstock.planner.plan import KStream, Node


def plan_views(query: ast.Query, catalog: Catalog, plan: Callable[[Derived], Node], known: dict[str, Node]) -> None:
    """Adds the plans of all views below a query to `known`, by their lower-case names. Raises CompileError.

    `plan` plans one view. The views that it reads are known by then.
    """
    pending = list(reversed([*list_views(query, catalog)]))
    while pending:
        view = pending[-1]
        missing = [each for each in list_views(view.query, catalog) if each.name.lower() not in known]
        if missing:
            pending += reversed(missing)
            continue
        pending.pop()
        if view.name.lower() not in known:
            known[view.name.lower()] = plan(view)


def list_views(query: ast.Query, catalog: Catalog) -> Iterator[Derived]:
    """The views that the text of a query names. A table of WITH may have the name of one."""
    pending: list[Any] = [query]
    named: dict[str, None] = {}
    common: set[str] = set()
    while pending:
        part = pending.pop()
        if isinstance(part, ast.CommonTable):
            common.add(part.name.folded)
        if isinstance(part, ast.Table):
            named[part.name.folded] = None
        elif isinstance(part, msgspec.Struct):
            pending += [getattr(part, name) for name in part.__struct_fields__ if name != "span"]
        elif isinstance(part, tuple | list):
            pending += part
    for name in named:
        entry = catalog.find(name)
        if name not in common and isinstance(entry, Derived) and is_planned_anew(entry):
            yield entry


def is_planned_anew(entry: Derived) -> bool:
    """Whether a read plans the definition over the tables as they are now. A stream has no rows of now."""
    return entry.kind == "VIEW" and (entry.is_constant or not isinstance(entry.node.shape, KStream))
