"""What the parts of a program that name a connector have in common."""

from __future__ import annotations

from typing import TypeAlias

from penstock.codegen.known_connectors import FACTS
from penstock.planner.plan.secret_option import Value

Option: TypeAlias = tuple[str, Value]
DATABASES = tuple(name for name, each in FACTS.items() if each.is_database)
PACKAGES = {name: dict(each.packages) for name, each in FACTS.items() if each.packages}
"""By connector: modules of Python, and what pip installs them from; empty where Penstock itself needs them."""


class Connected:
    """What the connector of an Input, a QueryOutput or a RemoteView says of it."""

    __slots__ = ()
    connector: str
    options: tuple[Option, ...]

    @property
    def values(self) -> dict[str, Value]:
        """The options, and the defaults of options that are not set."""
        return {**dict(FACTS[self.connector].defaults), **dict(self.options)}

    def number(self, option: str) -> int:
        """The value of an option that is a number or an interval in milliseconds."""
        value = self.values[option]
        assert isinstance(value, int), f"{option} is {value}"
        return value

    @property
    def identity(self) -> tuple[Option, ...]:
        """The options that say which data it is."""
        names = FACTS[self.connector].identifying
        return tuple(each for each in self.options if each[0].partition(".")[0] in names)

    @property
    def path_option(self) -> str | None:
        """The option that is a path in one of Spark's file systems, None if it is elsewhere."""
        return FACTS[self.connector].path_option

    @property
    def folder(self) -> str | None:
        """The path of that option."""
        return None if self.path_option is None else str(dict(self.options)[self.path_option])

    @property
    def holds_rows(self) -> bool:
        """Whether its rows are still there when the process has ended."""
        return FACTS[self.connector].outlives_process

    @property
    def is_in_memory(self) -> bool:
        """Whether the process keeps its rows, and nobody else sees them."""
        return FACTS[self.connector].is_in_memory

    @property
    def counts_partitions(self) -> bool:
        """Whether the place itself has partitions, which can be counted there."""
        return FACTS[self.connector].counts_partitions

    @property
    def is_intermediate(self) -> bool:
        """Whether queries of the program write and read it."""
        return is_intermediate(self.connector)


def is_intermediate(connector: str) -> bool:
    """Whether queries of the program write and read it."""
    return FACTS[connector].is_intermediate
