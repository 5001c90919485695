"""An Output and a DataFrame -> a writer that Spark can start."""

from penstock.runtime.sinks.console import ConsoleSink
from penstock.runtime.sinks.files import FilesSink
from penstock.runtime.sinks.memory import Kept, MemorySink

__all__ = ["ConsoleSink", "FilesSink", "Kept", "MemorySink"]
