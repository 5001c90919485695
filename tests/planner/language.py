"""The statements that the language promises, each with what the compiler has to say to it."""

from __future__ import annotations

from dataclasses import dataclass

# What the statements below refer to. `a` makes `a.value` a field, as the first design's queries need it.
DECLARATIONS = """
CREATE STREAM orders (id BIGINT KEY, product STRING, price DECIMAL(10,2), a STRUCT<value: DOUBLE>, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'data/orders', format = 'json');
CREATE STREAM shipments (id BIGINT KEY, cost DECIMAL(10,2), time TIMESTAMP, booked TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'data/shipments', format = 'json');
CREATE STREAM sink (id BIGINT, price DECIMAL(10,2)) WITH (connector = 'files', path = 'data/sink', format = 'json');
CREATE STREAM gone (id BIGINT) WITH (connector = 'files', path = 'data/gone', format = 'json');
CREATE STREAM views (user_id BIGINT KEY, time TIMESTAMP, WATERMARK FOR time AS time)
WITH (connector = 'files', path = 'data/views', format = 'json');
CREATE TABLE users (id BIGINT PRIMARY KEY, name STRING, region STRING, updated TIMESTAMP)
WITH (connector = 'kafka', topic = 'users', format = 'json', partitions = 8,
  bootstrap_servers = 'localhost:9092');
CREATE TABLE profiles (id BIGINT PRIMARY KEY, last_seen TIMESTAMP, visits BIGINT)
WITH (connector = 'postgres', url = 'postgresql://localhost/shop', table = 'profiles');
"""
ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Promise:
    """A statement behind DECLARATIONS: `outcome` is ACCEPTED or the code of the only error."""

    sql: str
    outcome: str = ACCEPTED


DECLARING = (
    *(
        Promise(f"""{words} copy (
  id      BIGINT KEY,                          -- partitioning key (one or more columns)
  product STRING, price DECIMAL(10,2),
  time    TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND
) WITH (connector = 'files', path = 'data/orders', format = 'json', partitions = 8);""")
        for words in ("CREATE STREAM", "CREATE OR REPLACE STREAM", "CREATE STREAM IF NOT EXISTS")
    ),
    Promise("""CREATE TABLE people (id BIGINT PRIMARY KEY, name STRING, region STRING, updated TIMESTAMP)
WITH (connector = 'kafka', topic = 'users', format = 'json', partitions = 8,
  bootstrap_servers = 'localhost:9092');   -- a changelog: KTable"""),
    Promise("""CREATE TABLE cards (id BIGINT PRIMARY KEY)
WITH (connector = 'postgres', url = 'postgresql://db', table = 'profiles', password = ENV('PGPASSWORD'));"""),
    Promise("CREATE STREAM big  AS SELECT STREAM * FROM orders WHERE price > 100;         -- KStream"),
    Promise(
        "CREATE TABLE totals AS SELECT product, SUM(price) AS total FROM orders GROUP BY product;      -- KTable",
    ),
    Promise("""CREATE TABLE hourly AS SELECT product, COUNT(*) AS n FROM orders
  GROUP BY product, TUMBLE(time, INTERVAL '1' HOUR);                          -- WTable"""),
    Promise("CREATE VIEW v AS SELECT id FROM orders;                                       -- inlined"),
    Promise("""CREATE STREAM types (a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE,
  h DECIMAL(3,1), i STRING, j VARCHAR, k BINARY, l DATE, m TIMESTAMP,
  n ARRAY<INT>, o MAP<STRING, INT>, p STRUCT<q: INT>)
WITH (connector = 'files', path = 'p', format = 'json')"""),
    Promise("CREATE STREAM s (id INT) WITH (connector = 'files', pth = 'p', path = 'p', format = 'json')", "C002"),
    Promise("CREATE STREAM s (id INT) WITH (connector = 'file', path = 'p', format = 'json')", "C001"),
    Promise(
        "CREATE STREAM s (t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '1' MONTH) "
        "WITH (connector = 'files', path = 'p', format = 'json')",
        "W004",
    ),
    Promise(
        "CREATE STREAM s (time TIMESTAMP, key INT, value INT, min INT, window INT, date DATE, partition INT, table INT)"
        " WITH (connector = 'files', path = 'p', format = 'json');\n"
        "SELECT STREAM time, key, value, min, window, date, partition, table FROM s"
    ),
    Promise("select stream `id`, \"product\" AS \"a b\", 'it''s' AS `c d` /* as\nquoted */ from orders -- so"),
)

