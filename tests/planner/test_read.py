"""Reads: what a SELECT over tables as they are now comes to, and what is refused."""

from __future__ import annotations

import pytest

from penstock.codegen.program import Read
from penstock.compilation import compile, compile_read
from penstock.diagnostics import CompileError, Diagnostic, Source

SCRIPT = """
CREATE STREAM moves (id BIGINT KEY, account STRING, amount DECIMAL(10,2), time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND) WITH (connector = 'files', path = 'moves', format = 'json');
CREATE TABLE users (id BIGINT PRIMARY KEY, account STRING, tags MAP<STRING, INT>, changed TIMESTAMP)
WITH (connector = 'files', path = 'users', format = 'json', operation = 'op', sequence = 'changed');
CREATE TABLE totals WITH (connector = 'files', path = 'totals', format = 'json', operation = 'op') AS
SELECT account, SUM(amount) AS total, COUNT(*) AS n FROM moves GROUP BY account;
CREATE TABLE kept AS SELECT account, SUM(amount) AS total FROM moves GROUP BY account;
CREATE TABLE hourly WITH (connector = 'files', path = 'hourly', format = 'parquet') AS
SELECT account, COUNT(*) AS n FROM moves GROUP BY account, TUMBLE(time, INTERVAL '1' HOUR) EMIT FINAL;
CREATE TABLE shown WITH (connector = 'console') AS SELECT account, COUNT(*) AS n FROM moves GROUP BY account;
CREATE TABLE remote (id BIGINT PRIMARY KEY)
WITH (connector = 'kafka', topic = 'remote', format = 'json', bootstrap_servers = 'localhost:9092');
CREATE TABLE numbers (n BIGINT PRIMARY KEY) WITH (connector = 'rate');
CREATE VIEW rich AS SELECT account, total FROM totals WHERE total > 100;
CREATE VIEW named (who, most) AS SELECT account, MAX(total) FROM totals GROUP BY account;
CREATE VIEW big AS SELECT STREAM id FROM moves WHERE amount > 100;
"""
CATALOG = compile(SCRIPT).catalog


def read(sql: str, *, memory: bool = True) -> Read:
    return compile_read(Source("<read>", sql), CATALOG, memory=memory)


def findings(sql: str, *, memory: bool = True) -> tuple[Diagnostic, ...]:
    with pytest.raises(CompileError) as refusal:
        read(sql, memory=memory)
    return refusal.value.diagnostics


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT * FROM totals", "account total n"),
        ("SELECT account AS a, total * 2 FROM totals t WHERE t.n > 1 ORDER BY n DESC, 2 LIMIT 3", "a col2"),
        ("SELECT MAX(kept.total), COUNT(DISTINCT n) AS d FROM kept JOIN totals ON kept.account = totals.account", ""),
        ("SELECT n FROM totals UNION SELECT n FROM totals ORDER BY n LIMIT 1", "n"),
        ("SELECT n FROM totals GROUP BY n HAVING MAX(total) > 3 ORDER BY COUNT(*)", "n"),
        ("SELECT DISTINCT n, total FROM totals ORDER BY total NULLS LAST", "n total"),
        ("SELECT u.tags FROM users u LEFT ANTI JOIN totals t ON u.account = t.account AND t.n > u.id", "tags"),
        ("SELECT a.account FROM totals a FULL JOIN totals b ON a.total < b.total", "account"),
        ("SELECT m FROM (SELECT MAX(r.total) AS m, n FROM rich r JOIN totals ON r.account = totals.account"
         " GROUP BY n ORDER BY n LIMIT 2) a", "m"),
        ("WITH few AS (SELECT n FROM totals) SELECT n FROM few UNION ALL SELECT 1 FROM kept", "n"),
        ("SELECT window_start, SUM(n) AS n FROM hourly GROUP BY window_start", "window_start n"),
        ("VALUES (1, 'a'), (2.5, NULL)", "column1 column2"),
        ("SELECT x FROM VALUES (1, 'a') AS t (x, y)", "x"),
        ("SELECT 1 AS one", "one"),
        ("SELECT * FROM named WHERE most > 1", "who most"),
        ("TABLE totals", "account total n"),
        ("SELECT * EXCLUDE (n) FROM totals", "account total"),
        ("SELECT a, b FROM (SELECT account, n FROM totals) AS t (a, b) OFFSET 2 ROWS FETCH NEXT ROW ONLY", "a b"),
        ("SELECT account, n FROM totals UNION SELECT account, id FROM users EXCEPT SELECT 'a', 1", "account n"),
        ("SELECT account FROM totals t JOIN users u USING (account)", "account"),
        ("SELECT t.n FROM totals t CROSS JOIN users, kept", "n"),
        ("SELECT id, word FROM users, UNNEST(SPLIT(account, ' ')) AS t (word)", "id word"),
        ("SELECT id, EXPLODE(tags) FROM users", "id key value"),
        ("SELECT n, account, GROUPING_ID() AS g FROM totals GROUP BY CUBE(n, account)", "n account g"),
        ("SELECT COUNT(*) AS n FROM users WHERE changed > CURRENT_TIMESTAMP - INTERVAL '1' HOUR", "n"),
    ],
)  # fmt: skip
def test_a_select_over_tables_is_read(sql: str, columns: str) -> None:
    query = read(sql)
    assert columns in ("", " ".join(query.columns))
    assert query.result == query.views[-1].name


