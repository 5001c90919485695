"""A server with visits to a shop, and a browser that has logged in: what somebody has who wants figures."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.server.http.browser import ENTER, Browser, open_browser
from tests.server.served import ServedProcess, wait_for
from tests.server.visits import Visits

CELLS = (
    "return [...document.querySelectorAll('main tbody tr')].map((row) => [...row.cells].map((each) => each.innerText))"
)
TEXTS = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"
DATA = "document.querySelector('.chart').plot.data.map((each) => each.map((value) => value ?? null))"


@dataclass
class Shop:
    """A server with visits, a browser that has logged in, and a connection through PostgreSQL's door."""

    visits: Visits
    browser: Browser
    db: psycopg.Connection[Any]
    url: str

    def select(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self.db.execute(sql, parameters).fetchall()

    def value(self, sql: str, *parameters: Any) -> Any:
        ((value,),) = self.select(sql, *parameters)
        return value

    def open(self, address: str, text: str) -> Browser:
        """Goes to a page, from another one."""
        self.browser.run("location.hash = '#/rejected'")
        self.browser.wait_for("A late row is behind the watermark")
        self.browser.go(address, text)
        return self.browser

    def open_hourly(self, parameters: str = "") -> Browser:
        """The table `hourly`, with its count below it."""
        browser = self.open(f"#/tables/hourly{parameters}", "Chart of")
        browser.wait("return document.getElementById('range').textContent.includes(' of ')")
        browser.find(".chart canvas")
        return browser

    def cells(self, column: int) -> list[str]:
        return [row[column] for row in self.browser.run(CELLS)]

    def resize(self, width: int, height: int) -> None:
        self.browser.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def choose(self, selector: str, value: str) -> None:
        self.browser.run(
            "const each = document.querySelector(arguments[0]); each.value = arguments[1];"
            "each.dispatchEvent(new Event('change', { bubbles: true }))",
            *(selector, value),
        )

    def lines(self) -> dict[str, dict[int, float]]:
        """The lines of the chart: values by time."""
        times, *values = self.browser.run(f"return {DATA}")
        names = self.browser.run(TEXTS, ".legend button")
        found = (dict(zip(times, line, strict=True)) for line in values)
        return dict(zip(names, found, strict=True))


@contextmanager
def open_shop() -> Iterator[Shop]:
    """All rows have come when the body begins, two of them late and one malformed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL has a user of its own
        visits = Visits(folder)
        visits.write_days()
        with serve_visits(visits, folder) as shop:
            yield shop


@contextmanager
def serve_visits(visits: Visits, folder: Path) -> Iterator[Shop]:
    """The server over the visits, with a state folder beside them."""
    with ServedProcess(folder / "state", visits.script) as served, open_browser() as browser:
        served.wait_until_ready()
        with served.connect() as db, served.client() as http:
            wait_for(lambda: db.execute("SELECT count(*) FROM daily_countries").fetchall() != [(0,)])
            wait_for(lambda: db.execute("SELECT count(*) > 200 FROM hourly").fetchall() == [(True,)])
            visits.write_odd()
            late = "SELECT (status #>> '{inputs,0,late}')::int FROM penstock.query WHERE name = 'hourly'"
            wait_for(lambda: db.execute(late).fetchall() == [(2,)])
            browser.wait_seconds = 30  # Spark runs beside it
            browser.resize(1100)
            browser.open(str(http.base_url))
            token = http.headers["Authorization"].removeprefix("Bearer ")
            browser.type("#token", f"{token}{ENTER}")
            browser.find(".node")
            yield Shop(visits, browser, db, str(http.base_url))
