"""Tables in the console: order, filters, time, pages, files, and charts with gaps."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.server.http.browser import CHROMIUM, DRIVER, ENTER, Browser
from tests.server.http.conftest import Door
from tests.server.http.test_console import browser as browser
from tests.server.http.test_console import window as window

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="apt-get install chromium chromium-driver")

LEFT, RIGHT = "\ue012", "\ue014"
COLUMN = "return [...document.querySelectorAll('tbody tr')].map((row) => row.cells[arguments[0]].textContent)"
SHOWN = COLUMN.replace("return ", "return String(") + ")"
RANGE = "return document.getElementById('range')?.textContent === arguments[0]"
DATA = "document.querySelector('.chart').plot.data.map((each) => each.map((value) => value ?? null))"


def add_windows(door: Door, hours: list[tuple[int, str, int]], length: int = 1) -> None:
    start = datetime(2025, 1, 2, tzinfo=UTC)
    rows = [(start + timedelta(hours=hour), start + timedelta(hours=hour + length), page, n) for hour, page, n in hours]
    with door.database.connection.cursor() as cursor:
        cursor.executemany("INSERT INTO windows_by_page VALUES (%s, %s, %s, %s)", rows)


@pytest.fixture
def by_page(door: Door) -> Iterator[None]:
    """A windowed table whose key begins with another column, as tables of the engine do."""
    door.database.execute(
        "CREATE TABLE windows_by_page (window_start timestamptz, window_end timestamptz, page text, n bigint, "
        "PRIMARY KEY (page, window_start, window_end))"
    )
    door.database.execute("GRANT SELECT ON windows_by_page TO penstock_reader")
    yield
    door.database.execute("DROP TABLE windows_by_page")


def open_table(browser: Browser, rows: str, parameters: str = "") -> None:
    browser.run("location.hash = '#/tables'")
    browser.run("location.hash = arguments[0]", f"#/tables/windows_by_page{parameters}")
    browser.wait(RANGE, rows)


def choose(browser: Browser, selector: str, value: str) -> None:
    browser.find(selector)
    browser.run(
        "const each = document.querySelector(arguments[0]); each.value = arguments[1];"
        "each.dispatchEvent(new Event('change', { bubbles: true }))",
        *(selector, value),
    )


def add_filter(browser: Browser, column: str, sign: str, value: str) -> None:
    choose(browser, "#filter-column", column)
    choose(browser, "#filter-sign", sign)
    browser.type("#filter-value", f"{value}{ENTER}")


def test_pages_of_the_newest_windows(browser: Browser, door: Door, by_page: None) -> None:
    """Not by the key: the windows of one page would fill the first rows."""
    add_windows(door, [(hour, page, hour) for hour in range(150) for page in ("United Kingdom", "US")])
    open_table(browser, "Rows 1–200 of 300")
    pages, starts = browser.run(COLUMN, 2), browser.run(COLUMN, 0)
    assert pages.count("US") == 100
    assert starts == sorted(starts, reverse=True)
    assert starts[0] == "2025-01-08 05:00:00Z"
    browser.click("[data-focus=next]")
    browser.wait(RANGE, "Rows 201–300 of 300")
    starts += browser.run(COLUMN, 0)
    assert starts == sorted(starts, reverse=True)
    assert starts[-1] == "2025-01-02 00:00:00Z"
    assert browser.run("return document.activeElement.dataset.focus") == "next"
    browser.click("[data-focus=next]")  # there is none
    browser.click("[data-focus=previous]")
    browser.wait(RANGE, "Rows 1–200 of 300")
    assert browser.run(COLUMN, 0) == starts[:200]


def test_a_heading_orders_up_then_down_then_as_usual(browser: Browser, door: Door, by_page: None) -> None:
    add_windows(door, [(hour, "a", n) for hour, n in enumerate([3, 1, 2])])
    open_table(browser, "Rows 1–3 of 3")
    for expected, sort in ((["1", "2", "3"], "ascending"), (["3", "2", "1"], "descending"), (["2", "1", "3"], None)):
        browser.click("[data-focus='head n']")
        browser.wait(f"{SHOWN} === arguments[1]", 3, ",".join(expected))
        assert browser.run("return document.querySelectorAll('th')[3].getAttribute('aria-sort')") == sort
    choose(browser, "#order", '["n"]')
    browser.wait("return location.hash.endsWith('?order=n')")
    browser.wait(f"{SHOWN} === arguments[1]", 3, "1,2,3")


def test_filters_narrow_rows_count_chart_and_file(browser: Browser, door: Door, by_page: None) -> None:
    add_windows(door, [(hour, page, hour) for hour in range(10) for page in ("a", "b & c=d")])
    open_table(browser, "Rows 1–20 of 20")
    add_filter(browser, "page", "", "b & c=d")
    browser.wait(RANGE, "Rows 1–10 of 10")
    add_filter(browser, "n", ">", "5")
    browser.wait(RANGE, "Rows 1–5 of 5")
    assert set(browser.run(COLUMN, 2)) == {"b & c=d"}
    browser.wait(f"return String({DATA}[1]) === '5,6,7,8,9'")
    chips = browser.run("return [...document.querySelectorAll('.chips li')].map((each) => each.firstChild.data.trim())")
    assert chips == ["page = b & c=d", "n ≥ 5"]
    # The address has them, for a colleague or a reload.
    browser.call("POST", "/refresh")
    browser.wait(RANGE, "Rows 1–5 of 5")
    browser.click(".chips button[aria-label='Remove the filter page = b & c=d']")
    browser.wait(RANGE, "Rows 1–10 of 10")
    add_filter(browser, "n", "", "many")
    browser.wait_for('invalid input syntax for type bigint: "many"')
    assert browser.run("return document.querySelector('.error').getAttribute('role')") == "alert"


def test_a_file_has_all_rows_that_are_chosen(browser: Browser, door: Door, by_page: None, tmp_path: Path) -> None:
    add_windows(door, [(hour, page, hour) for hour in range(150) for page in ("a", "b")])
    open_table(browser, "Rows 1–200 of 250", "?n>=25&order=-n&order=page")
    browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    browser.click("[data-focus=csv]")
    file = tmp_path / "windows_by_page.csv"
    browser.wait("return true")
    for _ in range(100):
        if file.is_file():
            break
        browser.run("return new Promise((done) => setTimeout(done, 50))")
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 251
    assert lines[0] == "window_start,window_end,page,n"
    ends = [tuple(line.split(",")[2:]) for line in lines[1:]]
    assert ends == [(page, str(hour)) for hour in range(149, 24, -1) for page in ("a", "b")]


def test_a_span_of_time_ends_with_the_newest_window(browser: Browser, door: Door, by_page: None) -> None:
    add_windows(door, [(hour, "a", hour) for hour in range(100)])
    open_table(browser, "Rows 1–100 of 100")
    choose(browser, "#span", "86400")
    browser.wait(RANGE, "Rows 1–25 of 25")
    assert browser.run("return document.getElementById('from').value").startswith("2025-01-05T03:00")
    assert browser.run(COLUMN, 3)[-1] == "75"
    choose(browser, "#to", "2025-01-05T10:00")
    browser.wait(RANGE, "Rows 1–8 of 8")
    browser.wait(f"return {DATA}[0].length === 8")
    choose(browser, "#span", "all")
    browser.wait(RANGE, "Rows 1–100 of 100")


def chart(browser: Browser) -> list[list[Any]]:
    browser.find(".chart canvas")
    found: list[list[Any]] = browser.run(f"return {DATA}")
    return found


def test_a_line_has_a_gap_where_windows_are_missing(browser: Browser, door: Door, by_page: None) -> None:
    add_windows(door, [(hour, "a", hour + 1) for hour in (0, 1, 2, 10, 11, 30)])
    open_table(browser, "Rows 1–6 of 6")
    times, values = chart(browser)
    assert [(time - times[0]) / 3600 for time in times] == [0, 1, 2, 3, 10, 11, 12, 30]
    assert values == [1, 2, 3, None, 11, 12, None, 31]
    # No pixel is drawn between the last window before the gap and the first one behind it.
    drawn = browser.run("""
        const { plot } = document.querySelector(".chart");
        const [from, to] = [3.5, 9.5].map((hour) => plot.valToPos(plot.data[0][0] + hour * 3600, "x", true));
        const [from2, to2] = [0.2, 0.8].map((hour) => plot.valToPos(plot.data[0][0] + hour * 3600, "x", true));
        const grid = getComputedStyle(document.documentElement).getPropertyValue("--line");
        const isLine = ([r, g, b, a]) => a > 200 && b > 120 && r < 60;
        const count = (left, right) => {
          const { data } = plot.ctx.getImageData(left, plot.bbox.top, right - left, plot.bbox.height);
          let found = 0;
          for (let at = 0; at < data.length; at += 4) found += isLine(data.slice(at, at + 4));
          return found;
        };
        return [count(from, to), count(from2, to2)];
    """)
    assert drawn[0] == 0
    assert drawn[1] > 0


def test_a_gap_of_one_line_is_none_of_the_other(browser: Browser, door: Door, by_page: None) -> None:
    add_windows(door, [(hour, "a", 5) for hour in range(6)] + [(hour, "b", 7) for hour in (0, 1, 4, 5)])
    open_table(browser, "Rows 1–10 of 10")
    assert chart(browser)[1:] == [[5] * 6, [7, 7, None, None, 7, 7]]


def test_overlapping_windows_have_gaps_too(browser: Browser, door: Door, by_page: None) -> None:
    """Windows of four hours, one each hour: where one is missing, the others overlap its place."""
    add_windows(door, [(hour, "a", hour) for hour in (0, 1, 2, 4, 5)], length=4)
    open_table(browser, "Rows 1–5 of 5")
    times, values = chart(browser)
    assert [(time - times[0]) / 3600 for time in times] == [0, 1, 2, 3, 4, 5]
    assert values == [0, 1, 2, None, 4, 5]


def test_values_are_read_by_mouse_and_by_keyboard(browser: Browser, door: Door, by_page: None) -> None:
    add_windows(door, [(hour, page, 1000 * hour + len(page)) for hour in range(5) for page in ("a", "bb")])
    open_table(browser, "Rows 1–10 of 10")
    browser.find(".chart canvas")
    tip = "return document.querySelector('.tip').hidden ? '' : document.querySelector('.tip').innerText"
    browser.run("document.querySelector('.plot').focus()")
    browser.press(LEFT)
    assert browser.run(tip).split("\n") == ["2025-01-02 04:00", "a: 4,001", "bb: 4,002"]
    browser.press(LEFT, LEFT, RIGHT)
    assert "2025-01-02 03:00" in browser.run(tip)
    browser.press("\ue00c")
    assert browser.run(tip) == ""
    place = browser.run("""
        document.querySelector(".chart").scrollIntoView();
        const { plot } = document.querySelector(".chart");
        const { left, top } = plot.over.getBoundingClientRect();
        return [left + plot.valToPos(plot.data[0][1], "x"), top + 40].map(Math.round);
    """)
    move = {"type": "pointerMove", "duration": 0, "x": place[0], "y": place[1]}
    pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}
    browser.call("POST", "/actions", actions=[{**pointer, "actions": [move]}])
    assert "2025-01-02 01:00" in browser.wait(tip)
    browser.click(".legend button")
    browser.run("document.querySelector('.plot').focus()")
    browser.press(LEFT)
    assert "a:" not in browser.run(tip)
    # A stretch that is drawn over becomes the time of the whole page.
    end = browser.run(
        "const { plot } = document.querySelector('.chart');"
        "return Math.round(plot.over.getBoundingClientRect().left + plot.valToPos(plot.data[0][3] + 600, 'x'))"
    )
    start = {**move, "x": place[0] - 8}
    drag = [start, {"type": "pointerDown", "button": 0}, {**move, "x": end}, {"type": "pointerUp", "button": 0}]
    browser.call("POST", "/actions", actions=[{**pointer, "actions": drag}])
    browser.wait(RANGE, "Rows 1–6 of 6")
    assert sorted(set(browser.run(COLUMN, 0))) == [f"2025-01-02 0{hour}:00:00Z" for hour in (1, 2, 3)]


def test_what_is_drawn_can_be_chosen(browser: Browser, door: Door) -> None:
    browser.go("#/tables/views_per_minute", "Chart of")
    label = "return document.querySelector('.plot').getAttribute('aria-label')"
    assert browser.run(label).startswith("n of cart, home by window, from 2025-01-01 10:00 to 2025-01-01 10:04 UTC.")
    names = browser.run("return [...document.querySelectorAll('.legend button')].map((each) => each.textContent)")
    assert names == ["cart", "home"]


def test_a_relation_without_rows_says_so(browser: Browser, door: Door) -> None:
    browser.go("#/tables/orders", "The server keeps no rows of it.")
    assert "CREATE STREAM orders" in browser.text()
