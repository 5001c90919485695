"""docs/connectors.md lists every connector with its options."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.planner.connectors import CONNECTORS, ConnectorOption
from penstock.planner.durations import duration_text

PAGE = Path(__file__).parents[2] / "docs" / "connectors.md"
HEAD = """# Connectors

`WITH (connector = '…', …)` says where rows come from or go to. The options in *italics* name the data. A checkpoint
belongs to that data, and a run with another value is refused ([R010](errors/R010.md)).

`ENV('NAME')` names a variable of the environment, `FILE('path')` a file. Only secrets are given in this way, and they
are never written in a script ([C020](errors/C020.md)).
"""


def sections() -> Iterator[str]:
    for connector in CONNECTORS:
        yield f"## {connector.name}"
        yield ""
        yield f"{connector.doc[0].upper()}{connector.doc[1:]}."
        yield ""
        yield "| option | takes | by default | meaning |"
        yield "|---|---|---|---|"
        yield from (row(option) for option in connector.options)
        yield ""
        if connector.metadata:
            yield "METADATA columns of sources:"
            yield ""
            yield "| name | type | holds |"
            yield "|---|---|---|"
            yield from (f"| {each.key} | {each.type} | {each.doc} |" for each in connector.metadata)
            yield ""


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
