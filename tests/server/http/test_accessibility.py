"""axe finds nothing on any page of the console: wide and light, narrow and dark."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.clients.install import CLIENTS, install
from tests.server.http.browser import CHROMIUM, DRIVER, Browser
from tests.server.http.conftest import Door
from tests.server.http.test_console import PAGES
from tests.server.http.test_console import browser as browser
from tests.server.http.test_console import window as window

pytestmark = [
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="apt-get install chromium chromium-driver"),
    pytest.mark.skipif(bool(CLIENTS["axe"].missing), reason="npm is not installed"),
]

RUN = """
    const done = arguments[arguments.length - 1];
    const show = ({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`);
    axe.run(document).then(({ violations }) => done(violations.flatMap(show)), (error) => done([String(error)]));
"""


@pytest.fixture(scope="module")
def axe() -> str:
    return (install("axe") / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def find_faults(browser: Browser, axe: str) -> list[str]:
    browser.run(f"if (!window.axe) {{ {axe} }}")
    found: list[str] = browser.call("POST", "/execute/async", script=RUN, args=[])
    return found


@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (390, "dark")])
def test_nobody_is_kept_out(browser: Browser, door: Door, axe: str, width: int, scheme: str) -> None:
    browser.prefer(scheme)
    browser.resize(width)
    faults: dict[str, Any] = {}
    for address, text in {**PAGES, "#/tables/views_per_minute?page=home": "page = home"}.items():
        browser.go(address, text)
        faults[address] = find_faults(browser, axe)
    for path, text in (("/docs", "/v1/statements"), ("/nowhere", "404"), ("/v1/tables/secrets", "403")):
        browser.open(f"{door.url}{path}")
        browser.wait_for(text)
        faults[path] = find_faults(browser, axe)
    browser.open(f"{door.url}/")
    browser.wait("return document.querySelector('.node') !== null")
    browser.click("#logout")
    browser.wait_for("penstock token create")
    faults["login"] = find_faults(browser, axe)
    assert {page: found for page, found in faults.items() if found} == {}
    assert len(faults) == len(PAGES) + 5


def test_axe_finds_what_is_wrong(browser: Browser, axe: str) -> None:
    browser.run("document.querySelector('main').append(document.createElement('input'))")
    assert [fault.partition(":")[0] for fault in find_faults(browser, axe)] == ["label"]
