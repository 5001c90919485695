"""The console in Chromium: what a person does there, by keyboard, in a narrow window, light and dark."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from psycopg import sql

from tests.odd_names import draw_name
from tests.server.http.browser import CHROMIUM, DRIVER, ENTER, SPACE, TAB, Browser, open_browser
from tests.server.http.conftest import Door
from tests.server.http.test_statements import ORDERS, TOTALS, send

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="apt-get install chromium chromium-driver")

PAGES = {
    "#/": "totals",
    "#/queries": "totals",
    "#/queries/totals": "GroupAggregate",
    "#/sql": "Ctrl+Enter",
    "#/tables": "Author",
    "#/tables/views_per_minute": "Chart of",
    "#/rejected": "Rejected by totals",
}
AUDIT = Path(__file__).with_name("audit.js").read_text(encoding="utf-8")
"""What is wrong with a page for those who see, hear or read it otherwise."""


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def browser(window: Browser, door: Door) -> Browser:
    """A browser that has logged in, in front of a query and some tables."""
    send(door, f"{ORDERS};{TOTALS}")
    for minute in range(5):
        start = datetime(2025, 1, 1, 10, minute, tzinfo=UTC)
        for page in ("home", "cart"):
            values = start, start + timedelta(minutes=1), page, minute + 3
            door.database.execute("INSERT INTO views_per_minute VALUES (%s, %s, %s, %s)", *values)
    window.resize(1100)
    window.prefer("light")
    window.open(f"{door.url}/")
    window.wait("return document.querySelector('h1') !== null")
    if window.run("return document.querySelector('#token') !== null"):
        window.type("#token", f"pst_sam{ENTER}")
    window.wait_for("Queries")
    window.run("sessionStorage.clear()")
    return window


def test_a_token_logs_in_and_out(browser: Browser) -> None:
    browser.click("#logout")
    browser.wait_for("penstock token create --user NAME --role reader")
    assert "secrets/token of the server's state folder" in browser.run(
        "return document.querySelector('main').textContent"
    )
    browser.type("#token", f"pst_nobody{ENTER}")
    browser.wait_for("the token is not valid")
    browser.type("#token", f"pst_sam{ENTER}")
    browser.wait_for("totals")
    assert browser.run("return document.cookie") == ""


def test_rows_change_as_they_are_looked_at(browser: Browser, door: Door) -> None:
    door.database.execute("INSERT INTO totals VALUES ('lamp', 1.5, 1)")
    browser.go("#/tables/totals", "lamp")
    browser.wait_for("live")
    door.database.execute("INSERT INTO totals VALUES ('<img src=x onerror=alert(1)>', 2.5, 1)")
    browser.wait_for("<img src=x onerror=alert(1)>")
    browser.wait_for("live: 1 changes")
    browser.wait_for("Rows 1–2 of 2")
    assert browser.run("return document.querySelector('main img')") is None


def test_a_query_is_paused_resumed_and_dropped_by_keyboard(browser: Browser, door: Door) -> None:
    def tab_to(text: str) -> None:
        for _ in range(30):
            browser.press(TAB)
            if browser.run("return document.activeElement.textContent") == text:
                outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle")
                assert outline == "solid", f"the focus on {text} is not seen"
                return
        raise AssertionError(f"{text} is not reached")

    def await_state(state: str) -> None:
        browser.wait("return document.querySelector('.state').textContent === arguments[0]", state)

    browser.go("#/queries", "State rows")
    tab_to("totals")
    browser.press(ENTER)
    browser.wait_for("GroupAggregate")
    assert browser.run("return document.activeElement.tagName") == "H1"
    tab_to("Pause")
    browser.press(SPACE)
    await_state("paused")
    assert browser.run("return document.activeElement.textContent") == "Resume"
    browser.press(SPACE)
    await_state("running")
    tab_to("Drop")
    browser.press(ENTER)
    browser.wait_for("Drop totals?")
    browser.wait_for("totals is dropped with its rows.")
    tab_to("Drop it")
    browser.press(ENTER)
    browser.wait_for("No query runs")
    assert [each.text for each in door.engine.statements[-3:]] == [
        *("PAUSE QUERY totals", "RESUME QUERY totals", "DROP QUERY totals"),
    ]


def test_the_first_key_skips_to_the_content(browser: Browser) -> None:
    browser.run("document.activeElement.blur(); getSelection().removeAllRanges()")
    browser.open(browser.run("return location.origin") + "/docs")
    browser.wait_for("/v1/statements")
    browser.run("history.back()")
    browser.wait_for("totals")
    browser.run("document.querySelector('.skip').focus()")
    assert browser.run("return document.querySelector('.skip').getBoundingClientRect().left >= 0")
    browser.press(ENTER)
    assert browser.run("return document.activeElement.id") == "main"


def test_reasons_and_bounds_are_shown(browser: Browser) -> None:
    browser.go("#/queries/totals", "GroupAggregate")
    text = browser.text()
    assert "The watermark has not passed a window." in text
    assert "one row for each product" in text
    assert browser.run("return document.querySelectorAll('.plan path').length") == 2
    assert "CREATE TABLE totals" in text


def test_a_last_error_links_its_page(browser: Browser, door: Door) -> None:
    door.database.execute("UPDATE penstock.query SET state = 'HELD', code = 'R020', message = 'division by zero'")
    browser.go("#/rejected", "Rejected by totals")
    browser.go("#/queries", "R020: division by zero")
    browser.click("main a[href='/errors/R020']")
    browser.wait_for("# R020: division by zero")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_read(browser: Browser, scheme: str) -> None:
    """Labels, contrast, and no scrolling aside in a narrow window."""
    browser.prefer(scheme)
    faults: dict[str, Any] = {}
    for address, text in PAGES.items():
        browser.resize(1100)
        browser.go(address, text)
        faults[address] = browser.run(AUDIT)
        browser.resize(360)  # charts follow in the next frame
        browser.wait("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert faults == {address: [] for address in PAGES}


def test_no_request_leaves_the_server(browser: Browser, door: Door) -> None:
    assert browser.requests()
    browser.complaints()
    browser.open(f"{door.url}/docs")
    browser.wait_for("/v1/statements")
    browser.open(f"{door.url}/")
    for address, text in PAGES.items():
        browser.go(address, text)
    urls = browser.requests()
    assert len(urls) > 15
    assert [url for url in urls if not url.startswith((f"{door.url}/", "data:"))] == []
    assert [text for text in browser.complaints() if "404" not in text] == []


def test_a_removed_token_leads_to_the_login(browser: Browser, door: Door) -> None:
    door.database.execute("DELETE FROM penstock.token")
    browser.go("#/tables", "Log in")


def test_rejected_rows_are_kept_and_it_says_where(browser: Browser, door: Door) -> None:
    status = {
        "inputs": [{"name": "orders", "in": 9, "rejected": 4, "used": 5}],
        "tables": [{"name": "totals", "puts": 3, "rejected": 2}],
    }
    door.database.execute("UPDATE penstock.query SET status = %s WHERE name = 'totals'", json.dumps(status))
    browser.go("#/rejected", "Rejected by totals")
    assert "4 rows of its inputs are kept with their reasons" in browser.text()
    assert "not kept" not in browser.text()


@pytest.mark.parametrize("seed", range(3))
def test_odd_names_are_text(browser: Browser, door: Door, seed: int) -> None:
    draw = random.Random(seed)
    name, column = draw_name(draw) + "<img src=x onerror=alert(1)>"[:20], draw_name(draw)
    made = sql.SQL("CREATE TABLE {} ({} text PRIMARY KEY)").format(sql.Identifier(name[:20]), sql.Identifier(column))
    door.database.execute(made.as_string().replace("%", "%%"))
    name = name[:20]
    door.database.execute(
        "INSERT INTO penstock.relation (name, shown, kind, definition, author, columns) "
        "VALUES (%s, %s, 'TABLE', 'CREATE NONSENSE', 'ada', '[]')",
        *(name, name),
    )
    try:
        place = sql.Identifier(name).as_string().replace("%", "%%")
        door.database.execute(f"GRANT SELECT ON {place} TO penstock_reader")
        door.database.execute(f"INSERT INTO {place} VALUES (%s)", "a row")
        browser.go("#/tables", "Author")
        browser.wait(
            "return [...document.querySelectorAll('td a')].some((each) => each.textContent === arguments[0])", name
        )
        browser.go("#/tables/%", "Table %")  # as somebody may have typed it
        browser.go(f"#/tables/{quote(name, safe='')}", "a row")
        heads = "return [...document.querySelectorAll('th')].map((each) => each.textContent)"
        assert browser.run(heads) == [column]
        assert browser.run("return document.querySelectorAll('main img').length") == 0
    finally:
        door.database.execute(f"DROP TABLE {place}")