ASKING = (
    Promise("SELECT STREAM id FROM orders"),
    Promise("SELECT STREAM CONCAT(product, 'x') AS string FROM orders"),
    Promise("SELECT id FROM orders", "K002"),
    Promise("SELECT STREAM product, SUM(price) AS s FROM orders GROUP BY product", "K001"),
    Promise("SELECT STREAM DISTINCT product, time FROM orders"),
    Promise("SELECT STREAM DISTINCT product FROM orders", "W040"),
    Promise("SELECT DISTINCT product FROM orders"),
    Promise("SELECT STREAM t.id FROM (SELECT STREAM id FROM orders) AS t"),
    Promise("WITH c AS (SELECT STREAM id FROM orders) SELECT STREAM id FROM c"),
    Promise("SELECT STREAM id FROM orders UNION ALL SELECT STREAM id FROM shipments"),
    Promise("SELECT STREAM CASE WHEN id IN (1, 2) THEN CAST(price AS STRING) ELSE product END AS x FROM orders"),
    Promise("SELECT STREAM TRANSFORM(ARRAY(id), x -> x + 1) AS l FROM orders WHERE product LIKE 'a%' OR id = 1"),
    Promise("SELECT STREAM product, COUNT(*) AS n FROM TUMBLE(orders, time, INTERVAL '1' HOUR) GROUP BY product"),
    Promise("SELECT STREAM product, COUNT(*) AS n FROM HOP(orders, time, 5 MIN, 1 HOUR) o GROUP BY product"),
    Promise("SELECT STREAM product, COUNT(*) AS n FROM SESSION(orders, time, 30 MIN) AS o GROUP BY product"),
    Promise("SELECT STREAM product, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, INTERVAL '1' HOUR)"),
    Promise("SELECT STREAM product, COUNT(*) AS n FROM orders GROUP BY product, HOP(time, 5 MIN, 1 HOUR)"),
    Promise("SELECT STREAM product, COUNT(*) AS n FROM orders GROUP BY product, CUMULATE(time, 5 MIN, 1 HOUR)"),
    Promise("SELECT STREAM COUNT(DISTINCT product) AS n FROM CUMULATE(orders, time, 5 MIN, 1 HOUR)"),
    Promise("SELECT STREAM product, COUNT(*) n FROM orders GROUP BY product, SESSION(time, 9 MIN) HAVING COUNT(*) > 1"),
    Promise("SELECT STREAM product, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 1 MONTH)", "W004"),
    Promise("SELECT STREAM product, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 1 YEAR)", "W004"),
    Promise("SELECT STREAM id FROM orders PARTITION BY product INTO 8 PARTITIONS"),
    Promise("SELECT product, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 1 HOUR) EMIT CHANGES"),
    Promise("SELECT STREAM product, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 1 HOUR) EMIT FINAL"),
    Promise(
        "SELECT product, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 1 HOUR) EMIT EARLY EVERY 1 MINUTE",
    ),
    Promise("SELECT STREAM product, window_start FROM HOP(orders, time, 5 MIN, 1 HOUR)"),
    Promise("SELECT STREAM product, id, COUNT(*) AS n FROM orders GROUP BY ROLLUP(product, id), TUMBLE(time, 1 HOUR)"),
    Promise("SELECT STREAM id FROM orders DEDUPLICATE ON (id) WITHIN 10 MIN"),
    Promise("SELECT STREAM id FROM orders QUALIFY id > 1", "W005"),
    Promise("SELECT STREAM id FROM orders EMIT CHANGES"),
    Promise("SELECT STREAM id FROM orders EMIT FINAL", "W005"),
    Promise("SELECT STREAM product, COUNT(*) n FROM orders GROUP BY product, TUMBLE(time, 1 HOUR) GRACE PERIOD 5 MIN"),
    Promise(
        "SELECT STREAM product, COUNT(*) n FROM orders GROUP BY product, TUMBLE(time, 1 HOUR) RETENTION 1 DAY", "W005"
    ),
    Promise("SELECT STREAM product, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 1 HOUR) LATE DROP"),
    Promise("SELECT STREAM product, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 1 HOUR) LATE INTO sink"),
    *(
        Promise(f"SELECT STREAM product, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, {interval})")
        for interval in ("INTERVAL '10' MINUTE", "INTERVAL 10 MINUTES", "'10' MIN", "10 MIN", "'10' min")
    ),
)

