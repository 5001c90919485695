"""The SQL page in Chromium: written, checked, completed, run, laid out, found again; figures are SQL's."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.server.engine_protocol import StatementAnswer
from tests.server.http.browser import CHROMIUM, CONTROL, DRIVER, ENTER, TAB, Browser, open_browser
from tests.server.http.conftest import Door
from tests.server.http.sql_page import CONTENT, DOWN, END, ESCAPE, HOME, LABELS, LINES, MARKS, SHADOW, SqlPage
from tests.server.http.test_statements import ORDERS, TOTALS, send

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="apt-get install chromium chromium-driver")

COLUMNS = (("product", "STRING"), ("total", "DECIMAL(10,2)"), ("n", "BIGINT"))


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def fill(door: Door) -> None:
    """A query, its table with rows, and windows."""
    send(door, f"{ORDERS};{TOTALS}")
    columns = [{"name": name, "type": type_} for name, type_ in COLUMNS]
    door.database.execute("UPDATE penstock.relation SET columns = %s WHERE name = 'totals'", json.dumps(columns))
    door.database.execute(
        "INSERT INTO totals VALUES ('lamp', 80.50, 2), ('chair', 120, 1), ('desk', NULL, 0), ('<img src=x>', 1, 1)"
    )
    for hour in range(6):
        start = datetime(2025, 1, 1, hour, tzinfo=UTC)
        door.database.execute(
            "INSERT INTO views_per_minute VALUES (%s, %s, 'home', %s)", start, start + timedelta(hours=1), hour * 2
        )


def log_in(window: Browser, door: Door, role: str) -> SqlPage:
    window.resize(1100)
    window.prefer("light")
    window.open(f"{door.url}/")
    window.wait("return document.querySelector('h1') !== null")
    if window.run("return document.querySelector('#token') === null"):
        window.click("#logout")
    window.type("#token", f"pst_{role}{ENTER}")
    window.wait("return document.querySelector('#role').textContent === arguments[0]", role)
    window.run("sessionStorage.clear(); localStorage.clear()")
    window.go("#/sql", "Ctrl+Enter")
    window.wait(f"return document.querySelector('.editor').shadowRoot !== null && {CONTENT} !== null")
    return SqlPage(window)


@pytest.fixture
def page(window: Browser, door: Door, fill: None) -> SqlPage:
    """The page of a submitter."""
    return log_in(window, door, "sam")


@pytest.fixture
def readers_page(window: Browser, door: Door, fill: None) -> SqlPage:
    return log_in(window, door, "rita")


def test_a_reader_sees_rows_as_sql_has_them(readers_page: SqlPage, door: Door) -> None:
    page = readers_page
    page.run("SELECT product, total, n > 0 AS sold, n FROM totals ORDER BY n DESC, product")
    wanted = door.database.execute("SELECT product, total, n > 0, n FROM totals ORDER BY n DESC, product")
    show = {None: "NULL", True: "true", False: "false"}
    assert page.cells() == [
        [show[each] if each is None or isinstance(each, bool) else str(each) for each in row] for row in wanted
    ]
    assert page.tags() == ["SELECT 4"]
    style = "return getComputedStyle(document.querySelector('#answers tbody').rows[0].cells[arguments[0]]).textAlign"
    assert [page.browser.run(style, place) for place in range(4)] == ["left", "right", "left", "right"]
    assert page.browser.run("return document.querySelectorAll('#answers .null').length") == 1
    assert page.browser.run("return document.querySelector('#answers img')") is None
    page.run("SELECT max(window_start), 'NULL' FROM views_per_minute")
    assert page.cells() == [["2025-01-01 05:00:00Z", "NULL"]]
    assert page.browser.run("return document.querySelectorAll('#answers .null').length") == 0


def test_a_reader_may_not_read_or_change_all(readers_page: SqlPage, door: Door) -> None:
    page = readers_page
    page.run("SELECT word FROM secrets")
    assert "permission denied for table secrets" in page.browser.text()
    page.run("DROP QUERY totals")
    assert "permission denied to submit statements" in page.browser.text()
    assert door.database.execute("SELECT count(*) FROM penstock.query") == [(1,)]


def test_the_statement_at_the_cursor_and_the_selection(page: SqlPage) -> None:
    page.write("SELECT 1 AS a;\nSELECT ';' AS b; -- ; no end\nSELECT 3 AS c")
    page.keys(f"{CONTROL}{HOME}", DOWN)
    page.run()
    assert page.cells() == [[";"]]
    assert "the statement at the cursor" in page.browser.text()
    page.keys(f"{CONTROL}{END}")
    page.run()
    assert page.cells() == [["3"]]
    page.keys(f"{CONTROL}a")
    page.run()
    assert page.tags() == ["SELECT 1"] * 3
    page.run("CREATE STREAM x AS; SELECT prise FROM totals")
    page.browser.click("#answers [role=alert] .place")
    selected = page.browser.run("return document.querySelector('.editor').shadowRoot.getSelection().toString()")
    assert selected in ("prise", "") or selected.startswith("prise")


def test_errors_are_underlined_and_a_hint_is_written_by_a_click(page: SqlPage) -> None:
    page.write("-- 😀 ü\nCREATE VIEW v AS SELECT STREAM id\nFROM orders WHERE prize > 1")
    page.browser.wait_for("N001: unknown column prize")
    page.await_marks("prize")
    assert "did you mean price?" in page.browser.text()
    page.browser.click("#findings .hint button")
    assert page.text.endswith("FROM orders WHERE price > 1")
    page.browser.wait("return document.querySelectorAll('#findings li').length === 0")
    page.await_marks()
    page.write("SELECT product FROM totls")
    page.await_marks("totls")
    page.browser.click("#findings .hint button")
    assert page.text == "SELECT product FROM totals"


def test_a_finding_is_told_on_hover(page: SqlPage) -> None:
    page.write("SELECT prodct FROM totals")
    page.await_marks("prodct")
    spot = page.browser.run(
        f"const box = {CONTENT}.querySelector('.cm-lintRange').getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 2]"
    )
    move = {"type": "pointerMove", "duration": 50, "origin": "viewport", "x": round(spot[0]), "y": round(spot[1])}
    page.browser.call("POST", "/actions", actions=[{"type": "pointer", "id": "mouse", "actions": [move]}])
    told = str(page.browser.wait(f"return {SHADOW}.querySelector('.cm-tooltip-lint')?.textContent"))
    assert 'column "prodct" does not exist' in told
    assert "Write product" in told


def test_names_and_keywords_are_completed(page: SqlPage) -> None:
    page.write("SELECT ")
    page.keys("produ")
    page.await_listed("product")
    page.keys(ENTER, " FROM tot")
    page.await_listed("totals")
    page.keys(ENTER)
    assert page.text == "SELECT product FROM totals"
    page.keys(" WHERE totals.")
    page.browser.wait(f"return {LABELS}.join() === 'n,product,total'")
    page.keys(ESCAPE, "n > 0 GRO")
    page.await_listed("GROUP")
    page.keys(ENTER)
    assert page.text == "SELECT product FROM totals WHERE totals.n > 0 GROUP"


def test_words_have_colours(page: SqlPage) -> None:
    page.write("SELECT STREAM 'a', 1, COUNT(*) -- b\nFROM orders EMIT EARLY EVERY 30 SECONDS RETENTION 30 DAYS")
    colours: dict[str, str] = page.browser.wait(
        f"const spans = [...{CONTENT}.querySelectorAll('.cm-line span')];"
        "const found = spans.map((each) => [each.textContent.trim(), getComputedStyle(each).color]);"
        "return found.length > 8 && Object.fromEntries(found)"
    )
    keyword = colours["SELECT"]
    assert {colours[word] for word in ("STREAM", "EMIT", "EARLY", "RETENTION", "FROM")} == {keyword}
    assert len({keyword, colours["'a'"], colours["1"], colours["-- b"], colours["COUNT"]}) == 5


def test_a_submitter_makes_a_relation_and_completes_it(page: SqlPage, door: Door) -> None:
    page.run("CREATE VIEW dear AS SELECT STREAM id FROM orders WHERE price > 5")
    assert page.tags() == ["CREATE VIEW"]
    assert door.engine.statements[-1].author == "sam"
    time.sleep(0.6)
    assert page.browser.run("return document.querySelectorAll('.findings li, [role=alert]').length") == 0
    page.write("SELECT * FROM dea")
    page.keys("r")
    page.await_listed("dear")


def test_a_started_query_is_linked(page: SqlPage) -> None:
    page.run(TOTALS.replace("totals", "sums"))
    assert page.browser.run("return document.querySelector('.answer a').getAttribute('href')") == "#/queries/sums"


def test_answers_of_show_and_explain(page: SqlPage, door: Door) -> None:
    door.engine.answers["SHOW QUERIES"] = StatementAnswer("SHOW", ("name", "state"), (("totals", "RUNNING"),))
    door.engine.answers["EXPLAIN WHY totals"] = StatementAnswer(
        "EXPLAIN", ("cause", "reason", "numbers"), (("silent", "nothing has come", None),)
    )
    page.run("SHOW QUERIES")
    assert page.cells() == [["totals", "RUNNING"]]
    page.run("EXPLAIN WHY totals")
    assert page.cells() == [["silent", "nothing has come", "NULL"]]
    page.run("EXPLAIN (FORMAT text) SELECT 1")
    assert "Result" in page.browser.run("return document.querySelector('#answers pre').textContent")


def test_format_lays_the_text_out(page: SqlPage) -> None:
    page.write("select product,n from totals where n>0")
    page.click("Format")
    page.browser.wait(f"return {LINES} === arguments[0]", "SELECT product, n\nFROM totals\nWHERE n > 0;")


def test_history_outlives_a_reload(page: SqlPage) -> None:
    page.run("SELECT 41 + 1 AS answer")
    page.run("SELECT nonsense")
    page.write("")
    page.browser.run("location.reload()")
    page.browser.wait_for("Ctrl+Enter")
    page.browser.click("[aria-controls=history]")
    kept = page.browser.run("return [...document.querySelectorAll('.past')].map((each) => each.textContent)")
    assert kept == ["SELECT nonsense", "SELECT 41 + 1 AS answer"]
    page.browser.run("document.querySelectorAll('.past')[1].click()")
    assert page.text == "SELECT 41 + 1 AS answer"
    page.run()
    assert page.cells() == [["42"]]


def test_logging_out_forgets_the_sql_of_the_user(page: SqlPage, door: Door) -> None:
    page.run("SELECT 41 + 1 AS answer")
    page.browser.click("#logout")
    page.browser.wait_for("penstock token create")
    assert page.browser.run("return [sessionStorage.length, localStorage.length]") == [0, 0]
    page.browser.type("#token", f"pst_rita{ENTER}")
    page.browser.wait_for("rita")
    page.browser.go("#/sql", "Ctrl+Enter")
    page.browser.wait(f"return document.querySelector('.editor').shadowRoot !== null && {CONTENT} !== null")
    assert "41 + 1" not in page.text


def test_a_logout_that_fails_keeps_the_user_logged_in(page: SqlPage) -> None:
    page.run("SELECT 41 + 1 AS answer")
    page.browser.run("window.kept = fetch; window.fetch = () => Promise.reject(new TypeError('away'))")
    page.browser.click("#logout")
    page.browser.wait_for("You are logged in still: the server does not answer")
    assert page.browser.run("return document.querySelector('#token')") is None
    assert page.text == "SELECT 41 + 1 AS answer"
    page.browser.run("window.fetch = window.kept")
    page.browser.click("#logout")
    page.browser.wait_for("penstock token create")


def test_rows_are_downloaded_as_csv(page: SqlPage, tmp_path: Path) -> None:
    page.browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.run("""SELECT product, total, 'a "b", c' AS q, '' AS e FROM totals WHERE n < 2 ORDER BY product""")
    page.click("Download CSV")
    file = tmp_path / "answer.csv"
    ends = time.monotonic() + 10
    while not file.exists():
        assert time.monotonic() < ends, "nothing is downloaded"
        time.sleep(0.05)
    rows = list(csv.reader(io.StringIO(file.read_bytes().decode())))
    assert rows == [
        ["product", "total", "q", "e"], ["<img src=x>", "1.00", 'a "b", c', ""],
        ["chair", "120.00", 'a "b", c', ""], ["desk", "", 'a "b", c', ""],
    ]  # fmt: skip


def test_numbers_are_drawn(page: SqlPage) -> None:
    page.run("SELECT window_start, n FROM views_per_minute ORDER BY window_start")
    page.browser.wait("return document.querySelector('#answers .chart') !== null")
    assert page.browser.run("return document.querySelector('#answers .chart').getBoundingClientRect().height > 100")
    page.run("SELECT product, total, n FROM totals")
    page.browser.wait("return document.querySelector('.bars .name') !== null")
    names = page.browser.run("return [...document.querySelectorAll('.bars .name')].map((each) => each.textContent)")
    assert sorted(names) == ["<img src=x>", "chair", "lamp"]
    assert page.browser.run("return document.querySelectorAll('.bars rect').length") == 3


def test_many_rows_are_cut_and_it_says_so(page: SqlPage) -> None:
    page.run("SELECT generate_series(1, 20000) AS n")
    assert "these are the first 10,000 rows; the statement has more" in page.browser.text()
    assert len(page.cells()) == 500
    page.click("9,500 more rows")
    assert page.cells()[-1] == ["10000"]


def test_stop_ends_a_statement(page: SqlPage, door: Door) -> None:
    page.write("SELECT pg_sleep(50)")
    page.keys(f"{CONTROL}{ENTER}")
    page.click("Stop")
    page.browser.wait_for("stopped")
    running = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'penstock sql' AND state = 'active'"
    ends = time.monotonic() + 10
    while door.database.execute(running) != [(0,)]:
        assert time.monotonic() < ends, "it still runs"
        time.sleep(0.1)


def test_it_works_by_keyboard_in_a_narrow_window(page: SqlPage) -> None:
    page.browser.resize(390)
    page.write("SELECT product, total, n, 'a long text that does not fit into it' AS wide FROM totals")
    page.keys(TAB)
    assert page.browser.run("return document.activeElement.textContent") == "Run"
    page.browser.press(ENTER)
    page.browser.wait("return document.querySelector('#answers .took') !== null")
    assert len(page.cells()) == 4
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.browser.run(wide) <= 0
    seen = []
    for _ in range(4):
        page.browser.press(TAB)
        seen.append(page.browser.run("return document.activeElement.textContent"))
    assert seen[:2] == ["Format", "History"]


def test_a_statement_is_saved_and_has_an_address(page: SqlPage, door: Door) -> None:
    page.write("SELECT product\nFROM totals WHERE n > 1")
    page.click("Save …")
    page.browser.type("#save-name", f"dear / per hour{ENTER}")
    page.browser.wait("return location.hash === '#/sql/dear%20%2F%20per%20hour'")
    page.browser.wait_for("SQL dear / per hour")
    assert door.database.execute("SELECT name, text, owner FROM penstock.saved") == [
        ("dear / per hour", "SELECT product\nFROM totals WHERE n > 1", "sam")
    ]
    page = log_in(page.browser, door, "rita")
    page.click("Saved")
    page.browser.wait_for("dear / per hour")
    assert page.browser.run("return document.querySelectorAll('#saved button').length") == 0  # it is of another user
    page.browser.click("#saved a")
    page.browser.wait_for("SQL dear / per hour")
    page.browser.wait(
        f"return {SHADOW} !== null && {LINES} === arguments[0]", "SELECT product\nFROM totals WHERE n > 1"
    )
    page.run()
    assert page.cells() == [["lamp"]]
    page.click("Save …")
    page.browser.type("#save-name", ENTER)
    page.browser.wait_for("dear / per hour is kept by sam")


@pytest.mark.parametrize(
    "text", [TOTALS.replace("totals", "sums"), "EXPLAIN WHY totals", "PAUSE QUERY totals", "DROP QUERY totals"]
)
def test_nothing_red_stands_beside_a_right_answer(page: SqlPage, door: Door, text: str) -> None:
    """Also when the page is opened again."""
    door.engine.answers["EXPLAIN WHY totals"] = StatementAnswer("EXPLAIN", ("reason",), (("no row has come",),))
    page.run(text)
    red = f"return document.querySelectorAll('.findings li, [role=alert]').length + {MARKS}.length"
    for _ in range(10):
        time.sleep(0.1)
        assert page.browser.run(red) == 0, page.browser.text()
    page.browser.go("#/tables", "Author")
    page.browser.go("#/sql", "Ctrl+Enter")
    page.browser.wait(f"return document.querySelector('.editor').shadowRoot !== null && {CONTENT} !== null")
    time.sleep(0.5)
    assert page.browser.run(red) == 0, page.browser.text()
    page.keys(f"{CONTROL}{END}", " x")
    page.browser.wait(f"{red} > 0")


def test_the_policy_of_the_server_holds(page: SqlPage, door: Door) -> None:
    page.browser.complaints()
    page.browser.open(f"{door.url}/#/sql")
    page.browser.wait_for("Ctrl+Enter")
    page.run("SELECT 1")
    complaints: list[Any] = page.browser.complaints()
    assert [each for each in complaints if "Content Security Policy" in each or "Error" in each] == []
    assert [url for url in page.browser.requests() if not url.startswith((f"{door.url}/", "data:", "blob:"))] == []
