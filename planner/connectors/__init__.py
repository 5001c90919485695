"""The connectors, by hand, in one tuple."""

from penstock.planner.connectors.databases import POSTGRES
from penstock.planner.connectors.files import FILES
from penstock.planner.connectors.formats import check_format, check_null, find_unheld
from penstock.planner.connectors.kafka import KAFKA
from penstock.planner.connectors.local import CONSOLE, MEMORY, RATE
from penstock.planner.connectors.option import Connector, ConnectorOption, OptionType, Value

CONNECTORS: tuple[Connector, ...] = (FILES, RATE, CONSOLE, MEMORY, KAFKA, POSTGRES)


def find_connector(name: str) -> Connector | None:
    """The connector of that name, without regard to case."""
    return next((connector for connector in CONNECTORS if connector.name == name.lower()), None)


__all__ = [
    "CONNECTORS",
    "Connector",
    "ConnectorOption",
    "OptionType",
    "Value",
    "check_format",
    "check_null",
    "find_connector",
    "find_unheld",
]