def test_a_table_that_is_named_twice_is_read_once() -> None:
    query = read("SELECT a.n FROM totals a JOIN (SELECT n FROM totals) b ON a.n = b.n JOIN kept k ON k.total > a.n")
    assert [source.name for source in query.inputs] == ["totals", "kept"]


def test_of_a_changelog_the_newest_record_of_each_key_is_read() -> None:
    views = {view.name: " ".join(view.sql.split()) for view in read("SELECT * FROM users").views}
    assert "THEN 'no primary key'" in views["r0_read"]
    assert "NAMED_STRUCT( 'sequence', `changed`, 'commit', `_commit`, 'arrived'" in views["r0_records"]
    assert views["r0_newest"].endswith("GROUP BY `id`")
    assert views["r0"].endswith("WHERE NOT `_newest`.`_deleted`")


def test_a_group_of_null_is_a_row_of_what_a_query_has_written() -> None:
    views = {view.name: view.sql for view in read("SELECT * FROM totals").views}
    assert "primary key" not in views["r0_read"]


def test_final_rows_are_read_as_they_are() -> None:
    (source,) = read("SELECT * FROM hourly").inputs
    assert not source.ordered
    assert [view.name for view in read("SELECT * FROM hourly").views] == ["r0_read", "r0"]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("", "R031"),
        ("SELECT n FROM totals; SELECT n FROM totals", "R031"),
        ("«DROP TABLE totals»", "R031"),
        ("«SELECT STREAM n FROM totals»", "R031"),
        ("SELECT id FROM («SELECT STREAM id FROM moves») a", "R031"),
        ("SELECT * FROM «moves»", "R032"),
        ("SELECT * FROM «shown»", "R032"),
        ("SELECT * FROM «numbers»", "B002"),
        ("SELECT * FROM «remote»", "B002"),
        ("SELECT * FROM «totls»", "K012"),
        ("SELECT «nn» FROM totals", "N001"),
        ("SELECT n FROM totals «EMIT CHANGES»", "R033"),
        ("SELECT n FROM totals «PARTITION BY n»", "R033"),
        ("SELECT n FROM totals GRACE PERIOD «1 HOUR»", "R033"),
        ("SELECT n FROM totals RETENTION «1 HOUR»", "R033"),
        ("SELECT n FROM totals «LATE DROP»", "R033"),
        ("SELECT n FROM totals «DEDUPLICATE ON (n) WITHIN 1 HOUR»", "R033"),
        ("SELECT a.n FROM totals a JOIN kept k «WITHIN 1 HOUR» ON a.account = k.account", "R033"),
        ("SELECT COUNT(*) AS n FROM hourly GROUP BY «TUMBLE(window_start, 1 DAY)»", "B002"),
        ("SELECT n FROM «TUMBLE(hourly, window_start, 1 DAY)»", "B002"),
        ("SELECT «SUM(n) OVER (ORDER BY n ROWS 1 PRECEDING)» AS s FROM totals", "B002"),
        ("SELECT n FROM totals WHERE «n IN (SELECT n FROM totals)»", "B002"),
        ("SELECT n FROM totals «LIMIT 1» UNION ALL SELECT n FROM totals", "B002"),
        ("«SELECT id, tags FROM users INTERSECT SELECT id, tags FROM users»", "K018"),
        ("SELECT n FROM totals EXCEPT «SELECT account, n FROM totals»", "K005"),
        ("SELECT n FROM totals «NATURAL JOIN users»", "J022"),
        ("SELECT a.n FROM «totals a LEFT JOIN kept k»", "J015"),
        ("SELECT «*»", "K025"),
        ("SELECT «* EXCEPT (n, account, total)» FROM totals", "K025"),
        ("SELECT a FROM (VALUES (1, 2)) AS t («a»)", "K022"),
        ("SELECT a FROM (VALUES (1, 2)) AS t (a, «A»)", "K010"),
        ("SELECT «DISTINCT ON (n)» n FROM totals", "B002"),
        ("SELECT n FROM totals LIMIT 1 «LIMIT 2»", "S012"),
        ("SELECT n FROM totals WHERE n > 0 ORDER BY «2»", "N007"),
        ("SELECT DISTINCT n FROM totals ORDER BY «total»", "K014"),
        ("SELECT account, «n» FROM totals GROUP BY account", "K014"),
        ("SELECT DISTINCT «tags» FROM users", "K018"),
        ("SELECT id FROM users ORDER BY «tags»", "K018"),
        ("SELECT a.n FROM totals JOIN «totals» ON 1 = 1", "J014"),
        ("SELECT n FROM totals a JOIN kept k ON «a.n + 1»", "T001"),
        ("SELECT id FROM «big»", "R032"),
    ],
)
def test_what_is_refused(sql: str, code: str) -> None:
    found = findings(sql.replace("«", "").replace("»", ""))
    assert [each.code for each in found] == [code]
    start = sql.find("«")
    if start >= 0 and found[0].labels[0].span.source.name == "<read>":
        assert found[0].labels[0].span.text == sql[start + 1 : sql.index("»")]


