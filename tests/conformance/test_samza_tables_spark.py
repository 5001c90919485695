"""The tests of Samza's remote tables that run a whole job: a script through Spark, for each of the three databases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import RuntimeSession
from tests.conformance.samza_tables import CASES, drives
from tests.databases.places import Place
from tests.databases.test_statements import declare

pytestmark = pytest.mark.spark
SCRIPT = """
CREATE STREAM views (n BIGINT, member BIGINT) WITH (connector = 'files', path = '{folder}/views', format = 'json');
CREATE TABLE profiles (id BIGINT PRIMARY KEY, company STRING) WITH ({place}, table = 'profiles');
CREATE TABLE kept (id BIGINT PRIMARY KEY, company STRING) WITH ({place}, table = 'profiles', cache_ttl = 5 MINUTES);
CREATE TABLE few (id BIGINT PRIMARY KEY, company STRING)
  WITH ({place}, table = 'profiles', cache_ttl = 5 MINUTES, cache_size = 2);
CREATE TABLE enriched (kind STRING PRIMARY KEY, n BIGINT PRIMARY KEY, company STRING)
  WITH ({place}, table = 'enriched', create = 'if_missing');
CREATE TABLE visits (member BIGINT PRIMARY KEY, n BIGINT) WITH ({place}, table = 'visits', create = 'if_missing');
INSERT INTO enriched
  SELECT STREAM 'plain' AS kind, v.n, p.company FROM views v JOIN profiles p ON p.id = v.member
  UNION ALL SELECT STREAM 'kept' AS kind, v.n, p.company FROM views v JOIN kept p ON p.id = v.member
  UNION ALL SELECT STREAM 'few' AS kind, v.n, p.company FROM views v JOIN few p ON p.id = v.member;
UPDATE visits SET n = visits.n + 1 FROM STREAM views AS v WHERE visits.member = v.member AND v.n < {updates}
  ELSE INSERT (n) VALUES (0);
"""
KINDS = {"e2e-join-put": "plain", "e2e-join-guava-cache": "kept", "e2e-join-default-cache": "few"}


@drives("e2e-join-put", "e2e-join-guava-cache", "e2e-join-default-cache", "upd-with-defaults-first-time")
def test_a_job(spark: SparkSession, tmp_path: Path, place: Place) -> None:
    given, update = CASES["e2e-join-put"]["given"], CASES["upd-with-defaults-first-time"]
    profiles = ", ".join(f"({key}, 'company {key}')" for key in range(given["profiles"]))
    place.execute(
        "CREATE TABLE profiles (id BIGINT PRIMARY KEY, company TEXT)", f"INSERT INTO profiles VALUES {profiles}"
    )
    if place.dialect == "mysql":  # which has no key of texts without a length
        place.execute("CREATE TABLE enriched (kind TEXT, n BIGINT, company TEXT, PRIMARY KEY (kind, n))")
    views = [{"n": n, "member": n % given["profiles"]} for n in range(given["messages"])]
    (tmp_path / "views").mkdir()
    for part in range(given["partitions"]):
        lines = [json.dumps(view) + "\n" for view in views[part :: given["partitions"]]]
        (tmp_path / "views" / f"{part}.json").write_text("".join(lines), encoding="utf-8")
    script = SCRIPT.format(folder=tmp_path, place=declare(place), updates=update["given"]["messages"])
    with RuntimeSession(spark, str(tmp_path / "state")) as session:
        joined, updated = (each.table for each in session.run_once(penstock.compile(script).program, drain=False))
    assert joined is not None
    assert updated is not None
    wanted = [(view["n"], f"company {view['member']}") for view in views]
    for case, kind in KINDS.items():
        rows = place.rows(f"SELECT n, company FROM enriched WHERE kind = '{kind}' ORDER BY n")
        assert rows == wanted
        assert len(rows) == CASES[case]["expect"]["written"]
    assert (joined.puts, joined.rejected) == (3 * len(views), 0)
    assert updated.puts == update["expect"]["puts"]
    assert place.rows("SELECT count(*), sum(n) FROM visits") == [
        (update["expect"]["puts"], update["expect"]["successful_updates"])
    ]
