"""Which changes of a script its checkpoint survives, and what the others are told. No JVM."""

from __future__ import annotations

import re
from functools import reduce

import pytest

from penstock.codegen.program import SparkQuery
from penstock.compilation import compile
from penstock.runtime.checkpoint.checkpoint import describe_query, refusal

DECLARED = """
CREATE STREAM orders (id BIGINT KEY, product STRING, price DOUBLE, quantity INT, time TIMESTAMP,
  WATERMARK FOR time AS time - 10 SECONDS) WITH (connector = 'files', path = 'orders', format = 'json');
CREATE STREAM shipments (id BIGINT KEY, cost DOUBLE, time TIMESTAMP,
  WATERMARK FOR time AS time - 20 SECONDS) WITH (connector = 'files', path = 'shipments', format = 'json');
CREATE TABLE users (id BIGINT PRIMARY KEY, name STRING, region STRING)
  WITH (connector = 'files', path = 'users', format = 'json');
CREATE STREAM big (id BIGINT, price DOUBLE) WITH (connector = 'files', path = 'big', format = 'json');
"""
BIG = "INSERT INTO big SELECT STREAM o.id, price FROM orders o WHERE price > 100"
SHOWN = "SELECT STREAM id, price FROM orders WHERE price > 100"
UNITED = "SELECT STREAM id FROM orders UNION ALL SELECT STREAM id FROM shipments"
JOINED = """SELECT STREAM o.id, o.price - s.cost AS gain FROM orders o JOIN shipments s
  ON o.id = s.id AND s.time BETWEEN o.time AND o.time + 5 MINUTES WHERE o.quantity > 1"""
ONE_BY_ONE = JOINED.replace("o.time AND o.time + 5 MINUTES", "o.time + 1 DAY AND o.time + 1 DAY + 1 MINUTE")
COUNTED = """SELECT STREAM product, SUM(price) AS total, COUNT(*) AS n FROM orders
  GROUP BY product, TUMBLE(time, 1 MINUTE)"""
HIGH = f"{COUNTED} HAVING COUNT(*) > 2"
OF_VIEW = """CREATE VIEW counted AS SELECT STREAM product, SUM(quantity) AS items, COUNT(*) AS n FROM orders
  GROUP BY product, TUMBLE(time, 1 MINUTE); SELECT STREAM product, items, n FROM counted"""
RUNNING = """SELECT STREAM product, total FROM (SELECT STREAM product, SUM(paid) OVER
  (PARTITION BY product ORDER BY time RANGE 10 MINUTES PRECEDING) AS total
  FROM (SELECT product, price * quantity AS paid, time FROM orders WHERE id > 3) AS x) AS sums"""
REMEMBERED = RUNNING.replace("RANGE 10 MINUTES", "ROWS 10")
TOP = """SELECT STREAM window_start, product, n FROM (SELECT STREAM window_start, product, COUNT(*) AS n FROM orders
  GROUP BY product, TUMBLE(time, 1 MINUTE)) AS c
  QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY n DESC) <= 3"""
DISTINCT = "SELECT STREAM p, time FROM (SELECT STREAM DISTINCT product AS p, time FROM orders) AS d"
TABLE = "SELECT product, COUNT(*) AS n FROM orders GROUP BY product"
USERS = "SELECT id, name, region FROM users"
LOOKED_UP = "SELECT STREAM o.id, u.name FROM orders o LEFT JOIN users u ON o.id = u.id"

