"""Checking, explaining and formatting a script take steps in proportion to its length, whatever its parts share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

import penstock
from penstock.diagnostics import Source
from penstock.explain import draw_partitions, explain
from penstock.parser import format_script
from penstock.parser.ast import Stage
from penstock.planner.lower.plan_limits import LARGEST_PLAN
from penstock.planner.plan import Node, UnionAll
from penstock.planner.plan.walk import list_nodes, walk
from tests.planner.steps import count_steps

DECLARED = """
CREATE STREAM s (id BIGINT KEY, k STRING, a INT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '10' SECOND)
WITH (connector = 'files', path = 'd', format = 'json');
CREATE TABLE t (id BIGINT PRIMARY KEY, k STRING, a INT) WITH (connector = 'files', path = 't', format = 'json');
"""
# The first table of WITH, a further one over the one before, the body, and the code that refuses it.
SHARED = {
    "union": ("SELECT STREAM * FROM s", "SELECT STREAM * FROM {0} UNION ALL SELECT STREAM * FROM {0}", "L004"),
    "branches": (
        "SELECT STREAM id, a FROM s",
        "SELECT STREAM id, a FROM {0} WHERE a > 1 UNION ALL SELECT STREAM id, a FROM {0} WHERE a < 1",
        "L004",
    ),
    "tables": ("SELECT id, k FROM t", "SELECT id, k FROM {0} UNION ALL SELECT id, k FROM {0}", "L004"),
    "intersect": ("SELECT id, k FROM t", "SELECT id, k FROM {0} INTERSECT SELECT id, k FROM {0}", "L004"),
    "using": ("SELECT id, k FROM t", "SELECT id, l.k AS k FROM {0} l JOIN {0} r USING (id)", "L004"),
    "in": ("SELECT id, k FROM t", "SELECT id, k FROM {0} WHERE id IN (SELECT id FROM {0})", "L004"),
    "join": (
        "SELECT STREAM id, time FROM s",
        "SELECT STREAM l.id AS id, l.time AS time FROM {0} l JOIN {0} r ON l.id = r.id"
        " AND r.time BETWEEN l.time AND l.time + INTERVAL '5' MINUTE",
        "L004",
    ),
    "distinct": (
        "SELECT STREAM id, time FROM s",
        "SELECT STREAM DISTINCT id, time FROM (SELECT STREAM * FROM {0} UNION ALL SELECT STREAM * FROM {0}) q",
        "L004",
    ),
    "sum": ("SELECT STREAM id, a FROM s", "SELECT STREAM id, a + a AS a FROM {0}", "L007"),
    "filtered": ("SELECT STREAM id, a FROM s", "SELECT STREAM id, a + a AS a FROM {0} WHERE a > 5", "L007"),
    "case": (
        "SELECT STREAM id, a FROM s",
        "SELECT STREAM id, CASE WHEN a > 1 THEN a ELSE a + 1 END AS a FROM {0}",
        "L007",
    ),
    "text": ("SELECT STREAM k FROM s", "SELECT STREAM k || k AS k FROM {0}", "L007"),
    "struct": ("SELECT STREAM k FROM s", "SELECT STREAM NAMED_STRUCT('l', k, 'r', k) AS k FROM {0}", "L008"),
    "array": ("SELECT STREAM k FROM s", "SELECT STREAM ARRAY(k) AS k FROM {0}", "L008"),
}


def write_tables(kind: str, levels: int, head: str = "") -> str:
    """A script whose table of WITH reads the one before, `levels` times over one another."""
    first, further, _ = SHARED[kind]
    tables = [f"c0 AS ({first})", *(f"c{n} AS ({further.format(f'c{n - 1}')})" for n in range(1, levels + 1))]
    stream = "STREAM " * (" STREAM " in first)
    return f"{DECLARED}{head}WITH {', '.join(tables)} SELECT {stream}* FROM c{levels};"


def write_views(kind: str, levels: int, head: str = "") -> str:
    """The same with views."""
    first, further, _ = SHARED[kind]
    views = [f"CREATE VIEW c0 AS {first};"]
    views += [f"CREATE VIEW c{n} AS {further.format(f'c{n - 1}')};" for n in range(1, levels + 1)]
    stream = "STREAM " * (" STREAM " in first)
    return f"{DECLARED}{' '.join(views)} {head}SELECT {stream}* FROM c{levels};"


def refuse(sql: str) -> set[str]:
    """The codes of the errors."""
    with pytest.raises(penstock.CompileError) as refusal:
        penstock.compile(sql)
    return {each.code for each in refusal.value.diagnostics if each.severity == "error"}


@pytest.mark.parametrize(("write", "head"), [(write_tables, "EXPLAIN STATE "), (write_views, "")])
@pytest.mark.parametrize("kind", SHARED)
def test_what_doubles_at_each_level_is_refused_in_linear_time(
    kind: str, write: Callable[[str, int, str], str], head: str
) -> None:
    sql = {levels: write(kind, levels, head) for levels in (66, 132)}
    refuse(sql[66])  # so that nothing is loaded or cached while steps are counted
    steps = {levels: count_steps(partial(refuse, text)) for levels, text in sql.items()}
    assert refuse(sql[132]) == {SHARED[kind][-1]}
    assert steps[132] < 2.6 * steps[66]


@pytest.mark.parametrize("clause", ["RETENTION 1 DAY", "EMIT FINAL", "EMIT EARLY EVERY 5 SECONDS"])
def test_windows_over_what_doubles_are_refused_in_linear_time(clause: str) -> None:
    first, further, code = SHARED["union"]
    tables = [f"c0 AS ({first})", *(f"c{n} AS ({further.format(f'c{n - 1}')})" for n in range(1, 41))]
    body = f"SELECT k, COUNT(*) AS n FROM c40 GROUP BY k, TUMBLE(time, INTERVAL '1' HOUR) {clause}"
    sql = f"{DECLARED}CREATE TABLE r AS WITH {', '.join(tables)} {body};"
    assert count_steps(lambda: refuse(sql)) < 100_000
    assert refuse(sql) == {code}


def list_stages(sql: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """All that is done with a script that is accepted, without Spark."""
    compilation = penstock.compile(sql)
    yield "fmt", lambda: format_script(Source("<sql>", sql))
    yield "check", lambda: penstock.compile(sql)
    yield "PARTITIONS as a drawing", lambda: draw_partitions(compilation)
    yield from ((stage.value, partial(explain, compilation, stage)) for stage in Stage)


CHAINS: dict[str, tuple[int, Callable[[int], str]]] = {
    "filters": (40, lambda n: write_chain("SELECT STREAM * FROM {0} WHERE a > 1", n)),
    "subqueries": (25, lambda n: write_nested("SELECT STREAM id, a FROM ({0}) q", "SELECT STREAM id, a FROM s", n)),
    "branches": (40, lambda n: DECLARED + " UNION ALL ".join(["SELECT STREAM id FROM s"] * n)),
    "values": (60, lambda n: f"{DECLARED}SELECT STREAM id FROM s WHERE id IN ({', '.join(map(str, range(n)))})"),
    "statements": (
        12,
        lambda n: DECLARED + "\n".join(f"CREATE STREAM q{i} AS SELECT STREAM id FROM s;" for i in range(n)),
    ),
    "columns": (100, lambda n: f"{DECLARED}SELECT STREAM {', '.join(f'a + {i} AS c{i}' for i in range(n))} FROM s"),
    "aggregates": (
        40,
        lambda n: f"{DECLARED}SELECT k, {', '.join(f'SUM(a + {i}) AS c{i}' for i in range(n))} FROM s GROUP BY k",
    ),
    "tables of WITH": (
        30,
        lambda n: (
            f"{DECLARED}WITH {', '.join(f'c{i} AS (SELECT STREAM id FROM s)' for i in range(n))}"
            " SELECT STREAM * FROM c0"
        ),
    ),
}


def write_chain(further: str, levels: int) -> str:
    tables = ["c0 AS (SELECT STREAM id, a FROM s)"]
    tables += [f"c{n} AS ({further.format(f'c{n - 1}')})" for n in range(1, levels + 1)]
    return f"{DECLARED}WITH {', '.join(tables)} SELECT STREAM * FROM c{levels};"


def write_nested(further: str, inner: str, levels: int) -> str:
    for _ in range(levels):
        inner = further.format(inner)
    return DECLARED + inner


@pytest.mark.parametrize("kind", CHAINS)
def test_each_stage_of_a_longer_script_takes_steps_in_proportion(kind: str) -> None:
    size, write = CHAINS[kind]
    for (stage, one), (_, two) in zip(list_stages(write(size)), list_stages(write(2 * size)), strict=True):
        one(), two()
        steps = count_steps(one), count_steps(two)
        assert steps[1] < 2.6 * steps[0] + 2_000, (stage, steps)


def share(levels: int) -> Node:
    """A plan that unites the plan below with itself, `levels` times."""
    node = penstock.compile(f"{DECLARED}SELECT STREAM id FROM s").queries[0].root
    for _ in range(levels):
        node = UnionAll(schema=node.schema, shape=node.shape, span=node.span, inputs=(node, node))
    return node


def test_walks_visit_a_shared_node_once() -> None:
    root = share(60)
    assert count_steps(lambda: list(walk(root)), 10_000) < 1_000
    assert len(list(walk(root))) == len(list_nodes(root)) == 62
    assert root.size > 2**60 > LARGEST_PLAN


def test_equal_plans_are_compared_in_linear_time() -> None:
    one, other = share(60), share(60)
    assert one is not other
    assert count_steps(lambda: one == other, 100_000) < 20_000
    assert one == other
    assert one != share(59)
