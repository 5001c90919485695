"""docs/python-api.md has the docstrings of what `import penstock` offers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from types import FunctionType
from typing import Any

import pytest

import penstock
from penstock.client import RemoteAnswer, RemoteQuery
from penstock.runtime.progress.status import Status
from tests.house.files import ROOT

PAGE = ROOT / "docs" / "python-api.md"
HEAD = """# Python API

`import penstock` loads neither the compiler nor Spark; both come with the first use. [http.md](http.md#python) shows a
session with a server, and notebooks. This page is made from docstrings by `.venv/bin/pytest --accept tests/docs`.

```python
import penstock

sql = '''
CREATE STREAM orders (id BIGINT KEY, product STRING, price DECIMAL(10, 2))
WITH (connector = 'files', path = 'data/orders', format = 'json');
CREATE TABLE totals AS SELECT product, SUM(price) AS total FROM orders GROUP BY product;
'''
compilation = penstock.compile(sql)  # raises CompileError

with penstock.connect() as session:
    (query,) = session.submit(sql)
    rows = session.sql("SELECT * FROM totals ORDER BY total DESC LIMIT 10")
    rows.to_pandas()
```
"""
FIRST = ("compile", "connect", "Session", "QueryHandle", "Rows")
RESULTS = {"Status": Status, "RemoteQuery": RemoteQuery, "RemoteAnswer": RemoteAnswer}
"""What methods return, and nobody makes."""
DATA = {"Catalog", "CompileError", "Diagnostic", "RunError"}
"""Classes whose methods are for Penstock itself."""
SECTION = re.compile(r"^(?:Args|Raises|Returns|Yields):$")
ENTRY = re.compile(r"^    (?P<name>[\w, ]+): (?P<text>.*)$")


def sections() -> Iterator[str]:
    rest = [name for name in penstock.__all__ if name not in FIRST]
    offered: dict[str, Any] = {name: getattr(penstock, name) for name in (*FIRST, *rest)}
    for name, each in (offered | RESULTS).items():
        yield f"## {name}"
        if not inspect.isclass(each):
            yield f"```python\n{show_signature(name, each)}\n```\n"
        yield show_docstring(each)
        for member, value in [] if name in DATA else list_members(each):
            yield f"### {name}.{member}"
            if inspect.isfunction(value):
                yield f"```python\n{show_signature(member, value)}\n```\n"
            yield show_docstring(value)


def list_members(kind: Any) -> list[tuple[str, Any]]:
    """The methods and properties of a class that have a docstring."""
    members = vars(kind).items() if inspect.isclass(kind) else ()
    return [(name, each) for name, each in members if not name.startswith("_") and is_documented(each)]


def is_documented(member: Any) -> bool:
    return isinstance(member, (FunctionType, property, cached_property)) and bool(member.__doc__)


def show_signature(name: str, function: Callable[..., Any]) -> str:
    """`name(a: int, *, b: str = "x") -> str`, one parameter a line where it is long."""
    signature = inspect.signature(function)
    parts: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        star = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}".replace("'", '"')
        if parameter.name != "self":
            parts.append(f"{star}{parameter.name}: {parameter.annotation}{default}")
    end = f" -> {signature.return_annotation}"
    line = f"{name}({', '.join(parts)}){end}"
    return line if len(line) <= 100 else f"{name}(\n    " + ",\n    ".join(parts) + f",\n){end}"


def show_docstring(documented: Any) -> str:
    """A docstring as Markdown: what it says of arguments and exceptions is a list."""
    lines: list[str] = []
    for line in (inspect.getdoc(documented) or "").splitlines():
        entry = ENTRY.match(line)
        if SECTION.match(line):
            lines += [f"**{line}**", ""]
        elif entry:
            lines.append(f"- `{entry['name']}`: {entry['text']}")
        else:
            lines.append(re.sub("^ {8}", "  ", line))
    return "\n".join(lines) + "\n"


def test_the_page_has_all_docstrings(request: pytest.FixtureRequest) -> None:
    page = "\n".join([HEAD, *sections()])
    if request.config.getoption("--accept"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page


def test_the_script_of_the_page_is_accepted() -> None:
    (sql,) = re.findall(r"'''(.*?)'''", HEAD, re.DOTALL)
    assert len(penstock.compile(sql).queries) == 1
