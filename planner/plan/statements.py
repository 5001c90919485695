"""What a script asks to be run: each result with the place that it goes to."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.diagnostics.source import Span
from penstock.planner.plan.aggregate import Emission
from penstock.planner.plan.node import Node



@dataclass(frozen=True, slots=True)
class Sink:
    """Where rows go: a connector with checked options. `name` is what the user calls the place."""

    name: str
    connector: str
    options: tuple[tuple[str, str | int | bool], ...]


@dataclass(frozen=True, slots=True)
class RunningQuery:
    """A plan to keep running. `key`: the columns by which newer rows replace older ones, empty for plain appends."""

    name: str
    root: Node
    sink: Sink
    emission: Emission
    key: tuple[str, ...]
    span: Span = field(compare=False, repr=False)
