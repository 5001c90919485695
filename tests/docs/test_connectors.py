"""docs/connectors.md lists every connector with its options."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock import compile
from penstock.diagnostics import Source
from penstock.parser.format import format_script
from penstock.planner.connectors import CONNECTORS, ConnectorOption
from penstock.planner.durations import duration_text
from tests.house.files import ROOT

PAGE = ROOT / "docs" / "connectors.md"
SCRIPTS = ROOT / "examples" / "connectors"
RULES = {
    "files": "[Places](semantics/places.md#places), [Files](formats.md)",
    "datagen": "[Generated rows](semantics/places.md#generated-rows)",
    "kafka": "[Topics of Kafka](semantics/topics.md)",
    "postgres": "[Tables of databases](semantics/databases.md)",
    "mysql": "[Tables of databases](semantics/databases.md)",
    "sqlite": "[Tables of databases](semantics/databases.md)",
    "duckdb": "[Tables of databases](semantics/databases.md)",
    "delta": "[Tables of Delta Lake](semantics/delta-lake.md)",
}
"""Where the rules of a connector stand."""
HEAD = """# Connectors

`WITH (connector = '…', …)` says where rows come from or go to. The options in *italics* name the data. A checkpoint
belongs to that data, and a run with another value is refused ([R010](errors/R010.md)).

`ENV('NAME')` names a variable of the environment, `FILE('path')` a file. Only secrets are given in this way, and they
are never written in a script ([C020](errors/C020.md)). The scripts of this page lie in `examples/connectors/`.
"""


def sections() -> Iterator[str]:
    for connector in CONNECTORS:
        yield f"## {connector.name}"
        yield ""
        rules = f" Rules: {RULES[connector.name]}." if connector.name in RULES else ""
        yield f"{connector.doc[0].upper()}{connector.doc[1:]}.{rules}"
        yield ""
        yield f"```sql\n{read_script(connector.name)}```"
        yield ""
        if connector.options:
            yield "| option | takes | by default | meaning |"
            yield "|---|---|---|---|"
            yield from (row(option) for option in connector.options)
            yield ""
        if connector.column_options:
            yield "Options of a column, such as `fields.price.min` for the column `price`:"
            yield ""
            yield "| option | takes | by default | meaning |"
            yield "|---|---|---|---|"
            yield from (row(option) for option in connector.column_options)
            yield ""
        if connector.metadata:
            yield "METADATA columns of sources:"
            yield ""
            yield "| name | type | holds |"
            yield "|---|---|---|"
            yield from (f"| {each.key} | {each.type} | {each.doc} |" for each in connector.metadata)
            yield ""


def read_script(name: str) -> str:
    """A complete script that uses a connector."""
    return (SCRIPTS / f"{name}.sql").read_text(encoding="utf-8")


def row(option: ConnectorOption) -> str:
    name = f"*{option.name}*" if option.identifies else option.name
    return f"| {name} | {option.type} | {default(option)} | {option.doc} |"


def default(option: ConnectorOption) -> str:
    match option.default:
        case None:
            return "required" if option.required else ""
        case bool():
            return str(option.default).upper()
        case int() if option.type.kind == "INTERVAL":
            return duration_text(option.default)
        case int():
            return str(option.default)
        case _:
            return f"'{option.default}'"


def test_the_page_lists_every_option(request: pytest.FixtureRequest) -> None:
    page = "\n".join([HEAD, *sections()])
    if request.config.getoption("--accept"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page


@pytest.mark.parametrize("name", [connector.name for connector in CONNECTORS])
def test_the_script_of_a_connector_uses_it(name: str) -> None:
    script = read_script(name)
    assert f"connector = '{name}'" in script
    assert compile(script).queries
    assert format_script(Source(f"{name}.sql", script)) == script


def test_each_script_is_that_of_a_connector() -> None:
    assert sorted(path.stem for path in SCRIPTS.iterdir()) == sorted(connector.name for connector in CONNECTORS)


def test_the_page_says_how_print_is_not_as_in_flink() -> None:
    assert "without a `-U` before each `+U`" in PAGE.read_text(encoding="utf-8")