OVER = (
    Promise("SELECT STREAM product, AVG(price) AS avg_price FROM Orders OVER (ORDER BY time RANGE '10' min PRECEDING)"),
    Promise(
        "SELECT STREAM SUM(price) OVER (PARTITION BY id ORDER BY time RANGE INTERVAL '1' HOUR PRECEDING) s FROM orders"
    ),
    Promise(
        "SELECT STREAM SUM(price) OVER (PARTITION BY id ORDER BY time RANGE BETWEEN 1 HOUR PRECEDING AND CURRENT ROW)"
        " AS s FROM orders"
    ),
    Promise(
        "SELECT STREAM COUNT(*) FILTER (WHERE price > 1) OVER w AS n, SUM(price) OVER v AS s FROM orders"
        " WINDOW w AS (PARTITION BY id ORDER BY time RANGE 1 HOUR PRECEDING),"
        " v AS (PARTITION BY id ORDER BY time RANGE 2 HOUR PRECEDING)"
    ),
    Promise("SELECT STREAM SUM(price) OVER (PARTITION BY id ORDER BY time ROWS 5 PRECEDING) AS s FROM orders"),
    Promise("SELECT STREAM LAG(price) OVER (PARTITION BY id ORDER BY time) AS s FROM orders"),
    Promise(
        "SELECT STREAM SUM(price) OVER (ORDER BY time ROWS BETWEEN 5 PRECEDING AND 1 FOLLOWING) AS s FROM orders",
        "W042",
    ),
    Promise(
        "SELECT STREAM SUM(price) OVER (PARTITION BY id ORDER BY time RANGE UNBOUNDED PRECEDING) s FROM orders", "W020"
    ),
)


def _joined(condition: str) -> str:
    return f"SELECT STREAM o.id, s.cost FROM orders o JOIN shipments s {condition}"


JOINING = (
    Promise("""SELECT STREAM o.time AS time, o.id AS id, a.value, s.cost FROM Orders AS o JOIN Shipments AS s
ON o.id = s.id AND s.time > o.time AND s.time < o.time + 5 MIN"""),
    Promise(_joined("WITHIN 5 MINUTES ON o.id = s.id")),
    Promise(_joined("WITHIN (1 MINUTE BEFORE, 5 MINUTES AFTER) ON o.id = s.id")),
    Promise(_joined("ON o.id = s.id WHERE s.time BETWEEN o.time AND o.time + 5 MIN")),
    Promise(_joined("ON o.id = s.id AND s.time = o.time")),
    Promise(_joined("ON o.id = s.id AND o.time - 1 MIN <= s.time + 1 MIN AND s.time + 1 MIN <= o.time + 3 MIN")),
    Promise(_joined("ON o.id = s.id"), "J001"),
    Promise(_joined("ON o.id = s.id AND s.time > o.time"), "J002"),
    Promise(_joined("ON o.id = s.id AND s.time < o.time + 5 MIN"), "J002"),
    Promise(_joined("ON o.id = s.id AND ABS(o.time - s.time) < 5 MIN")),
    Promise(_joined("ON o.id = s.id AND (s.time BETWEEN o.time AND o.time + 5 MIN OR o.price > 1)"), "J003"),
    Promise(_joined("ON o.id = s.id AND s.booked BETWEEN o.time AND o.time + 5 MIN"), "J004"),
    Promise(_joined("ON o.id = s.id AND s.time > o.time AND s.time < CURRENT_TIMESTAMP()"), "J005"),
    Promise(_joined("ON o.id = s.id AND s.time BETWEEN o.time AND o.time + 1 MONTH"), "J006"),
    Promise("SELECT STREAM id FROM orders WHERE id IN (SELECT id FROM shipments)", "J007"),
    Promise("SELECT STREAM id FROM orders o WHERE EXISTS (SELECT id FROM shipments)", "J007"),
    Promise("SELECT STREAM id FROM orders o WHERE NOT EXISTS (SELECT id FROM shipments)", "J007"),
    Promise(
        """CREATE TABLE a AS SELECT product AS k, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 1 DAY);
CREATE TABLE b AS SELECT product AS k, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 1 DAY);
SELECT a.k, b.n FROM a LEFT JOIN b ON a.k = b.k AND b.window_start = a.window_start - INTERVAL '7' DAY""",
    ),
)