# What a change is, the query, and the change: texts of the script, each with what comes in its place.
Change = dict[str, str]
PASS: list[tuple[str, str, Change]] = [
    ("case and a comment", BIG, {"INSERT INTO": "insert into -- the large ones\n", "WHERE": "wHere"}),
    ("an alias of a table", JOINED, {"o.": "a.", "orders o": "orders AS a"}),
    ("an alias of a table, to files", BIG, {"o.id": "p.id", "orders o": "orders p"}),
    ("names inside", RUNNING, {"paid": "amount", "total": "sum", "sums": "y", "AS x": "AS z"}),
    ("a name inside that is also a column of the input", RUNNING, {"paid": "price"}),
    ("a view and its columns", OF_VIEW, {"counted": "c", "items": "pieces"}),
    ("a subquery as a common table", OF_VIEW, {"CREATE VIEW counted AS": "WITH counted AS (", "MINUTE);": "MINUTE))"}),
    ("more columns of a stateless query", SHOWN, {"price FROM": "price, product, price * 2 AS twice FROM"}),
    ("another filter of a stateless query", SHOWN, {"> 100": "> 50 AND product IS NOT NULL"}),
    ("windows of the rows of a stateless query", SHOWN, {"FROM orders": "FROM HOP(orders, time, 1 MIN, 2 MIN)"}),
    ("a filter in a branch of a union", UNITED, {"FROM orders": "FROM orders WHERE price > 1"}),
    ("memory instead of the console", TABLE, {"SELECT product": "CREATE TABLE query AS SELECT product"}),
    ("names of windowed aggregates", COUNTED, {"total": "sum", "AS n": "AS many"}),
    ("more columns of windows, behind all aggregates", COUNTED, {"AS n": "AS n, SUM(price) / COUNT(*), window_end"}),
    ("HAVING that compares an aggregate with a number", COUNTED, {"1 MINUTE)": "1 MINUTE) HAVING COUNT(*) > 2"}),
    ("another number in HAVING", HIGH, {"> 2": "<= 5 AND (SUM(price) > -1.5)"}),
    ("a filter of OVER", RUNNING, {"AS sums": "AS sums WHERE total > 5 AND product = 'a'"}),
    ("columns of OVER in another order", RUNNING, {"product, total FROM": "total * 2, product, total FROM"}),
    ("a filter of OVER ROWS", REMEMBERED, {"AS sums": "AS sums WHERE product = 'a'"}),
    ("what a join in panes shows", JOINED, {"o.price - s.cost": "s.cost / o.price"}),
    (
        "what a join with a table shows",
        LOOKED_UP,
        {"u.name FROM": "UPPER(v.name) FROM", "users u": "users v", "u.id": "v.id"},
    ),
    ("more columns of distinct rows", DISTINCT, {"STREAM p, time": "STREAM UPPER(p)"}),
    ("a longer top list", TOP, {"<= 3": "<= 5"}),
    ("more columns of a table", TABLE, {"AS n": "AS n, COUNT(*) * 2 AS twice"}),
    ("how many files a batch has", BIG, {"path = 'orders'": "path = 'orders', files_per_batch = 2"}),
]
REFUSED: list[tuple[str, str, Change, str]] = [
    ("another aggregate", COUNTED, {"SUM": "MAX"}, "MAX(`price` + CAST(0 AS DOUBLE))"),
    ("one more aggregate", COUNTED, {"AS n": "AS n, MIN(price) AS low"}, "MIN(`price` + CAST(0 AS DOUBLE))"),
    (
        "aggregates in another order",
        OF_VIEW,
        {"product, items, n FROM": "product, n, items FROM"},
        "+   `n` AS `n`,\n+   `items` AS `items`",
    ),
    ("an aggregate that nothing uses", OF_VIEW, {"product, items, n FROM": "product, n FROM"}, "`n`"),
    ("an aggregate used before its place", COUNTED, {"SUM(price) AS": "COUNT(*) * 2 AS twice, SUM(price) AS"}, "twice"),
    ("HAVING on a key", COUNTED, {"1 MINUTE)": "1 MINUTE) HAVING product = 'a'"}, "`product` = 'a'"),
    ("HAVING on a key and an aggregate", HIGH, {"> 2": "> LENGTH(product)"}, "LENGTH(`product`)"),
    ("another key", COUNTED, {"product,": "quantity,"}, "`quantity`"),
    ("another window", COUNTED, {"1 MINUTE": "2 MINUTES"}, "'2 minutes'"),
    ("a grace period", HIGH, {"> 2": "> 2 GRACE PERIOD 1 MINUTE"}, "WATERMARK time 70000 ms"),
    ("another delay", COUNTED, {"10 SECONDS": "20 SECONDS"}, "WATERMARK time 20000 ms"),
    ("changes instead of final rows", COUNTED, {"STREAM product": "product"}, "were final and would be changes"),
    ("a filter below the state", COUNTED, {"FROM orders": "FROM orders WHERE price > 1"}, "`price` > "),
    ("a filter of a joined stream", JOINED, {"> 1": "> 2"}, "`o.quantity` > 2"),
    ("another bound", JOINED, {"5 MINUTES": "6 MINUTES"}, "'6' MINUTE"),
    ("one more column of a joined stream", JOINED, {"AS gain": "AS gain, o.product"}, "`o.product`"),
    (
        "what a join one by one shows",
        ONE_BY_ONE,
        {"o.price - s.cost": "s.cost / o.price"},
        "`s.cost` / `o.price`",
    ),
    ("another frame", RUNNING, {"10 MINUTES": "11 MINUTES"}, "660000000 PRECEDING"),
    ("rows instead of time", RUNNING, {"RANGE 10 MINUTES": "ROWS 10"}, "ROWS BETWEEN"),
    ("a condition on a table", LOOKED_UP, {"o.id = u.id": "o.id = u.id AND u.region = 'eu'"}, "`right`.`c2` = 'eu'"),
    ("a filter of distinct rows", DISTINCT, {"AS d": "AS d WHERE p <> 'a'"}, "`p` <> 'a'"),
    ("state partitions", COUNTED, {"SELECT STREAM": "SET state_partitions = 8; SELECT STREAM"}, "had 4 partitions"),
    ("the store of the state", COUNTED, {"SELECT STREAM": "SET state_store = 'rocksdb'; SELECT STREAM"}, "in rocksdb"),
    ("another folder of the input", SHOWN, {"path = 'orders'": "path = 'more'"}, "orders: files more json"),
    ("another type in the input", SHOWN, {"quantity INT": "quantity BIGINT"}, "quantity BIGINT"),
    ("one more input", SHOWN, {"> 100": "> 100 UNION ALL SELECT STREAM id, cost FROM shipments"}, "shipments: files"),
    ("an input read twice", SHOWN, {"> 100": "> 100 UNION ALL SELECT STREAM id, 0 FROM orders"}, "UNION ALL"),
    ("which rows are rejected", SHOWN, {",\n  WATERMARK FOR time AS time - 10 SECONDS": ""}, "no event time"),
    ("another filter, to files", BIG, {"> 100": "> 50"}, "CAST(50 AS DOUBLE)"),
    ("another column, to files", BIG, {"o.id, price FROM": "o.id, price * 2 FROM"}, "* CAST(2 AS DOUBLE)"),
    ("another folder of the output", BIG, {"path = 'big'": "path = 'large'"}, "was files big json"),
    ("a filter of a table", USERS, {"FROM users": "FROM users WHERE region = 'eu'"}, "`region` = 'eu'"),
    ("HAVING over a table", TABLE, {"BY product": "BY product HAVING COUNT(*) > 1"}, "`n` > CAST(1 AS BIGINT)"),
]


