"""Tables of SQLite."""

from functools import partial

from penstock.runtime.connectors.databases import TableSink
from penstock.runtime.connectors.protocol import RuntimeConnector

CONNECTOR = RuntimeConnector(sink=partial(TableSink, "sqlite"))
