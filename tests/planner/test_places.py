"""Where a finding points to: «…» stands around the text that its first label covers."""

from __future__ import annotations

import pytest

import penstock

DECLARATIONS = """
CREATE STREAM orders (id BIGINT KEY, product STRING, price DECIMAL(10,2), time TIMESTAMP, booked TIMESTAMP,
  place STRUCT<city: STRING>, WATERMARK FOR time AS time - 1 MIN)
WITH (connector = 'files', path = 'data/orders', format = 'json');
CREATE STREAM plain (id BIGINT, time TIMESTAMP) WITH (connector = 'files', path = 'data/plain', format = 'json');
CREATE TABLE totals AS SELECT product, SUM(price) AS total FROM orders GROUP BY product;
"""
FILES = "WITH (connector = 'files', path = 'p', format = 'json')"
MARKED = [
    # Names.
    ("N001", "SELECT STREAM id, «prise» FROM orders"),
    ("N001", "SELECT STREAM id FROM orders WHERE price > 1 AND «o» = 1"),
    ("N001", "SELECT STREAM o.id, «o.prise» FROM orders o"),
    ("N001", "SELECT STREAM product, COUNT(*) AS n FROM orders GROUP BY product, «colour», TUMBLE(time, 1 HOUR)"),
    ("N001", "SELECT STREAM UPPER(LOWER(«produkt»)) AS u FROM orders"),
    ("N002", "SELECT STREAM «id» FROM orders a JOIN orders b ON a.id = b.id AND a.time = b.time"),
    ("N003", "SELECT STREAM «p.id» FROM orders o"),
    ("N003", "SELECT STREAM «p.*» FROM orders o"),
    ("N004", "SELECT STREAM «UPER(product)» AS u FROM orders"),
    ("N006", "SELECT STREAM «place.street» AS s FROM orders"),
    # Types.
    ("T001", "SELECT STREAM id FROM orders WHERE «price»"),
    (
        "T001",
        "SELECT STREAM product, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 1 HOUR) HAVING «COUNT(*)»",
    ),
    ("T002", "SELECT STREAM «time * 2» AS t FROM orders"),
    ("T003", "SELECT STREAM CASE WHEN TRUE THEN time ELSE «price» END AS c FROM orders"),
    ("T004", "SELECT STREAM CASE WHEN TRUE THEN price ELSE «product» END AS p FROM orders"),
    ("T005", "SELECT STREAM «UPPER(product, product)» AS u FROM orders"),
    ("T006", "SELECT STREAM «ABS(product)» AS a FROM orders"),
    ("T007", "SELECT STREAM id FROM orders WHERE «SUM(price)» > 1"),
    (
        "T007",
        "SELECT STREAM «COUNT(*)» AS n, SUM(price) OVER (PARTITION BY id ORDER BY time RANGE 1 HOUR PRECEDING) AS s"
        " FROM orders",
    ),
    ("T008", "SELECT STREAM id FROM orders WHERE «COUNT(*) OVER (ORDER BY time RANGE 1 HOUR PRECEDING)» > 1"),
    ("T009", f"CREATE STREAM s (a «DECIMAL(50, 2)») {FILES}"),
    ("T010", "SELECT STREAM «1e400» AS x FROM orders"),
    ("T010", "SELECT STREAM id FROM orders WHERE time > TIMESTAMP «'2013-02-30'»"),
    ("T010", "SELECT STREAM id, COUNT(*) AS n FROM orders GROUP BY id, TUMBLE(time, «999999999 WEEK»)"),
    ("T012", "SELECT STREAM «CAST(time AS BOOLEAN)» AS b FROM orders"),
    # Kinds.
    ("K001", "«SELECT STREAM product, COUNT(*) AS n FROM orders GROUP BY product»"),
    ("K002", "«SELECT id FROM orders»"),
    ("K003", "CREATE STREAM s AS «SELECT product, COUNT(*) AS n FROM orders GROUP BY product»"),
    ("K004", "SELECT STREAM id FROM orders UNION ALL «SELECT id, COUNT(*) AS n FROM orders GROUP BY id»"),
    ("K005", "SELECT STREAM id FROM orders UNION ALL «SELECT STREAM id, product FROM orders»"),
    ("K007", f"CREATE TABLE «t» (a INT) {FILES}"),
    ("K010", "SELECT STREAM id, «price AS id» FROM orders"),
    ("K011", f"CREATE STREAM «orders» (a INT) {FILES}"),
    ("K012", "SELECT STREAM id FROM «order»"),
    ("K012", "INSERT INTO «order» SELECT STREAM id FROM orders"),
    ("K013", "DROP TABLE «plain»"),
    ("K014", "SELECT STREAM product, «price», COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 1 HOUR)"),
    # Event time.
    ("W001", "SELECT STREAM id, COUNT(*) AS n FROM plain GROUP BY id, «TUMBLE(time, 1 HOUR)»"),
    ("W002", "SELECT STREAM id, COUNT(*) AS n FROM orders GROUP BY id, TUMBLE(«booked», 1 HOUR)"),
    ("W003", f"CREATE STREAM s (t TIMESTAMP, WATERMARK FOR t AS «t + 1 MIN») {FILES}"),
    ("W004", f"CREATE STREAM s (t TIMESTAMP, WATERMARK FOR t AS t - «1 MONTH») {FILES}"),
    ("W005", "SELECT STREAM id FROM orders «EMIT FINAL»"),
    (
        "W005",
        "SELECT STREAM SUM(price) OVER (PARTITION BY id ORDER BY time RANGE 1 HOUR PRECEDING) AS s FROM orders"
        " HAVING «id > 1»",
    ),
    ("W006", "SELECT STREAM id, COUNT(*) AS n FROM orders GROUP BY id, «HOP(time, 1 HOUR)»"),
    ("W007", "SELECT STREAM id, COUNT(*) AS n FROM orders GROUP BY id, HOP(time, «2 HOUR», 1 HOUR)"),
    ("W008", "SELECT STREAM id, COUNT(*) AS n FROM orders GROUP BY id, TUMBLE(time, «0 HOUR»)"),
    ("W009", "SELECT STREAM id, COUNT(*) AS n FROM orders GROUP BY id, TUMBLE(time, 1 HOUR), «TUMBLE(time, 2 HOUR)»"),
    ("W013", f"CREATE STREAM s (t INT, WATERMARK FOR «t» AS t - 1 MIN) {FILES}"),
    ("W021", "SELECT STREAM SUM(price) OVER (ORDER BY «booked» RANGE 1 HOUR PRECEDING) AS s FROM orders"),
    ("W022", "SELECT STREAM «SUM(price) OVER (PARTITION BY id ORDER BY time)» AS s FROM orders"),
    ("W024", "SELECT STREAM SUM(price) OVER «v» AS s FROM orders WINDOW w AS (ORDER BY time RANGE 1 HOUR PRECEDING)"),
    ("W026", "SELECT STREAM «SUM(total) OVER (ORDER BY total RANGE 1 HOUR PRECEDING) AS s» FROM totals"),
    # Not supported yet, rather than left out in silence.
    (
        "B002",
        "SELECT STREAM id, COUNT(*) AS n"
        " FROM «TUMBLE(orders OVER (ORDER BY time RANGE 1 HOUR PRECEDING), time, 1 HOUR)»",
    ),
    (
        "B002",
        "SELECT STREAM id, COUNT(*) AS n FROM orders OVER (ORDER BY time RANGE 1 HOUR PRECEDING)"
        " GROUP BY «id», TUMBLE(time, 1 HOUR)",
    ),
]


@pytest.mark.parametrize(("code", "marked"), MARKED)
def test_the_first_label_covers_what_is_wrong(code: str, marked: str) -> None:
    before, rest = marked.split("«")
    wrong, after = rest.split("»")
    with pytest.raises(penstock.CompileError) as refusal:
        penstock.compile(DECLARATIONS + before + wrong + after)
    (found,) = (finding for finding in refusal.value.diagnostics if finding.severity == "error")
    span = found.labels[0].span
    start = len(DECLARATIONS + before)
    assert (found.code, span.text, span.start) == (code, wrong, start)