def queries(script: str) -> dict[str, SparkQuery]:
    return {query.name: query for query in compile(f"{script};").program.queries}


def both(query: str, change: Change) -> tuple[dict[str, SparkQuery], dict[str, SparkQuery]]:
    """The queries of the script before and after the change."""
    script = DECLARED + query
    assert all(old in script for old in change)
    return queries(script), queries(reduce(lambda text, pair: text.replace(*pair), change.items(), script))


@pytest.mark.parametrize(("query", "change"), [pair[1:] for pair in PASS], ids=[pair[0] for pair in PASS])
def test_a_checkpoint_survives(query: str, change: Change) -> None:
    before, now = both(query, change)
    assert before.keys() == now.keys()
    for name in now:
        assert refusal(describe_query(before[name]), describe_query(now[name]), "here") is None
        assert refusal(describe_query(now[name]), describe_query(before[name]), "here") is None


@pytest.mark.parametrize(("query", "change", "told"), [p[1:] for p in REFUSED], ids=[pair[0] for pair in REFUSED])
def test_a_checkpoint_does_not_survive(query: str, change: Change, told: str) -> None:
    (before,), (now,) = (found.values() for found in both(query, change))
    found = refusal(describe_query(before), describe_query(now), "here")
    assert found is not None
    assert found.code == "R010"
    assert told in (found.detail or "")
    assert not re.search(r"#\d+`", found.detail or ""), "people see the names of the script"
    assert "--overwrite" in (found.hint or "")
    assert refusal(describe_query(now), describe_query(before), "here") is not None


CHAIN = """SELECT STREAM window_end, most + 1 AS more FROM (SELECT STREAM window_end, MAX(n) AS most FROM (
  SELECT STREAM id, window_end AS minute, COUNT(*) AS n FROM orders GROUP BY id, TUMBLE(time, 1 MINUTE)) AS minutes
  GROUP BY TUMBLE(minute, 1 HOUR)) AS hours"""


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"hours": "h", "most": "highest"}, set()),
        ({"1 HOUR": "2 HOURS"}, {"query"}),
        ({"1 MINUTE)": "1 MINUTE) HAVING COUNT(*) > 1"}, {"query_intermediate1"}),
        ({"AS n FROM": "AS c FROM", "MAX(n)": "MAX(c)"}, {"query_intermediate1", "query"}),
    ],
)
def test_each_query_of_a_chain_is_judged_by_itself(change: Change, refused: set[str]) -> None:
    """What a query writes for another is held: neither its rows nor its columns may change."""
    before, now = both(CHAIN, change)
    assert before.keys() == now.keys() == {"query_intermediate1", "query"}
    found = {name for name in now if refusal(describe_query(before[name]), describe_query(now[name]), "here")}
    assert found == refused
