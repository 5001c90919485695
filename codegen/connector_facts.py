"""What a Program has to know of a connector, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.planner.plan.secret_option import Options


@dataclass(frozen=True, slots=True)
class ConnectorFacts:
    """A connector as the runtime sees it. The fields mean what they mean in the planner's `Connector`."""

    defaults: Options
    """The values of options that have one where they are not set."""
    identifying: tuple[str, ...]
    """The options that say which data it is. `fields` stands for all options of columns, such as `fields.price.min`."""
    limiting: tuple[str, ...]
    """The options that limit what a micro-batch reads."""
    path_option: str | None
    packages: tuple[tuple[str, str], ...]
    is_database: bool
    looks_up: bool
    outlives_process: bool
    is_in_memory: bool
    """Whether the process keeps its rows, and nobody else sees them."""
    is_intermediate: bool
    """Whether queries of the program write and read it."""
    counts_partitions: bool
