"""What the parts of a program that name a connector have in common."""

from __future__ import annotations

from typing import TypeAlias

from penstock.planner.connectors import INTERMEDIATE, MEMORY, connector_of
from penstock.planner.plan import Value

Option: TypeAlias = tuple[str, Value]


class Connected:
    """What the connector of an Input, a QueryOutput or a RemoteView says of it."""

    __slots__ = ()
    connector: str
    options: tuple[Option, ...]

    @property
    def values(self) -> dict[str, Value]:
        """The options, and the defaults of options that are not set."""
        return {**connector_of(self.connector).defaults, **dict(self.options)}

    def number(self, option: str) -> int:
        """The value of an option that is a number or an interval in milliseconds."""
        value = self.values[option]
        assert isinstance(value, int), f"{option} is {value}"
        return value

    @property
    def identity(self) -> tuple[Option, ...]:
        """The options that say which data it is."""
        names = [each.name for each in connector_of(self.connector).options if each.identifies]
        return tuple(each for each in self.options if each[0] in names)

    @property
    def path_option(self) -> str | None:
        """The option that is a path in one of Spark's file systems, None if it is elsewhere."""
        return next((each.name for each in connector_of(self.connector).options if each.is_path), None)

    @property
    def folder(self) -> str | None:
        """The path of that option."""
        return None if self.path_option is None else str(dict(self.options)[self.path_option])

    @property
    def holds_rows(self) -> bool:
        """Whether its rows are still there when the process has ended."""
        return connector_of(self.connector).outlives_process

    @property
    def is_in_memory(self) -> bool:
        """Whether the process keeps its rows, and nobody else sees them."""
        return self.connector == MEMORY.name

    @property
    def counts_partitions(self) -> bool:
        """Whether the place itself has partitions, which can be counted there."""
        return connector_of(self.connector).counts_partitions

    @property
    def is_intermediate(self) -> bool:
        """Whether queries of the program write and read it."""
        return is_intermediate(self.connector)


def is_intermediate(connector: str) -> bool:
    """Whether queries of the program write and read it."""
    return connector == INTERMEDIATE.name
