"""Hypothesis strategies: changelogs as they arrive, and queries over tables to run over them.

Keys and values are few, so that keys are changed several times in a micro-batch, deleted, inserted again, and match
keys of other tables. Some records are older than what is known of their key, and some come twice.
"""

from __future__ import annotations

import functools
import re

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import penstock
from penstock.evaluator.history import History, Tables
from penstock.evaluator.typed_values import EPOCH, Row, milliseconds
from penstock.planner.passes import pipeline
from penstock.planner.passes.check_sources import check_sources
from penstock.planner.passes.check_supported import check_supported
from penstock.planner.plan import Node

NAMES = ("t", "u", "v", "w")
_COLUMNS = "g STRING, v BIGINT, price DECIMAL(10, 2), yes BOOLEAN, seq INT, time TIMESTAMP"
_KEYS_AT = (0, 6, 3, 6)
"""The place of the key among the columns of each table."""
_ORDERS = (", sequence = 'seq'", "", ", sequence = 'seq'", "")


def declared(folder: str = "", files_per_batch: int = 0) -> str:
    """Tables, of which some have their newest record by a column, others by the order of the files; and two streams.

    The key stands at the front, in the middle, or behind the other columns.
    """
    place = f"{folder}/" if folder else ""
    batch = f", files_per_batch = {files_per_batch}" if files_per_batch else ""
    tables = "".join(
        f"""CREATE TABLE {name} ({place_key(place_of_key)})
WITH (connector = 'files', path = '{place}{name}', format = 'json', operation = 'op'{order}{batch});
"""
        for name, place_of_key, order in zip(NAMES, _KEYS_AT, _ORDERS, strict=True)
    )
    streams = "".join(
        f"""CREATE STREAM {name} (id STRING KEY, {_COLUMNS}, WATERMARK FOR time AS time - 1 DAY)
WITH (connector = 'files', path = '{place}{name}', format = 'json'{batch});
"""
        for name in ("s", "r")
    )
    return f"""{tables}{streams}CREATE TABLE x (id STRING PRIMARY KEY, {_COLUMNS}, WATERMARK FOR time AS time)
WITH (connector = 'files', path = '{place}x', format = 'json', operation = 'op', retention = 1 DAY{batch});
"""


def place_key(place: int) -> str:
    """The columns, with the key at that place."""
    columns = re.split(r", (?=[a-z])", _COLUMNS)
    return ", ".join([*columns[:place], "id STRING PRIMARY KEY", *columns[place:]])


DECLARED = declared()
WHAT_RUNS = (check_supported, check_sources)


