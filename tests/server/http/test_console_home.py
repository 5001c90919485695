"""The home page: relations and queries as a graph with figures, which leads to the page of each."""

from __future__ import annotations

import pytest

from tests.server.http.browser import CHROMIUM, DRIVER, ENTER, TAB, Browser
from tests.server.http.conftest import Door
from tests.server.http.test_console import browser as browser
from tests.server.http.test_console import window as window

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="apt-get install chromium chromium-driver")

TEXTS = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"
PLACE = (
    "const { x, y } = document.querySelector(`[data-focus='node ${arguments[0]}'] rect`).getBoundingClientRect();"
    "return [x, y]"
)


def go_home(browser: Browser) -> None:
    browser.go("#/", "Pipeline")
    browser.find(".node")


def test_boxes_have_the_figures_of_their_queries(browser: Browser) -> None:
    go_home(browser)
    assert browser.run(TEXTS, ".node:nth-of-type(2) text") == [
        *("totals", "table", "running", "12.5/s in", "3/s out", "10 s behind", "3 late", "2 rejected")
    ]
    assert browser.run(TEXTS, ".node.source text") == ["orders", "source · files"]
    told = "return [...document.querySelectorAll('.node')].map((each) => each.getAttribute('aria-description'))"
    assert browser.run(told) == ["feeds totals", "reads orders"]
    assert browser.run("return document.querySelectorAll('.edge').length") == 1


def test_rows_go_from_left_to_right_and_a_narrow_window_has_a_column(browser: Browser) -> None:
    go_home(browser)
    (x, _), (x2, _) = (browser.run(PLACE, name) for name in ("orders", "totals"))
    assert x2 > x + 200
    browser.resize(390)
    browser.run("location.hash = '#/tables'")
    go_home(browser)
    (x, y), (x2, y2) = (browser.run(PLACE, name) for name in ("orders", "totals"))
    assert abs(x2 - x) < 5
    assert y2 > y + 60
    assert browser.run(TEXTS, ".edge") == []
    assert "from orders" in browser.run(TEXTS, "[data-focus='node totals'] text")
    assert browser.run("return document.documentElement.scrollWidth") <= 390


def test_a_click_and_enter_lead_to_the_query(browser: Browser) -> None:
    go_home(browser)
    browser.click("[data-focus='node totals']")
    browser.wait_for("GroupAggregate")
    assert browser.run(TEXTS, "h2")[:1] == ["Why"]
    assert {"Bounds", "SQL", "Plan"} <= set(browser.run(TEXTS, "h2"))
    assert "one row for each product" in browser.run(TEXTS, "[aria-label=Bounds] td")
    browser.click("[data-focus=rows]")
    browser.wait_for("Table totals")
    browser.run("history.back()")
    go_home(browser)
    for _ in range(20):
        browser.press(TAB)
        if browser.run("return document.activeElement.dataset.focus") == "node totals":
            break
    assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press(ENTER)
    browser.wait_for("Query totals")


def test_a_query_that_is_held_stands_out(browser: Browser, door: Door) -> None:
    door.database.execute("UPDATE penstock.query SET state = 'HELD', code = 'R020', message = 'division by zero'")
    go_home(browser)
    browser.wait_for("R020: division by zero")
    assert browser.run(TEXTS, "main li") == ["totals held R020: division by zero"]
    assert browser.run(TEXTS, ".pipeline .held") == ["held"]
    door.database.execute("UPDATE penstock.query SET state = 'RUNNING', code = NULL, message = NULL")
    browser.wait("return document.querySelectorAll('main li').length === 0")


def test_the_focus_stays_where_figures_change(browser: Browser, door: Door) -> None:
    go_home(browser)
    browser.run("document.querySelector(\"[data-focus='node totals']\").focus()")
    door.database.execute("""UPDATE penstock.query SET status = '{"input_rate": 77}'""")
    browser.wait_for("77/s in")
    assert browser.run("return document.activeElement.dataset.focus") == "node totals"


def test_names_that_every_object_of_the_browser_has(browser: Browser, door: Door) -> None:
    names = ["__proto__", "constructor", "hasownproperty", "tostring"]
    for name, read in zip(names, ["orders", *names], strict=False):
        door.database.execute(
            "INSERT INTO penstock.relation (name, shown, kind, definition, author, columns)"
            " VALUES (%s, %s, 'VIEW', 'CREATE VIEW', 'sam', '[]')",
            *(name, name),
        )
        door.database.execute(
            "INSERT INTO penstock.lineage (relation, is_declared, reads) VALUES (%s, false, %s)", name, [read]
        )
    go_home(browser)
    browser.wait_for("__proto__")
    places = [browser.run(PLACE, name) for name in ("orders", *names)]
    assert [x for x, _ in places] == sorted({x for x, _ in places})
    assert browser.run("return document.querySelectorAll('.edge').length") == 5
    assert browser.run("return document.getElementById('notice').textContent") == ""


def test_nothing_has_been_declared(browser: Browser, door: Door) -> None:
    for table in ("relation", "query", "lineage"):
        door.database.execute(f"DELETE FROM penstock.{table}")
    browser.run("location.hash = '#/tables'")
    browser.go("#/", "Nothing has been declared.")
