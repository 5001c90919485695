"""A script of a shop, and tests of it that are run in a folder of their own."""

from __future__ import annotations

from pathlib import Path

from penstock.diagnostics import Source
from penstock.testing.run_case import CaseResult, run_source

SCRIPT = """
CREATE STREAM orders (id BIGINT, product STRING, price DECIMAL(10, 2), time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL 10 SECONDS)
WITH (connector = 'files', path = 'orders', format = 'json');

CREATE STREAM payments (order_id BIGINT, amount DECIMAL(10, 2), time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL 10 SECONDS IDLE AFTER INTERVAL 1 MINUTE)
WITH (connector = 'files', path = 'payments', format = 'json');

CREATE TABLE products (product STRING PRIMARY KEY, colour STRING)
WITH (connector = 'files', path = 'products', format = 'json');

CREATE STREAM paid AS
SELECT STREAM o.id AS id, o.product AS product, p.amount AS amount, o.time AS time
FROM orders o LEFT JOIN payments p ON o.id = p.order_id AND p.time BETWEEN o.time AND o.time + INTERVAL 5 MINUTES;

CREATE TABLE totals AS SELECT product, SUM(amount) AS total, COUNT(*) AS n FROM paid GROUP BY product;

CREATE STREAM per_minute AS
SELECT STREAM window_start, COUNT(*) AS n FROM orders WHERE price > 1 GROUP BY TUMBLE(time, INTERVAL 1 MINUTE);

CREATE TABLE busy AS
SELECT product, window_start, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, INTERVAL 1 MINUTE);

CREATE STREAM coloured AS
SELECT STREAM o.id AS id, p.colour AS colour FROM orders o LEFT JOIN products p ON o.product = p.product;

CREATE VIEW dear AS SELECT STREAM id, price FROM orders WHERE price >= 100;

CREATE STREAM ratios AS SELECT STREAM id, CAST(100 / price AS INT) AS ratio FROM orders WHERE price < 1;
"""
HEAD = "TEST 'one' OF 'shop.sql' AT '2025-01-01 10:00:00Z';\n"


def run_tests(folder: Path, text: str, script: str = SCRIPT) -> list[CaseResult]:
    """The results of a file of tests."""
    (folder / "shop.sql").write_text(script, encoding="utf-8")
    return run_source(Source("shop_test.sql", text), folder)


def run_one(folder: Path, text: str, script: str = SCRIPT) -> list[str]:
    """The codes of the findings of one test, none if it passes. The text is what follows TEST."""
    (result,) = run_tests(folder, HEAD + text, script)
    return [each.code for each in result.findings]


def explain_one(folder: Path, text: str, script: str = SCRIPT) -> str:
    """The findings of one test with their explanations and hints."""
    (result,) = run_tests(folder, HEAD + text, script)
    return "\n".join(str(part) for each in result.findings for part in (each.message, each.detail, each.hint))
