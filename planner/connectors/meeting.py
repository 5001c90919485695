"""Whether what one declaration reads is what another one writes."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from penstock.planner.connectors import connector_of
from penstock.planner.connectors.option import Connector
from penstock.planner.plan import Options

REJECTED = "_rejected"
"""What the folder of rejected rows is called behind the folder of the rows."""


class Reader(msgspec.Struct, frozen=True):
    """The places that a reader reads. Patterns and links are resolved once."""

    connector: Connector
    places: tuple[str, ...]

    def sees(self, writer: Writer) -> bool:
        """Whether rows that are written come back to the reader."""
        if self.connector is not writer.connector and not (has_paths(self.connector) and has_paths(writer.connector)):
            return False
        return any(self.connector.sees(place, each) for place in self.places for each in writer.places)


class Writer(msgspec.Struct, frozen=True):
    """The places that a writer writes."""

    connector: Connector
    places: tuple[str, ...]


def make_reader(connector: str, options: Options) -> Reader:
    """The reader of a declared place."""
    found = connector_of(connector)
    return Reader(found, found.list_read(options))


def make_writer(connector: str, options: Options, inputs: Iterable[str] = ()) -> Writer:
    """The writer of a declared place. `inputs`: the relations whose rejected rows lie in folders beside it."""
    found = connector_of(connector)
    place = found.place(options)
    if place is None:
        return Writer(found, ())
    rejected = [f"{place}{REJECTED}/{name}" for name in inputs] if has_paths(found) else []
    return Writer(found, (place, *rejected))


def has_paths(connector: Connector) -> bool:
    """Whether its places are folders."""
    return any(each.is_path for each in connector.own_options)
