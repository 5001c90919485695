"""Wrong scripts, made by hand: `--cover` of the wrong script prints rows over which it and the right one differ.

So whoever puts the printed rows into tests, and looks at what comes, sees that the script is wrong. Where the slip has
left nothing in the script, an obvious test shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.compilation import Compilation, compile
from penstock.diagnostics import Source
from penstock.evaluator import Unsupported
from penstock.testing.cases import read_cases
from penstock.testing.coverage import cover_script
from penstock.testing.find_difference import play
from penstock.testing.given_values import START
from penstock.testing.planned_steps import plan_case
from penstock.testing.row_text import difference
from penstock.testing.script_relations import ScriptRelations

INPUTS = """
CREATE STREAM orders (id BIGINT, customer STRING, product STRING, price DECIMAL(10, 2), pieces INT, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'orders', format = 'json');
CREATE STREAM payments (order_id BIGINT, payer STRING, amount DECIMAL(10, 2), time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'payments', format = 'json');
CREATE TABLE customers (id STRING PRIMARY KEY, city STRING, name STRING)
WITH (connector = 'files', path = 'customers', format = 'json', operation = 'op');
"""
JOIN = """SELECT STREAM o.id AS id, p.amount AS amount FROM orders o LEFT JOIN payments p
  ON o.id = p.order_id AND o.customer = p.payer AND p.time BETWEEN o.time AND o.time + INTERVAL '5' MINUTE"""
HOURS = """SELECT STREAM window_start, COUNT(*) AS orders, SUM(pieces) AS pieces, AVG(price) AS mean,
  COUNT(DISTINCT customer) AS customers, COUNT(*) FILTER (WHERE price > 100) AS dear
  FROM orders WHERE product <> 'test' AND pieces >= 1 GROUP BY TUMBLE(time, INTERVAL '1' HOUR)"""
HOPS = (
    "SELECT STREAM window_start, product, COUNT(*) AS n FROM orders GROUP BY product, HOP(time, 5 MINUTES, 15 MINUTES)"
)
VISITS = """SELECT STREAM MIN(customer) AS customer, window_start, window_end, MAX(price) AS most FROM orders
  GROUP BY customer, SESSION(time, INTERVAL '10' MINUTE)"""
TOTALS = "SELECT product, SUM(price) AS total, MIN(pieces) AS least FROM orders GROUP BY product HAVING COUNT(*) > 1"
SIZES = """SELECT STREAM id, CASE WHEN price < 10 THEN 'small' WHEN price < 100 THEN 'middle' ELSE 'large' END AS size,
  COALESCE(pieces, 1) AS pieces FROM orders WHERE customer = 'a' OR product = 'gift'"""
DAYS = """SELECT STREAM CAST(window_start + INTERVAL '1' HOUR AS DATE) AS day, COUNT(*) AS n
  FROM orders GROUP BY TUMBLE(time, INTERVAL '1' HOUR)"""
LOCAL = "SELECT STREAM id, CAST(time + INTERVAL '1' HOUR AS DATE) AS day FROM orders"
CITIES = "SELECT STREAM o.id AS id, c.city AS city FROM orders o JOIN customers c ON o.customer = c.id"
LIVING = "SELECT city, COUNT(*) AS n FROM customers GROUP BY city"
EARLIER = "SELECT STREAM id, customer, LAG(price) OVER (PARTITION BY customer ORDER BY time) AS earlier FROM orders"
MOVING = """SELECT STREAM id, SUM(price) OVER (PARTITION BY customer ORDER BY time
  RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW) AS total FROM orders"""
BEST = """SELECT STREAM product, price, window_start FROM
  (SELECT product, price, window_start, ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY price DESC) AS place
   FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(time), INTERVAL '1' HOUR))) WHERE place <= 1"""
ONCE = "SELECT STREAM DISTINCT customer, time FROM orders"
BOTH = "SELECT STREAM id FROM orders UNION ALL SELECT STREAM order_id FROM payments"
UNPAID = """SELECT STREAM o.id AS id FROM orders o LEFT ANTI JOIN payments p
  ON p.order_id = o.id AND p.time BETWEEN o.time AND o.time + INTERVAL '5' MINUTE"""

SLIPS = [
    ("the bound is a second short", JOIN, "'5' MINUTE", "'299' SECOND"),
    ("the bound is a second long", JOIN, "'5' MINUTE", "'301' SECOND"),
    ("minutes are hours", JOIN, "'5' MINUTE", "'5' HOUR"),
    ("payments may come before", JOIN, "BETWEEN o.time AND", "BETWEEN o.time - INTERVAL '1' SECOND AND"),
    ("the end of the bound is open", JOIN, "p.time BETWEEN o.time AND", "p.time >= o.time AND p.time <"),
    ("the beginning of the bound is open", JOIN, "p.time BETWEEN o.time AND", "p.time > o.time AND p.time <="),
    ("LEFT is INNER", JOIN, "LEFT JOIN", "JOIN"),
    ("LEFT is RIGHT", JOIN, "LEFT JOIN", "RIGHT JOIN"),
    ("LEFT is FULL", JOIN, "LEFT JOIN", "FULL JOIN"),
    ("a part of the key is lost", JOIN, " AND o.customer = p.payer", ""),
    ("ON has another column", JOIN, "o.customer = p.payer", "o.product = p.payer"),
    ("a filter behind LEFT makes it INNER", JOIN, "'5' MINUTE", "'5' MINUTE WHERE p.amount > 0"),
    ("the window is longer", HOURS, "'1' HOUR", "'2' HOUR"),
    ("the window is shorter", HOURS, "'1' HOUR", "'30' MINUTE"),
    ("FILTER is lost", HOURS, " FILTER (WHERE price > 100)", ""),
    ("FILTER has another bound", HOURS, "price > 100", "price >= 100"),
    ("SUM is COUNT", HOURS, "SUM(pieces)", "COUNT(pieces)"),
    ("AVG is over another column", HOURS, "AVG(price)", "AVG(price * pieces)"),
    ("DISTINCT is lost", HOURS, "DISTINCT customer", "customer"),
    ("COUNT(*) is COUNT of a column", HOURS, "COUNT(*) AS orders", "COUNT(customer) AS orders"),
    ("WHERE is lost", HOURS, "WHERE product <> 'test' AND pieces >= 1 ", ""),
    ("a part of WHERE is lost", HOURS, "product <> 'test' AND ", ""),
    (">= is >", HOURS, "pieces >= 1", "pieces > 1"),
    ("AND is OR", HOURS, "'test' AND pieces", "'test' OR pieces"),
    ("NULL is let through", HOURS, "product <> 'test'", "product IS DISTINCT FROM 'test'"),
    ("the slide is another", HOPS, "HOP(time, 5 MINUTES", "HOP(time, 3 MINUTES"),
    ("HOP is TUMBLE", HOPS, "HOP(time, 5 MINUTES, 15 MINUTES)", "TUMBLE(time, 15 MINUTES)"),
    ("the gap is a minute short", VISITS, "'10' MINUTE", "'9' MINUTE"),
    ("the gap is a millisecond long", VISITS, "'10' MINUTE", "'600.001' SECOND"),
    ("MAX is MIN", VISITS, "MAX(price)", "MIN(price)"),
    ("sessions by another column", VISITS, "GROUP BY customer", "GROUP BY product"),
    ("HAVING has another bound", TOTALS, "COUNT(*) > 1", "COUNT(*) > 2"),
    ("HAVING is lost", TOTALS, " HAVING COUNT(*) > 1", ""),
    ("MIN is MAX", TOTALS, "MIN(pieces)", "MAX(pieces)"),
    ("< is <= in a branch", SIZES, "price < 10 ", "price <= 10 "),
    ("branches are swapped", SIZES, "WHEN price < 10 THEN 'small' WHEN price < 100 THEN 'middle'",
     "WHEN price < 100 THEN 'middle' WHEN price < 10 THEN 'small'"),
    ("ELSE is lost", SIZES, " ELSE 'large'", ""),
    ("NULL is zero", SIZES, "COALESCE(pieces, 1)", "COALESCE(pieces, 0)"),
    ("OR is AND", SIZES, "'a' OR product", "'a' AND product"),
    ("the time zone is lost", DAYS, "window_start + INTERVAL '1' HOUR", "window_start"),
    ("the time zone has the wrong sign", LOCAL, "time + INTERVAL", "time - INTERVAL"),
    ("a lookup keeps what it should not", CITIES, "JOIN customers", "LEFT JOIN customers"),
    ("a lookup goes by another column", CITIES, "o.customer = c.id", "o.product = c.id"),
    ("groups of a table by another column", LIVING, "SELECT city, COUNT(*) AS n FROM customers GROUP BY city",
     "SELECT name AS city, COUNT(*) AS n FROM customers GROUP BY name"),
    ("a key is lost", EARLIER, "PARTITION BY customer", "PARTITION BY product"),
    ("LAG is over another column", EARLIER, "LAG(price)", "LAG(pieces)"),
    ("the frame is a second short", MOVING, "'10' MINUTE", "'599' SECOND"),
    ("the order is reversed", BEST, "price DESC", "price ASC"),
    ("one place too many", BEST, "place <= 1", "place <= 2"),
    ("DISTINCT of a stream is lost", ONCE, "DISTINCT ", ""),
    ("UNION ALL lost its second half", BOTH, " UNION ALL SELECT STREAM order_id FROM payments", ""),
("ANTI is SEMI", UNPAID, "LEFT ANTI JOIN", "LEFT SEMI JOIN"),
    ("the delay is too short", HOURS, "orders;10", "orders;1"),
    ("the delay is too long", HOURS, "orders;10", "orders;60"),
    ("the delay of the other stream is too short", JOIN, "payments;10", "payments;5"),
]  # fmt: skip
OBVIOUS = {
    "a part of WHERE is lost": "GIVEN orders (product, pieces, time) VALUES ('test', 1, '0:00');",
    "the time zone is lost": "GIVEN orders (id, time) VALUES (1, '23:30:00');",
    "DISTINCT of a stream is lost": "GIVEN orders (customer, time) VALUES ('a', '0:00'), ('a', '0:00');",
    "UNION ALL lost its second half": "GIVEN payments (order_id, time) VALUES (1, '0:00');",
}
"""The rows of the first test that anyone would write for what is lost: the wrong script shows nothing of it."""


@dataclass(frozen=True)
class Pair:
    """A right script and a wrong one, each with one query."""

    right: Compilation
    wrong: Compilation


def make_pair(query: str, right: str, wrong: str) -> Pair:
    """The scripts; `orders;10` stands for the delay of orders."""
    kind = "STREAM" if "SELECT STREAM" in query else "TABLE"
    text = f"{INPUTS}CREATE {kind} r AS {query};"
    if ";" in right:
        stream, _, delay = right.partition(";")
        begin = text.index(f"CREATE STREAM {stream}")
        changed = text[begin:].replace(f"time - INTERVAL '{delay}'", f"time - INTERVAL '{wrong.partition(';')[2]}'", 1)
        return Pair(compile(text), compile(text[:begin] + changed))
    assert right in query
    return Pair(compile(text), compile(f"{INPUTS}CREATE {kind} r AS {query.replace(right, wrong, 1)};"))


def list_printed(script: Compilation) -> Iterator[list[str]]:
    """The rows that `--cover` prints for a script without tests."""
    for each in cover_script("a_test.sql", ScriptRelations(script), [], Path()).classes:
        if each.given is not None:
            yield each.given


def differs(pair: Pair, lines: list[str]) -> bool:
    """Whether the scripts come to other rows by the end of the input."""
    text = "\n".join(each for each in lines if each != "GIVEN END;")
    test = f"TEST 'a' OF 'a.sql';\n{text}\nGIVEN END;\nTHEN r NOTHING;\n"
    (case,) = read_cases(Source("a_test.sql", test))
    results = []
    for script in (pair.right, pair.wrong):
        steps, _ = plan_case(case, ScriptRelations(script), Path())
        (query,) = script.queries
        results.append(play(query, [step.arrival for step in steps]))
    right, wrong = results
    if isinstance(right, str) or isinstance(wrong, str):
        return right != wrong
    columns = [each for each in pair.right.queries[0].root.schema if not each.hidden]
    return bool(difference(right, wrong, columns, START))


@pytest.mark.parametrize(("name", "query", "right", "wrong"), SLIPS, ids=[each[0] for each in SLIPS])
def test_rows_show_the_slip(name: str, query: str, right: str, wrong: str) -> None:
    pair = make_pair(query, right, wrong)
    printed = list(list_printed(pair.wrong))
    is_printed = any(differs(pair, lines) for lines in printed)
    assert is_printed == (name not in OBVIOUS), printed
    assert is_printed or differs(pair, [OBVIOUS[name]])


def test_the_right_scripts_do_not_differ_from_themselves() -> None:
    for query in (JOIN, HOURS, TOTALS, BEST):
        pair = make_pair(query, "SELECT", "SELECT")
        assert not any(differs(pair, lines) for lines in list_printed(pair.wrong))


def test_what_is_not_known_is_not_compared() -> None:
    pair = make_pair("SELECT STREAM id FROM orders", "id", "LENGTH(SOUNDEX(product))")
    with pytest.raises(Unsupported):
        differs(pair, ["GIVEN orders (id, time) VALUES (1, '0:00');"])
