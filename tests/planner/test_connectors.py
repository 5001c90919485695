"""What a connector can do decides what is written there, whatever it is called."""

from __future__ import annotations

import pytest

from penstock.codegen.known_connectors import FACTS
from penstock.compilation import compile
from penstock.diagnostics import CompileError
from penstock.planner import connectors
from penstock.planner.connectors import Connector

GROUPS = "SELECT product, COUNT(*) AS n FROM orders GROUP BY product"
KINDS = {
    "a": Connector("a", "a log", (), appends=True),
    "u": Connector("u", "a store without deletes", (), appends=True, upserts=True),
    "d": Connector("d", "a store", (), appends=True, upserts=True, deletes=True),
    "r": Connector("r", "a feed", (), reads_stream=True),
}


def script(query: str, connector: str) -> str:
    return f"""
CREATE STREAM orders (id BIGINT, product STRING) WITH (connector = 'rate');
CREATE TABLE t WITH (connector = '{connector}') AS {query};
"""


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connectors, "CONNECTORS", (*connectors.CONNECTORS, *KINDS.values()))
    for name in KINDS:
        monkeypatch.setitem(FACTS, name, FACTS["sqlite"])


@pytest.mark.parametrize(("query", "connector"), [(GROUPS, "u"), (GROUPS, "d"), (f"{GROUPS} HAVING COUNT(*) < 3", "d")])
def test_a_changing_table_is_written_where_rows_replace_others(query: str, connector: str) -> None:
    (written,) = compile(script(query, connector)).program.queries
    assert (written.mode, written.key, written.output.connector) == ("update", ("product",), connector)


@pytest.mark.parametrize(
    ("query", "connector", "reason"),
    [
        (GROUPS, "a", "a can only be appended to, and this table changes"),
        (f"{GROUPS} HAVING COUNT(*) < 3", "u", "u cannot delete rows, and rows of this table cease to exist"),
        (GROUPS, "r", "cannot be written"),
    ],
)
def test_a_table_is_refused_where_its_changes_cannot_be_written(query: str, connector: str, reason: str) -> None:
    with pytest.raises(CompileError, match=reason):
        compile(script(query, connector))
