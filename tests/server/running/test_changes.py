"""Changes of what is in force: what is left of them after failures. PostgreSQL is real, Spark is a fake."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from penstock.server.running import building_query
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.server.running.engines import Catalog, open_catalog
from tests.server.running.fake_spark import NEW_PAGES, PAGES, run_fake_engine, wait_until_stopped

REFUSE = (
    "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;"
    "CREATE TRIGGER refuse BEFORE DELETE ON penstock.{} EXECUTE FUNCTION refuse()"
)
BUILT = "SELECT to_regclass('penstock_build.pages') IS NOT NULL, EXISTS (SELECT 1 FROM penstock.building)"


@pytest.fixture
def catalog(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Catalog]:
    monkeypatch.setattr(building_query, "START_SECONDS", 0.3)
    with open_catalog(server) as catalog:
        yield catalog


def test_a_change_that_is_given_up_by_half_keeps_its_table(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_fake_engine(catalog, tmp_path, monkeypatch, wait_until_stopped) as engine:
        engine.send(PAGES)
        engine.send(NEW_PAGES)
        catalog.db.execute(REFUSE.format("building").encode())
        with pytest.raises(psycopg.errors.RaiseException):
            engine.send("DROP QUERY `pages (new)`")
        assert catalog.rows(BUILT) == [(True, True)], "a restart would go on into an empty table"
        catalog.db.execute("DROP TRIGGER refuse ON penstock.building")
        engine.send("DROP QUERY `pages (new)`")
        assert catalog.rows(BUILT) == [(False, False)]


def test_a_drop_by_half_keeps_the_table(catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = (
        "SELECT to_regclass('public.pages') IS NOT NULL, EXISTS (SELECT 1 FROM penstock.relation WHERE name='pages')"
    )
    with run_fake_engine(catalog, tmp_path, monkeypatch) as engine:
        engine.send(PAGES)
        catalog.db.execute(REFUSE.format("definition").encode())
        with pytest.raises(psycopg.errors.RaiseException):
            engine.send("DROP TABLE pages")
        assert catalog.rows(there) == [(True, True)]
        assert [each.state for each in engine.live.values()] == ["RUNNING", "RUNNING"]
        catalog.db.execute("DROP TRIGGER refuse ON penstock.definition")
        engine.send("DROP TABLE pages")
        assert catalog.rows(there) == [(False, False)]


def test_what_was_built_goes_with_a_change_that_a_restart_gives_up(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_fake_engine(catalog, tmp_path, monkeypatch, wait_until_stopped) as engine:
        engine.send(PAGES)
        engine.send(NEW_PAGES)
        [(folder,)] = catalog.rows("SELECT folder FROM penstock.building")
        Path(folder).mkdir(parents=True)
    assert catalog.rows(BUILT) == [(True, True)]
    catalog.db.execute("UPDATE penstock.building SET text = replace(text, 'id', 'gone')")
    with run_fake_engine(catalog, tmp_path, monkeypatch, wait_until_stopped):
        assert catalog.rows(BUILT) == [(False, False)]
        assert not Path(folder).exists()