def test_what_is_in_the_memory_of_another_process_is_refused_with_a_place_for_it() -> None:
    (found,) = findings("SELECT * FROM kept", memory=False)
    assert found.code == "R032"
    assert found.hint is not None
    assert "operation = 'op'" in found.hint


def test_select_stream_of_a_table_comes_with_the_read_that_was_meant() -> None:
    (found,) = findings("select  STREAM n FROM totals")
    assert found.fix is not None
    assert read(found.fix).columns == ("n",)


@pytest.mark.parametrize("name", ["kept", "big"])
def test_select_stream_of_what_cannot_be_read_has_no_fix(name: str) -> None:
    (found,) = findings(f"SELECT STREAM * FROM {name}")
    assert (found.code, found.fix) == ("R031", None)


def test_views_may_read_views_hundreds_of_levels_deep() -> None:
    views = ["CREATE VIEW c0 AS SELECT account, n FROM totals"]
    views += [f"CREATE VIEW c{level} AS SELECT account, n FROM c{level - 1}" for level in range(1, 301)]
    known = compile(";\n".join(views), CATALOG).catalog
    assert compile_read(Source("<read>", "SELECT account FROM c300"), known, memory=True).columns == ("account",)


@pytest.mark.parametrize(
    "sql",
    [
        "WITH rich AS (SELECT 1 AS n) SELECT n FROM rich",
        "WITH rich AS (SELECT most AS n FROM named) SELECT n FROM rich",
    ],
)
def test_a_table_of_with_may_have_the_name_of_a_view(sql: str) -> None:
    assert read(sql).columns == ("n",)


def test_a_view_below_a_table_of_its_name_is_the_view() -> None:
    known = compile("CREATE VIEW more AS SELECT account, total FROM rich WHERE total > 200", CATALOG).catalog
    sql = "WITH rich AS (SELECT account FROM more) SELECT account FROM rich"
    assert compile_read(Source("<read>", sql), known, memory=True).columns == ("account",)
