"""Generated rows, the terminal and the program's memory, for ejected programs."""

from __future__ import annotations

from penstock.codegen.program import Input, SparkQuery
from penstock.codegen.python_literals import literal


def read_rate(source: Input) -> str:
    """A call of `read_rate`."""
    columns = ", ".join(f"{literal(name)}: {literal(type_)}" for name, type_ in source.columns)
    return f"read_rate(spark, {{{columns}}}, rows_per_second={source.values['rows_per_second']})"


def write_console(query: SparkQuery) -> str:
    """A call of `write_console`."""
    return f"write_console(rows, {literal(query.name)}, limit={query.output.values['rows']})"


def write_memory(query: SparkQuery) -> str:
    """A call of `write_memory`."""
    given = [literal(query.name), f"limit={query.output.values['rows']}"]
    if query.mode == "update":
        given.append(f"key=[{', '.join(map(literal, query.key))}]")
        given += [] if query.operation is None else [f"operation={literal(query.operation)}"]
    return f"write_memory(rows, {', '.join(given)})"


def print_memory(query: SparkQuery) -> str:
    """A call of `print_memory`."""
    return f"print_memory({literal(query.name)})"
