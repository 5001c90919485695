"""What somebody does in the console who wants figures. Each of them is what SQL gives through PostgreSQL's door."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.http.browser import CHROMIUM, CONTROL, DRIVER, ENTER, TAB
from tests.server.http.sql_page import CONTENT, SHADOW, SqlPage
from tests.server.served import wait_for
from tests.server.shop import CELLS, DATA, TEXTS, Shop, open_shop
from tests.server.visits import PAGES

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="apt-get install chromium chromium-driver"),
]

NEWEST = "SELECT {} FROM hourly ORDER BY window_start DESC, page, window_end LIMIT 200"
STATUS = "SELECT status FROM penstock.query WHERE name = %s"
RANGE = "return document.getElementById('range')?.textContent === arguments[0]"
TIP = "return document.querySelector('.tip').hidden ? '' : document.querySelector('.tip').innerText"
LEFT = "\ue012"


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    with open_shop() as shop:
        yield shop


def inputs(shop: Shop, query: str) -> dict[str, int]:
    """The rows of all inputs of a query, by what became of them."""
    status = shop.value(STATUS, query)
    names = ("in", "used", "filtered", "late", "rejected")
    return {name: sum(each[name] for each in status["inputs"]) for name in names}


def test_home_shows_all_relations_and_queries(shop: Shop) -> None:
    browser = shop.open("#/", "Pipeline")
    browser.find(".node")
    names = set(browser.run(TEXTS, ".node .name"))
    assert {name for (name,) in shop.select("SELECT shown FROM penstock.relation")} < names
    kinds = dict(zip(browser.run(TEXTS, ".node .name"), browser.run(TEXTS, ".node text:nth-of-type(2)"), strict=True))
    assert kinds["visits"] == "source · files"
    assert kinds["archive"] == "sink · files"
    assert (kinds["hourly"], kinds["long_visits"], kinds["help_wanted"]) == ("table", "view", "stream")
    assert list(kinds.values()).count("query") == 1


def test_home_shows_who_reads_whom(shop: Shop) -> None:
    browser = shop.open("#/", "Pipeline")
    browser.find(".node")
    told = browser.run("return [...document.querySelectorAll('.node')].map((each) => each.ariaDescription)")
    assert "feeds hourly, long_visits" in told
    edges = shop.value("SELECT sum(cardinality(reads) + cardinality(writes)) FROM penstock.lineage")
    assert browser.run("return document.querySelectorAll('.edge').length") == edges


def test_home_counts_queries_by_state(shop: Shop) -> None:
    running = shop.value("SELECT count(*) FROM penstock.query WHERE state = 'RUNNING'")
    assert running >= 5
    shop.open("#/", "Pipeline").wait_for(f"{running} running")


def test_home_shows_late_and_rejected_rows(shop: Shop) -> None:
    browser = shop.open("#/", "Pipeline")
    counted = inputs(shop, "hourly")
    assert (counted["late"], counted["rejected"]) == (2, 1)
    browser.find("[data-focus='node hourly'] .warning")
    assert browser.run(TEXTS, "[data-focus='node hourly'] .warning") == [f"{counted['late']} late"]
    assert browser.run(TEXTS, "[data-focus='node hourly'] .bad") == [f"{counted['rejected']} rejected"]


def test_enter_leads_from_a_box_to_why_bounds_and_sql(shop: Shop) -> None:
    browser = shop.open("#/", "Pipeline")
    browser.find(".node")
    for _ in range(30):
        browser.press(TAB)
        if browser.run("return document.activeElement.dataset.focus") == "node hourly":
            break
    browser.press(ENTER)
    browser.wait_for("Query hourly")
    browser.find("[aria-label=Bounds]")
    assert {"Why", "Bounds", "Plan", "SQL"} <= set(browser.run(TEXTS, "h2"))
    assert browser.run(TEXTS, "main pre") == [shop.value("SELECT definition FROM penstock.query WHERE name = 'hourly'")]


def test_queries_are_listed_with_what_they_counted(shop: Shop) -> None:
    shop.open("#/queries", "State rows").find("main tbody tr")
    shown = {row[0]: (row[1].strip(), row[7], row[8]) for row in shop.browser.run(CELLS)}
    expected = {}
    for name, state in shop.select("SELECT name, lower(state) FROM penstock.query"):
        counted = inputs(shop, name)
        expected[name] = (state, str(counted["late"]), str(counted["rejected"]))
    assert shown == expected


def test_rows_of_inputs_add_up(shop: Shop) -> None:
    shop.open("#/queries/hourly", "Query hourly").find("[aria-label=Inputs]")
    (row,) = shop.browser.run(TEXTS.replace("arguments[0]", "'[aria-label=Inputs] tbody tr'"))
    numbers = [int(text.replace(",", "")) for text in shop.browser.run(TEXTS, "[aria-label=Inputs] td.number")]
    assert row.startswith("visits")
    counted = inputs(shop, "hourly")
    assert numbers == [counted[name] for name in ("in", "used", "filtered", "late", "rejected")]
    assert numbers[0] == sum(numbers[1:])
    assert numbers[1] == shop.value("SELECT sum(visits) FROM hourly")


def test_a_query_leads_to_its_rows_and_back(shop: Shop) -> None:
    browser = shop.open("#/queries/hourly", "Query hourly")
    browser.click("[data-focus=rows]")
    browser.wait_for("Table hourly")
    browser.wait_for("Query hourly")
    browser.click("main a[href='#/queries/hourly']")
    browser.find("[aria-label=Bounds]")


def test_tables_are_listed(shop: Shop) -> None:
    shop.open("#/tables", "Author").find("main tbody tr")
    listed = shop.select("SELECT shown, lower(kind) FROM penstock.relation ORDER BY created, name")
    assert [(row[0], row[1]) for row in shop.browser.run(CELLS)] == listed


def test_the_newest_windows_stand_first(shop: Shop) -> None:
    shop.open_hourly()
    texts = NEWEST.format("to_char(window_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS\"Z\"'), page, visits::text")
    assert list(zip(shop.cells(0), shop.cells(2), shop.cells(3), strict=True)) == shop.select(texts)


def test_rows_are_counted(shop: Shop) -> None:
    shop.open_hourly()
    count = shop.value("SELECT count(*) FROM hourly")
    assert shop.browser.run(TEXTS, "#range") == [f"Rows 1–200 of {count}"]


def test_the_next_page_goes_on_where_the_first_one_ends(shop: Shop) -> None:
    shop.open_hourly().click("[data-focus=next]")
    count = shop.value("SELECT count(*) FROM hourly")
    shop.browser.wait(RANGE, f"Rows 201–{count} of {count}")
    assert shop.cells(3) == [str(n) for (n,) in shop.select(NEWEST.format("visits") + " OFFSET 200")]
    shop.browser.click("[data-focus=first]")
    shop.browser.wait(RANGE, f"Rows 1–200 of {count}")


def test_rows_are_ordered_by_a_column(shop: Shop) -> None:
    browser = shop.open_hourly()
    for _ in range(2):
        browser.click("[data-focus='head seconds']")
        browser.wait("return document.querySelector('[aria-sort] .head').textContent === 'seconds'")
    browser.wait("return document.querySelector('[aria-sort=descending] .head')?.textContent === 'seconds'")
    largest = str(shop.value("SELECT max(seconds) FROM hourly"))
    browser.wait("return document.querySelector('tbody td:nth-child(5)').textContent === arguments[0]", largest)
    expected = shop.select("SELECT seconds::text FROM hourly ORDER BY hourly.seconds DESC LIMIT 200")
    assert shop.cells(4) == [text for (text,) in expected]


def test_rows_are_filtered_by_a_value(shop: Shop) -> None:
    browser = shop.open_hourly()
    shop.choose("#filter-column", "page")
    browser.type("#filter-value", f"cart{ENTER}")
    count = shop.value("SELECT count(*) FROM hourly WHERE page = 'cart'")
    browser.wait(RANGE, f"Rows 1–{count} of {count}")
    assert set(shop.cells(2)) == {"cart"}
    browser.wait("return document.querySelectorAll('.legend button').length === 1")
    assert list(shop.lines()) == ["cart"]


def test_rows_are_filtered_by_a_bound(shop: Shop) -> None:
    browser = shop.open_hourly()
    shop.choose("#filter-column", "visits")
    shop.choose("#filter-sign", ">")
    browser.type("#filter-value", f"15{ENTER}")
    count = shop.value("SELECT count(*) FROM hourly WHERE visits >= 15")
    browser.wait("return document.getElementById('range').textContent.endsWith(arguments[0])", f"of {count}")
    assert min(map(int, shop.cells(3))) >= 15


def test_the_last_day_is_chosen(shop: Shop) -> None:
    browser = shop.open_hourly()
    shop.choose("#span", "86400")
    day = "WHERE window_start >= (SELECT max(window_start) FROM hourly) - interval '1 day'"
    count = shop.value(f"SELECT count(*) FROM hourly {day}")
    browser.wait(RANGE, f"Rows 1–{count} of {count}")
    assert sum(map(int, shop.cells(3))) == shop.value(f"SELECT sum(visits) FROM hourly {day}")


def test_an_address_with_filters_can_be_shared(shop: Shop) -> None:
    shop.open_hourly("?page=home&order=-visits")
    assert shop.browser.run(TEXTS, ".chips li") == ["page = home ×"]
    expected = shop.select("SELECT visits::text FROM hourly WHERE page = 'home' ORDER BY hourly.visits DESC")
    assert shop.cells(3) == [text for (text,) in expected]


def test_a_file_has_what_is_chosen(shop: Shop, tmp_path: Path) -> None:
    browser = shop.open_hourly("?page=search&page=help&order=window_start&order=page")
    browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    browser.click("[data-focus=csv]")
    file = tmp_path / "hourly.csv"
    wait_for(file.is_file, "the file is there")
    time.sleep(0.2)
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [(row["page"], int(row["visits"]), int(row["seconds"])) for row in csv.DictReader(lines)]
    columns = "page, visits, seconds FROM hourly WHERE page IN ('search', 'help') ORDER BY window_start, page"
    assert rows == shop.select(f"SELECT {columns}")


def test_the_newest_rows_of_a_stream_are_there(shop: Shop) -> None:
    browser = shop.open("#/tables/help_wanted", "Table help_wanted")
    count = shop.value("SELECT count(*) FROM help_wanted")
    assert count > 0
    browser.wait(RANGE, f"Rows 1–{count} of {count}")
    assert sorted(map(int, shop.cells(0))) == [id_ for (id_,) in shop.select("SELECT id FROM help_wanted ORDER BY id")]


@pytest.mark.parametrize("name", ["long_visits", "archive"])
def test_what_keeps_no_rows_shows_its_sql(shop: Shop, name: str) -> None:
    browser = shop.open(f"#/tables/{name}", f"Table {name}")
    browser.find("main pre")
    assert browser.run(TEXTS, "main pre") == [
        shop.value("SELECT definition FROM penstock.relation WHERE name = %s", name)
    ]


@pytest.mark.parametrize("column", ["visits", "seconds"])
def test_a_chart_has_the_figures_of_the_table(shop: Shop, column: str) -> None:
    shop.open_hourly()
    if column != "visits":
        shop.choose("#value", column)
        shop.browser.wait("return document.querySelector('.plot').ariaLabel.startsWith(arguments[0])", column)
    lines = shop.lines()
    assert tuple(lines) == PAGES
    for page in PAGES:
        values = shop.select(
            f"SELECT extract(epoch FROM window_start)::int, {column} FROM hourly WHERE page = %s", page
        )
        assert {time: value for time, value in lines[page].items() if value is not None} == dict(values), page


def test_a_chart_has_gaps_where_windows_are_missing(shop: Shop) -> None:
    shop.open_hourly()
    follows = "lead(window_start) OVER (PARTITION BY page ORDER BY window_start)"
    gaps = shop.select(
        "SELECT page, extract(epoch FROM window_end)::int FROM "
        f"(SELECT page, window_end, {follows} AS next FROM hourly) AS w WHERE next > window_end ORDER BY 1, 2"
    )
    assert [page for page, _ in gaps] == ["cart", "help", "help", "home", "search"]
    lines = shop.lines()
    assert all(lines[page][time] is None for page, time in gaps)


def test_the_keyboard_reads_the_newest_value(shop: Shop) -> None:
    browser = shop.open_hourly("?page=home")
    browser.run("document.querySelector('.plot').focus()")
    browser.press(LEFT)
    newest = (
        "SELECT to_char(window_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), visits FROM hourly WHERE page = 'home'"
    )
    ((at, visits),) = shop.select(f"{newest} ORDER BY window_start DESC LIMIT 1")
    assert browser.run(TIP).split("\n") == [at, f"home: {visits}"]


def test_a_line_is_hidden_and_shown(shop: Shop) -> None:
    browser = shop.open_hourly()
    shows = "return document.querySelector('.chart').plot.series.slice(1).map((line) => line.show)"
    browser.click(".legend li:nth-child(3) button")
    assert browser.run(shows) == [True, True, False, True]
    browser.click(".legend li:nth-child(3) button")
    assert browser.run(shows) == [True] * 4


def test_daily_windows_are_drawn_by_country(shop: Shop) -> None:
    browser = shop.open("#/tables/daily_countries", "Chart of")
    browser.find(".chart canvas")
    values = shop.select("SELECT country, sum(visits)::int FROM daily_countries GROUP BY country ORDER BY country")
    assert [(name, sum(filter(None, line.values()))) for name, line in shop.lines().items()] == values


def test_late_and_rejected_rows_have_a_page(shop: Shop) -> None:
    shop.open("#/queries", "State rows")
    shop.browser.go("#/rejected", "Filtered")
    (row,) = (row for row in shop.browser.run(CELLS) if row[0] == "hourly")
    counted = inputs(shop, "hourly")
    expected = [counted[name] for name in ("in", "late", "rejected", "filtered", "used")]
    assert [int(text.replace(",", "")) for text in row[2:]] == expected


def test_a_wrong_address_has_a_page_that_leads_home(shop: Shop) -> None:
    browser = shop.browser
    browser.open(f"{shop.url}v1/tables/nowhere".replace("//v1", "/v1"))
    browser.wait_for("404: unknown table nowhere")
    browser.click("main a[href='/']")
    browser.find(".node")


def test_a_paused_query_is_seen_at_home(shop: Shop) -> None:
    browser = shop.open("#/queries/help_wanted", "Query help_wanted")
    browser.click("[data-focus=pause]")
    browser.wait_for("help_wanted is paused.")
    assert shop.value("SELECT state FROM penstock.query WHERE name = 'help_wanted'") == "PAUSED"
    browser.go("#/", "1 paused")
    assert "paused" in browser.run(TEXTS, "[data-focus='node help_wanted'] text")
    browser.go("#/queries/help_wanted", "Query help_wanted")
    browser.wait("return document.querySelector('[data-focus=pause]')?.textContent === 'Resume'")
    browser.click("[data-focus=pause]")
    browser.wait_for("help_wanted is resumed.")


def test_new_rows_come_while_the_table_is_looked_at(shop: Shop) -> None:
    browser = shop.open_hourly()
    browser.wait_for("live")
    before = shop.value("SELECT sum(visits) FROM hourly")
    shop.visits.write_more("cart", 25)
    wait_for(lambda: shop.value("SELECT sum(visits) FROM hourly") == before + 25)
    newest = shop.value("SELECT visits FROM hourly WHERE page = 'cart' ORDER BY window_start DESC LIMIT 1")
    browser.wait("return document.querySelector('tbody td:nth-child(4)').textContent === arguments[0]", str(newest))
    browser.wait(f"return Object.values({DATA}[1]).includes(arguments[0])", newest)


def test_the_sql_page_answers_as_sql_does(shop: Shop) -> None:
    shop.open("#/sql", "Ctrl+Enter").wait(f"return {SHADOW} !== null && {CONTENT} !== null")
    page = SqlPage(shop.browser)
    query = "SELECT page, count(*) AS windows, sum(visits) AS visits FROM hourly GROUP BY page ORDER BY 3 DESC, page"
    page.run(f"{query};\nSHOW TABLES")
    page.keys(f"{CONTROL}a")
    page.run()
    assert page.cells() == [[str(value) for value in row] for row in shop.select(query)]
    assert page.tags() == [f"SELECT {len(shop.select(query))}", "SHOW"]
    page.write("SELECT page FROM hourly WHERE visit > 1")
    page.await_marks("visit")
    page.browser.click("#findings .hint button")
    assert page.text == "SELECT page FROM hourly WHERE visits > 1"


def test_a_view_made_on_the_sql_page_is_completed_and_dropped(shop: Shop) -> None:
    shop.open("#/sql", "Ctrl+Enter").wait(f"return {SHADOW} !== null && {CONTENT} !== null")
    page = SqlPage(shop.browser)
    page.run("CREATE VIEW carts AS SELECT STREAM id FROM visits WHERE page = 'cart'")
    assert page.tags() == ["CREATE VIEW"]
    assert shop.value("SELECT count(*) FROM penstock.relation WHERE name = 'carts'") == 1
    page.write("SHOW CREATE VIEW car")
    page.keys("t")
    page.await_listed("carts")
    page.run("DROP VIEW carts")
    assert shop.value("SELECT count(*) FROM penstock.relation WHERE name = 'carts'") == 0