WRITING = (
    Promise("INSERT INTO sink SELECT STREAM id, price FROM orders;                         -- stream → file"),
    Promise("DELETE FROM profiles USING STREAM gone g WHERE profiles.id = g.id;              -- delete by key"),
    Promise(
        """UPDATE profiles SET last_seen = v.time, visits = profiles.visits + 1            -- partial update
  FROM STREAM views v WHERE profiles.id = v.user_id
  ELSE INSERT (id, visits) VALUES (v.user_id, 0);         -- optional default: put when missing"""
    ),
)

LOOKING = (
    Promise("EXPLAIN SELECT STREAM id FROM orders"),
    *(Promise(f"EXPLAIN {stage} SELECT STREAM id FROM orders") for stage in ("AST", "PLAN", "STATE", "SPARK", "CODE")),
    Promise("EXPLAIN PHYSICAL SELECT STREAM id FROM orders"),
    Promise("EXPLAIN PARTITIONS SELECT STREAM id FROM orders"),
    *(Promise(f"SHOW {what}") for what in ("STREAMS", "TABLES", "VIEWS", "QUERIES", "FUNCTIONS")),
    Promise("DESCRIBE orders"),
    Promise("DROP STREAM orders"),
    Promise("DROP TABLE users"),
    *(Promise(f"{what} QUERY q", "B002") for what in ("PAUSE", "RESUME", "DROP")),
    Promise("SET state_partitions = 8"),
    *(Promise(f"SET trigger = '{how}'") for how in ("realtime", "real_time", "micro_batch")),
    Promise("SET trigger = 'realtime'; SELECT STREAM id FROM orders", "C026"),
    Promise("SET trigger = '5 seconds'", "C003"),
    Promise("SET realtime_batch = INTERVAL '30' SECOND"),
    Promise("SET trigger_interval = 100 MILLISECONDS"),
    Promise("SET trigger_interval = 0 SECONDS", "W008"),
    Promise("SET spark.sql.shuffle.partitions = 8", "C007"),
)

FIRST_DESIGN = (
    Promise("""SELECT STREAM product, AVG(price) AS avg_price

FROM Orders

OVER (ORDER BY time RANGE '10' min PRECEDING)

"""),
    Promise(
        """SELECT STREAM o.time as time, o.id as id, a.value, s.cost

FROM Orders as o \n
JOIN Shipments as s

ON o.id = s.id

""",
        "J001",
    ),
    Promise("""SELECT STREAM o.time as time, o.id as id, a.value, s.cost

FROM Orders as o

JOIN Shipments as s

ON o.id = s.id

AND s.time > o.time AND s.time < o.time + 5 MIN

"""),
)

PROMISES = (*DECLARING, *ASKING, *OVER, *JOINING, *WRITING, *LOOKING, *FIRST_DESIGN)
