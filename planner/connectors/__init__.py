"""All connectors, in the order in which messages list them."""

from penstock.diagnostics import show_options
from penstock.planner.connectors.blackhole import BLACKHOLE
from penstock.planner.connectors.console import CONSOLE
from penstock.planner.connectors.datagen import DATAGEN
from penstock.planner.connectors.delta import DELTA
from penstock.planner.connectors.duckdb import DUCKDB
from penstock.planner.connectors.file_formats import find_unsupported_column
from penstock.planner.connectors.files import EXAMPLE, FILES
from penstock.planner.connectors.intermediate import INTERMEDIATE
from penstock.planner.connectors.kafka import KAFKA
from penstock.planner.connectors.memory import MEMORY
from penstock.planner.connectors.mysql import MYSQL
from penstock.planner.connectors.option import Connector, ConnectorOption, Metadata, OptionType
from penstock.planner.connectors.postgres import POSTGRES
from penstock.planner.connectors.print import PRINT
from penstock.planner.connectors.rate import RATE
from penstock.planner.connectors.sqlite import SQLITE
from penstock.planner.connectors.tail import TAIL
from penstock.planner.plan.generated_columns import FIELDS

CONNECTORS: tuple[Connector, ...] = (
    *(FILES, RATE, DATAGEN, CONSOLE, PRINT, MEMORY, BLACKHOLE),
    *(KAFKA, POSTGRES, MYSQL, SQLITE, DUCKDB, DELTA),
)
DATABASES = tuple(each.name for each in CONNECTORS if each.is_database)
UNRELEASED = {"iceberg": "Iceberg's newest release for Spark, 1.12.0, is for Spark 4.1. It fails on Spark 4.3."}
"""Connectors that wait for a release of others: their names, and which one is missing."""
INTERNAL = (INTERMEDIATE, TAIL)
"""Connectors that no script can name."""

_OPTIONS = [option for connector in CONNECTORS for option in connector.options]
_SECRET = {option.name for option in _OPTIONS if option.secret}
show_options(option.name for option in _OPTIONS if option.name not in _SECRET)
show_options(f"{FIELDS}.{option.name}" for connector in CONNECTORS for option in connector.column_options)


def show_databases() -> str:
    """The connectors of databases as hints name them."""
    *others, last = (f"'{name}'" for name in DATABASES)
    return f"{', '.join(others)} or {last}"


def find_connector(name: str) -> Connector | None:
    """The connector that a script calls `name`, without regard to case."""
    return next((connector for connector in CONNECTORS if connector.name == name.lower()), None)


def connector_of(name: str) -> Connector:
    """The connector of that name in a plan."""
    return next(connector for connector in (*CONNECTORS, *INTERNAL) if connector.name == name)


__all__ = [
    "CONNECTORS",
    "CONSOLE",
    "DATABASES",
    "EXAMPLE",
    "FILES",
    "INTERMEDIATE",
    "INTERNAL",
    "MEMORY",
    "POSTGRES",
    "RATE",
    "TAIL",
    "UNRELEASED",
    "Connector",
    "ConnectorOption",
    "Metadata",
    "OptionType",
    "connector_of",
    "find_connector",
    "find_unsupported_column",
    "show_databases",
]
