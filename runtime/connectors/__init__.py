"""The connector of a name -> its module in this folder, with the constant CONNECTOR. All databases share one."""

from importlib import import_module

from penstock.codegen.connector_options import DATABASES
from penstock.codegen.program import Input, RemoteView, SparkQuery
from penstock.runtime.connectors.protocol import (
    HoldingSink,
    RuntimeConnector,
    RuntimeLookup,
    RuntimeSink,
    RuntimeSource,
)
from penstock.runtime.spark.packages import check_packages


def connector_of(name: str) -> RuntimeConnector:
    """The connector of that name.

    Raises RunError if a package that it needs is not installed.
    """
    check_packages(name)
    found = import_module(f"{__name__}.{'database_tables' if name in DATABASES else name}").CONNECTOR
    assert isinstance(found, RuntimeConnector), f"{name}.CONNECTOR is none"
    return found


def source_of(source: Input) -> RuntimeSource:
    """Where the rows of an input come from."""
    make = connector_of(source.connector).source
    assert make is not None, f"codegen let the source {source.connector} through"
    return make(source)


def lookup_of(view: RemoteView) -> RuntimeLookup:
    """Where the rows of a view are looked up."""
    make = connector_of(view.connector).lookup
    assert make is not None, f"codegen let the lookup {view.connector} through"
    return make(view)


def sink_of(query: SparkQuery) -> RuntimeSink:
    """Where the rows of a query go."""
    make = connector_of(query.output.connector).sink
    assert make is not None, f"codegen let the sink {query.output.connector} through"
    return make(query)


__all__ = [
    "HoldingSink",
    "RuntimeConnector",
    "RuntimeLookup",
    "RuntimeSink",
    "RuntimeSource",
    "connector_of",
    "lookup_of",
    "sink_of",
    "source_of",
]