@functools.cache
def planned(sql: str) -> Node:
    """The plan of a query over the declared tables, also where this version does not run it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pipeline, "CHECKS", tuple(each for each in pipeline.CHECKS if each not in WHAT_RUNS))
        (query,) = penstock.compile(DECLARED + sql).queries
    return query.root


BASE = EPOCH + milliseconds(86_400_000)
KEYS = ("a", "a", "b", "c")


@st.composite
def records(draw: st.DrawFn, most: int, names: tuple[str, ...]) -> list[tuple[str, Row]]:
    """Records of the tables in the order of their arrival."""
    shape = st.tuples(
        st.sampled_from(names),
        st.sampled_from((*KEYS, *KEYS, *KEYS, None)),
        st.sampled_from(("a", "b", "c", None)),
        st.none() | st.integers(-2, 2),
        st.none() | st.decimals(-1, 1, places=2),
        st.none() | st.booleans(),
        st.sampled_from((0, 1, 1, 1, 2, -1, -2, -4, None)),  # how much newer than the newest one, None: not said
        st.sampled_from(("insert", "insert", "update", None, "delete", "D", "-d")),
    )
    arrived: list[tuple[str, Row]] = []
    clock = 0
    for name, key, group, value, price, yes, later, operation in draw(
        st.lists(shape, min_size=draw(st.sampled_from((0, 5, 12))), max_size=most)
    ):
        clock += max(0, later or 0)
        seq = None if later is None else clock + min(0, later)
        time = BASE + milliseconds(2000 * (clock // 3) + 500 * (clock % 3))
        row: Row = {"id": key, "g": group, "v": value, "price": price, "yes": yes, "seq": seq, "time": time}
        row["op"] = operation
        arrived.append((name, row))
        if draw(st.integers(0, 7)) == 0:
            arrived.append(draw(st.sampled_from(arrived)))
    return arrived


@st.composite
def histories(draw: st.DrawFn, names: tuple[str, ...], most: int = 20) -> History:
    """Records of tables, cut into micro-batches anywhere."""
    arrived = draw(records(most, names))
    borders = draw(st.lists(st.booleans(), min_size=len(arrived), max_size=len(arrived)))
    batches: list[Tables] = [{name: [] for name in names}]
    for (name, row), border in zip(arrived, borders, strict=True):
        if border:
            batches.append({name: [] for name in names})
        batches[-1][name].append(row)
    return History(tuple(batches))


SIDES = (
    "{table}",
    "{table}",
    "{table}",
    "(SELECT id, g, v + 1 AS v FROM {table} WHERE v > -1)",
    "(SELECT g AS id, CAST(NULL AS STRING) AS g, COUNT(v) AS v FROM {table} GROUP BY g)",
    "(SELECT g AS id, CAST(NULL AS STRING) AS g, SUM(v) AS v FROM {table} WHERE g IS NOT NULL GROUP BY g)",
)
"""What is joined: changelogs, filtered ones, and groups, whose key may be NULL."""


@st.composite
def joins(draw: st.DrawFn, kinds: tuple[str, ...], most: int) -> str:
    """A join of 2 to `most` tables, of which the last join is one of `kinds`."""
    number = draw(st.integers(2, most))
    sides = [draw(st.sampled_from(SIDES)) for _ in range(number)]
    aliases = NAMES[:number]
    text = f"FROM {sides[0].format(table='t')} x0"
    groups = [frozenset([0])]  # of each group of sides at least one is there in every row so far
    with_null = "GROUP BY" in sides[0] and "WHERE" not in sides[0]
    for place in range(1, number):
        kind = draw(st.sampled_from(kinds if place == number - 1 else ("INNER", "LEFT", "RIGHT", "FULL")))
        null_key = "GROUP BY" in sides[place] and "WHERE" not in sides[place]
        if kind == "FULL" and with_null and null_key:
            sides[place], null_key = "{table}", False
        through = draw(st.sampled_from(groups)) if kind == "FULL" else frozenset([draw(st.integers(0, place - 1))])
        shown = [f"x{each}.id" for each in sorted(through)]
        left = shown[0] if len(shown) == 1 else f"COALESCE({', '.join(shown)})"
        condition = ""
        if kind != "FULL" and draw(st.booleans()):
            other = draw(st.integers(0, place - 1))
            condition = draw(st.sampled_from((f" AND x{other}.v < x{place}.v", f" AND x{place}.v <> 1", "")))
        text += f" {kind} JOIN {sides[place].format(table=aliases[place])} x{place} ON {left} = x{place}.id{condition}"
        new = frozenset([place])
        match kind:
            case "INNER":
                groups, with_null = [*groups, through, new], False
            case "RIGHT":
                groups, with_null = [new], null_key
            case "FULL":
                groups, with_null = [group | new for group in groups], with_null or null_key
    key = ", ".join(f"x{each}.id" for each in range(number))
    columns = ", ".join(f"x{each}.{name} AS {name}{each}" for each in range(number) for name in ("id", "v"))
    return f"SELECT COALESCE({key}) AS k, {columns} {text}"


AGGREGATES = (
    "COUNT(*) AS n, COUNT(v) AS known, SUM(v) AS total, SUM(price) AS revenue",
    "COUNT(*) AS n, AVG(price) AS mean, AVG(v) AS middle, VARIANCE(CAST(v AS INT)) AS spread, STDDEV_POP(price) AS dev",
    "SUM(v) FILTER (WHERE yes) AS chosen, COUNT_IF(yes) AS some, EVERY(yes) AS every, ANY(v > 0) AS positive",
    "MIN(v) AS least, MAX(price) FILTER (WHERE yes) AS most, COUNT(*) AS n, SUM(price) AS revenue, AVG(v) AS middle",
    "COUNT(DISTINCT v) AS some, SUM(DISTINCT price) AS total, AVG(DISTINCT v) AS mean, COUNT(DISTINCT v, yes) AS pairs",
    "MIN_BY(id, v) AS first, MAX_BY(price, time) AS newest, MAX(id) AS last, MIN(time) AS since",
    "SUM(v / 2) AS half, AVG(CAST(price AS DOUBLE) + 1) AS mean, STDDEV(v / 4) AS dev, VAR_POP(v) AS spread",
    "BIT_XOR(v) AS odd, BIT_OR(v) AS some, BIT_AND(v) FILTER (WHERE yes) AS bits, MAX(yes) AS any, MIN(g) AS least",
)
COLLECTED = (
    "COLLECT_LIST(v) AS all, ARRAY_AGG(id ORDER BY v DESC, price) AS ids, COLLECT_SET(price) AS prices, COUNT(*) AS n",
    "LISTAGG(g, ',') FILTER (WHERE yes) AS text, STRING_AGG(DISTINCT CAST(v AS STRING), '-') AS texts,"
    " TOPK(v, 2) AS top, TOPKDISTINCT(price, 2) AS tops, ARRAY_AGG(v ORDER BY time DESC NULLS FIRST, id) AS newest",
)
GROUPED = (
    "SELECT g, {aggregates} FROM t GROUP BY g",
    "SELECT g, yes, {aggregates} FROM t WHERE v IS NOT NULL GROUP BY g, yes",
    "SELECT g, {aggregates} FROM t GROUP BY g HAVING COUNT(*) > 1",
    "SELECT {aggregates} FROM t",
    "SELECT v + 1 AS w, {aggregates} FROM t GROUP BY v + 1",
    "SELECT known AS v, COUNT(*) AS n, SUM(total) AS total FROM (SELECT g, {aggregates} FROM t GROUP BY g) q"
    " GROUP BY known",
    "SELECT g, {aggregates} FROM (SELECT t.id AS id, t.g AS g, u.v AS v, t.price AS price, u.yes AS yes,"
    " t.time AS time FROM t"
    " LEFT JOIN u ON t.id = u.id) q GROUP BY g",
    "SELECT n, g FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g) q WHERE n > 1",
    "SELECT DISTINCT g, v FROM t WHERE yes",
    "SELECT g, yes, GROUPING_ID() AS set, {aggregates} FROM t GROUP BY ROLLUP (g, yes)",
    "SELECT g, w, GROUPING_ID() AS set, {aggregates} FROM (SELECT t.id AS id, t.g AS g, u.g AS w, u.v AS v,"
    " t.price AS price, t.yes AS yes, t.time AS time FROM t LEFT JOIN u ON t.id = u.id) q"
    " GROUP BY GROUPING SETS ((g), (w), (g, w))",
    "SELECT DISTINCT v > 0 AS positive FROM t",
    "SELECT DISTINCT most, some FROM (SELECT g, MAX(v) AS most, COUNT(DISTINCT yes) AS some FROM t GROUP BY g) q",
    "SELECT most, COUNT(*) AS n, MIN(g) AS least FROM (SELECT g, MAX(v) AS most FROM t GROUP BY g) q GROUP BY most",
)


@st.composite
def groupings(draw: st.DrawFn) -> str:
    """Groups of a table, of a filtered one, of other groups and of a join."""
    text = draw(st.sampled_from(GROUPED))
    return text.format(aggregates=AGGREGATES[0] if "known AS" in text else draw(st.sampled_from(AGGREGATES)))


@st.composite
def lists(draw: st.DrawFn) -> str:
    """The values of groups, in order."""
    text = draw(st.sampled_from([each for each in GROUPED if "{aggregates}" in each and "known AS" not in each]))
    return text.format(aggregates=draw(st.sampled_from(COLLECTED)))


STATELESS = (
    "SELECT * FROM t",
    "SELECT id, v FROM u WHERE v > 0",
    "SELECT id, v * 2 AS w, g FROM t WHERE yes OR v IS NULL",
    "SELECT n, g FROM (SELECT g, COUNT(*) AS n FROM s GROUP BY g) q WHERE n > 1",
    "SELECT id, COUNT(*) AS n, SUM(v) AS total FROM s GROUP BY id HAVING SUM(v) > 0",
)
"""Filters and projections, HAVING over a stream among them."""

FOREIGN = (
    "SELECT t.id AS id, t.v AS v, u.v AS other FROM t {kind} JOIN u ON t.g = u.id{condition}",
    "SELECT u.id AS id, t.v AS v, u.v AS other FROM u {kind} JOIN t ON u.g = t.id{condition}",
    "SELECT t.id AS id, t.v AS v, q.n AS other FROM t {kind} JOIN (SELECT g, COUNT(*) AS n FROM u GROUP BY g) q"
    " ON t.g = q.g",
    "SELECT x.id AS id, v.price AS price FROM (SELECT t.id AS id, u.g AS g FROM t LEFT JOIN u ON t.id = u.id) x"
    " {kind} JOIN v ON x.g = v.id",
    "SELECT t.id AS id, u.v AS v, w.v AS other FROM t {kind} JOIN u ON t.g = u.id LEFT JOIN w ON u.g = w.id",
    "SELECT q.g AS g, COUNT(*) AS n, SUM(q.v) AS total FROM (SELECT t.id AS id, u.g AS g, u.v AS v FROM t"
    " {kind} JOIN u ON t.g = u.id) q GROUP BY q.g",
)
SWAPPED = "SELECT t.id AS id, t.v AS v, u.v AS other FROM u JOIN t ON t.g = u.id"
CONDITIONS = ("", "", " AND u.yes", " AND t.v < u.v")


@st.composite
def foreign(draw: st.DrawFn, kind: str) -> str:
    """Joins of tables of which the rows of one refer to rows of the other, and what is computed from them."""
    text = draw(st.sampled_from((*FOREIGN, SWAPPED) if kind == "INNER" else FOREIGN))
    return text.format(kind=kind, condition=draw(st.sampled_from(CONDITIONS)))


OUTER = (
    "SELECT t.id AS id, u.id AS uid, t.v AS v, u.v AS other FROM t RIGHT JOIN u ON t.g = u.id",
    "SELECT t.id AS id, u.id AS uid, t.v AS v, u.v AS other FROM t FULL JOIN u ON t.g = u.id",
    "SELECT t.id AS id, u.id AS uid, t.v AS v FROM t RIGHT JOIN u ON t.g = u.id AND t.v > 0",
    "SELECT t.id AS id, u.id AS uid, u.v AS other FROM u LEFT JOIN t ON t.g = u.id",
    "SELECT t.id AS id, u.id AS uid, u.v AS other FROM u FULL JOIN t ON t.g = u.id",
    "SELECT t.id AS id, u.id AS uid, u.v AS other FROM u RIGHT JOIN t ON t.g = u.id AND u.v > 0",
    "SELECT t.id AS id, q.g AS g, q.n AS n FROM t FULL JOIN (SELECT g, COUNT(*) AS n FROM u GROUP BY g) q ON t.g = q.g",
    "SELECT q.uid AS uid, COUNT(*) AS n, MAX(q.v) AS v FROM (SELECT t.id AS id, u.id AS uid, t.v AS v FROM t"
    " RIGHT JOIN u ON t.g = u.id) q GROUP BY q.uid",
    "SELECT x.id AS id, v.id AS other FROM (SELECT t.id AS id, u.g AS g FROM t LEFT JOIN u ON t.id = u.id) x"
    " FULL JOIN v ON x.g = v.id",
    "SELECT t.id AS id, x.id AS other, x.v AS v FROM t FULL JOIN t x ON t.g = x.id",
    "SELECT t.id AS id, u.id AS uid, v.id AS vid FROM t FULL JOIN u ON t.g = u.id LEFT JOIN v ON u.g = v.id",
)
outer: SearchStrategy[str] = st.sampled_from(OUTER)
"""Joins on a foreign key that also show rows to which nothing refers."""

TOGETHER = (
    "SELECT x.g AS g, x.n AS n, y.total AS total FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g) x"
    " LEFT JOIN (SELECT g, SUM(v) AS total FROM u GROUP BY g) y ON x.g = y.g",
    "SELECT t.id AS id, t.v AS v, q.n AS n FROM t LEFT JOIN (SELECT id, COUNT(*) AS n FROM s GROUP BY id) q"
    " ON t.id = q.id",
    "SELECT w, COUNT(*) AS n, SUM(v) AS total FROM (SELECT t.id AS id, t.v AS v, u.g AS w FROM t LEFT JOIN u"
    " ON t.id = u.id) q WHERE v > 0 GROUP BY w",
    "SELECT n, COUNT(*) AS groups FROM (SELECT s, COUNT(*) AS n FROM (SELECT g, SUM(v) AS s FROM t GROUP BY g)"
    " q GROUP BY s) q GROUP BY n",
    "SELECT u.id AS id, u.v AS v, q.n AS n FROM u JOIN (SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING COUNT(*) > 1)"
    " q ON u.id = q.g",
    "SELECT v.id AS id, q.v AS v, q.w AS w FROM v LEFT JOIN (SELECT t.id AS id, t.v AS v, u.v AS w FROM t JOIN u"
    " ON t.id = u.id) q ON v.id = q.id",
    "WITH e AS (SELECT g, SUM(v) AS s FROM t GROUP BY g), y AS (SELECT s, COUNT(*) AS n FROM e GROUP BY s)"
    " SELECT e.g AS g, e.s AS s, y.n AS n FROM e JOIN y ON e.s = y.s",
    "WITH e AS (SELECT g, SUM(v) AS s FROM t GROUP BY g), y AS (SELECT s AS k, COUNT(*) AS n FROM e GROUP BY s),"
    " z AS (SELECT v AS k, COUNT(*) AS n FROM u GROUP BY v)"
    " SELECT y.k AS k, y.n AS n, z.n AS m FROM y JOIN z ON y.k = z.k",
)
together: SearchStrategy[str] = st.sampled_from(TOGETHER)
"""Groups and joins over what aggregations compute, in the same query and in queries of their own."""

LOOKUPS = (
    "SELECT STREAM s.id AS id, s.v AS v, t.v AS other FROM s {kind} JOIN t ON s.id = t.id",
    "SELECT STREAM s.v AS v, u.v AS other FROM s {kind} JOIN u ON s.g = u.id AND u.v > s.v WHERE s.v IS NOT NULL",
    "SELECT STREAM s.id AS id, q.n AS n FROM s {kind} JOIN (SELECT g, COUNT(*) AS n FROM t GROUP BY g) q ON s.g = q.g",
    "SELECT STREAM s.id AS id, t.v AS v, u.g AS g FROM s {kind} JOIN t ON s.id = t.id LEFT JOIN u ON t.g = u.id",
)


@st.composite
def lookups(draw: st.DrawFn, kind: str) -> str:
    """Streams that look up tables."""
    return draw(st.sampled_from(LOOKUPS)).format(kind=kind)


MEMBERSHIPS = (
    "SELECT id, v FROM t WHERE g IN (SELECT id FROM u WHERE v > 0)",
    "SELECT id, v FROM t WHERE g IN (SELECT g FROM u WHERE yes)",
    "SELECT id, v FROM t WHERE id NOT IN (SELECT id FROM u WHERE v > 0)",
    "SELECT id, v FROM t WHERE g IS NOT NULL AND g NOT IN (SELECT g FROM u WHERE NOT g IS NULL)",
    "SELECT id, g FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.g = t.g AND u.v = t.v AND u.yes)",
    "SELECT id, g FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE u.g = t.g AND t.v > 0)",
    "SELECT id, g FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE u.id = t.g AND u.v > t.v) AND v < 2",
    "SELECT id, v FROM t WHERE v IN (SELECT v + 1 FROM u) AND id NOT IN (SELECT id FROM w WHERE yes)",
    "SELECT id, v FROM t WHERE g IN (SELECT g FROM u GROUP BY g HAVING COUNT(*) > 1)",
    "SELECT id, v FROM t WHERE EXISTS (SELECT 1 FROM t x WHERE x.g = t.id)",
    "SELECT id, v FROM t WHERE v IN (SELECT v FROM t WHERE g = 'b')",
    "SELECT g, COUNT(*) AS n, MAX(v) AS most FROM t WHERE g NOT IN (SELECT id FROM u) AND g IS NOT NULL GROUP BY g",
    "SELECT t.id AS id, u.v AS v FROM t JOIN u ON t.g = u.id WHERE t.id IN (SELECT id FROM w)",
    "SELECT t.id AS id, t.g AS g FROM t LEFT SEMI JOIN u ON t.id = u.id AND u.v > 0",
    "SELECT t.id AS id, t.g AS g FROM t LEFT ANTI JOIN u ON t.g = u.id AND t.v < u.v",
    "SELECT t.id AS id, t.g AS g FROM t LEFT ANTI JOIN u ON t.g = u.g AND t.yes LEFT SEMI JOIN w ON t.id = w.g",
)
WITHOUT_KEYS = (
    "SELECT g, COUNT(*) AS n, MAX(w) AS most FROM (SELECT g, v + 1 AS w FROM t WHERE yes) q GROUP BY g",
    "SELECT DISTINCT MAX(v) AS most FROM t GROUP BY g",
    "SELECT DISTINCT q.v AS v FROM (SELECT t.v AS v, u.v AS w FROM t JOIN u ON t.id = u.id) q WHERE q.w > 0",
    "SELECT id, v FROM t WHERE v IN (SELECT MAX(v) FROM u GROUP BY g)",
    "SELECT n, COUNT(*) AS groups FROM (SELECT COUNT(*) AS n FROM t GROUP BY g, yes) q GROUP BY n",
    "SELECT q.v AS v, COUNT(*) AS n FROM (SELECT t.v AS v FROM t RIGHT JOIN u ON t.g = u.id) q GROUP BY q.v",
    "SELECT id, COUNT(*) AS n FROM (SELECT v AS id FROM (SELECT * FROM (SELECT g, v FROM t) a) b) c GROUP BY id",
)
without_keys: SearchStrategy[str] = st.sampled_from(WITHOUT_KEYS)
"""What is computed from subqueries that do not show the keys of their tables."""

RANKED = (
    "SELECT id, g, v FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY v DESC, id) <= 2",
    "SELECT id, g, v, rank FROM (SELECT id, g, v, RANK() OVER (PARTITION BY g ORDER BY v DESC NULLS LAST) AS rank"
    " FROM t WHERE v IS NOT NULL) q WHERE rank < 3",
    "SELECT id, RANK() OVER (ORDER BY v NULLS FIRST) AS r, DENSE_RANK() OVER (ORDER BY price NULLS LAST) AS d FROM t",
    "SELECT g, COUNT(*) AS n FROM t GROUP BY g QUALIFY RANK() OVER (ORDER BY COUNT(*) DESC) = 1",
    "SELECT id, g, ROW_NUMBER() OVER (PARTITION BY g, yes ORDER BY id) AS n FROM t",
    "SELECT g, SUM(v) AS total FROM (SELECT g, v FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY g"
    " ORDER BY v NULLS FIRST, id) <= 2) q GROUP BY g",
    "SELECT t.id AS id, u.v AS v, DENSE_RANK() OVER (PARTITION BY u.g ORDER BY u.v NULLS LAST) AS d FROM t JOIN u"
    " ON t.g = u.id",
)
FIRST = (
    "SELECT id, v FROM t ORDER BY v DESC NULLS LAST, id LIMIT 3",
    "SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY n DESC, g NULLS FIRST LIMIT 2",
    "SELECT DISTINCT v FROM t ORDER BY 1 NULLS FIRST LIMIT 2",
    "SELECT id, v FROM t ORDER BY v NULLS FIRST, id LIMIT 2 OFFSET 1",
    "SELECT id, v FROM t ORDER BY v NULLS FIRST, id OFFSET 2",
)
ranks: SearchStrategy[str] = st.sampled_from((*RANKED, *FIRST))
"""Places of the rows of tables, and the first of them."""

UNITED = (
    "SELECT v, COUNT(*) AS n FROM (SELECT id, v FROM t WHERE yes UNION ALL SELECT id, v FROM u) q GROUP BY v",
    "SELECT g, COUNT(*) AS n, MAX(w) AS most FROM (SELECT g, v AS w FROM t UNION ALL SELECT g, COUNT(*) AS n FROM u"
    " GROUP BY g UNION ALL SELECT v.g, t.v FROM t JOIN v ON t.g = v.id) q GROUP BY g",
    "SELECT DISTINCT x FROM (SELECT g AS x FROM t UNION ALL SELECT id AS x FROM u WHERE v > 0) q",
    "SELECT id, v FROM t WHERE g IN (SELECT g FROM u UNION ALL SELECT id FROM w)",
)
united: SearchStrategy[str] = st.sampled_from(UNITED)
"""Tables one below the other, and what is computed from them."""

SETS = (
    "SELECT g, v FROM t UNION SELECT g, v FROM u",
    "SELECT g FROM t INTERSECT SELECT id FROM u WHERE yes",
    "SELECT g, v FROM t EXCEPT SELECT g, v FROM u",
    "SELECT v, COUNT(*) AS n FROM (SELECT g, v FROM t EXCEPT SELECT g, v FROM u UNION SELECT g, v FROM v) q GROUP BY v",
    "SELECT g, COUNT(*) AS n FROM t GROUP BY g INTERSECT SELECT g, COUNT(*) AS n FROM u GROUP BY g",
    *(
        f"SELECT g, v FROM (SELECT g, v, price, yes, seq, time FROM u) q {word} SELECT g, v FROM w"
        for word in ("UNION", "EXCEPT", "INTERSECT")
    ),
    "SELECT DISTINCT * FROM (SELECT g, v, price, yes, seq, time FROM u WHERE v > 0) q",
    "SELECT g, v, price, yes, seq, time FROM u EXCEPT SELECT g, v, price, yes, seq, time FROM w",
    "SELECT COUNT(*) AS n FROM (SELECT g, v, price, yes, seq, time FROM u UNION"
    " SELECT g, v, price, yes, seq, time FROM w) q",
)
sets: SearchStrategy[str] = st.sampled_from(SETS)
"""Tables as sets of different rows."""

memberships: SearchStrategy[str] = st.sampled_from(MEMBERSHIPS)
"""IN, EXISTS and their NOT forms, and joins that keep one side."""

STREAM_MEMBERSHIPS = (
    "SELECT STREAM id, v FROM s WHERE g IN (SELECT id FROM t WHERE v > 0)",
    "SELECT STREAM id, v FROM s WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.g = s.g AND t.v > 0) AND v > -2",
    "SELECT STREAM id, v FROM s WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM t WHERE yes)",
    "SELECT STREAM id, v FROM s WHERE EXISTS (SELECT 1 FROM t WHERE t.id = s.g AND t.v >= s.v)",
    "SELECT STREAM s.id AS id, s.v AS v FROM s LEFT SEMI JOIN t ON s.v = t.v",
    "SELECT STREAM s.id AS id, s.v AS v FROM s LEFT ANTI JOIN t ON s.g = t.id AND t.v > s.v",
    "SELECT STREAM id, v FROM s WHERE g IN (SELECT g FROM t GROUP BY g HAVING MAX(v) > 0)",
)

stateless: SearchStrategy[str] = st.sampled_from(STATELESS)
