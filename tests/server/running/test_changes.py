"""Changes of what is in force: what is left of them after failures. PostgreSQL is real, Spark is a fake."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any

import psycopg
import pytest

from penstock.diagnostics import CompileError, Source
from penstock.parser import list_statements
from penstock.server.planning.statement_planner import PlannedStatement, plan_made
from penstock.server.running import building_query, replacements, swaps
from penstock.server.running.building_query import BuildingQuery
from penstock.server.running.live_query import LiveQuery
from penstock.server.running.steps import Steps, await_steps
from penstock.server.running.store import Store
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.server.running.engines import Catalog, open_catalog
from tests.server.running.fake_spark import NEW_PAGES, PAGES, FakeEngine, run_fake_engine, wait_until_stopped
from tests.server.running.scripts import declare_clicks

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


@pytest.mark.parametrize("is_committed", [True, False])
def test_an_answer_to_a_swap_that_is_lost(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_committed: bool
) -> None:
    """The old query must not go on in the new table."""
    swap_tables = swaps.swap_tables

    def lose_answer(store: Store, *given: Any) -> None:
        if is_committed:
            swap_tables(store, *given)
        store.db.close()
        raise psycopg.OperationalError("the connection is lost")

    with run_fake_engine(catalog, tmp_path, monkeypatch) as engine:
        engine.send(PAGES)
        [old] = [each for each in engine.live.values() if each.name == "pages"]
        engine.send(NEW_PAGES)
        monkeypatch.setattr(replacements, "swap_tables", lose_answer)
        with pytest.raises(psycopg.OperationalError, match="lost"):
            engine.look_until(lambda: False)
        assert old.state == "STOPPED"
        if is_committed:
            with pytest.raises(psycopg.OperationalError, match="interrupted"):
                engine.process._reconnect(Event())
        else:
            engine.process._reconnect(Event())
            monkeypatch.setattr(replacements, "swap_tables", swap_tables)
            engine.look_until(lambda: not engine.changes.buildings)
            assert catalog.rows("SELECT version FROM penstock.relation WHERE name = 'pages'") == [(2,)]


def test_a_drop_whose_answer_is_lost_is_looked_up(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_fake_engine(catalog, tmp_path, monkeypatch) as engine:
        engine.send(PAGES)
        [old] = [each for each in engine.live.values() if each.name == "pages"]
        forget = engine.store.forget

        def lose_answer(definition: Any) -> None:
            engine.store.db.close()
            forget(definition)

        engine.store.forget = lose_answer  # type: ignore[method-assign]
        with pytest.raises(psycopg.OperationalError):
            engine.send("DROP TABLE pages")
        assert old.state == "STOPPED"
        engine.process._reconnect(Event())
        engine.look_until(lambda: old.state == "RUNNING")


def test_a_change_whose_row_is_gone_is_not_gone_on_with(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_fake_engine(catalog, tmp_path, monkeypatch, wait_until_stopped) as engine:
        engine.send(PAGES)
        engine.send(NEW_PAGES)
        catalog.db.execute("DELETE FROM penstock.building")
        engine.store.db.close()
        with pytest.raises(psycopg.OperationalError, match="interrupted"):
            engine.process._reconnect(Event())


def test_a_pause_outlives_a_swap(catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with run_fake_engine(catalog, tmp_path, monkeypatch) as engine:
        engine.send(PAGES)
        engine.send("PAUSE QUERY pages")
        engine.send(NEW_PAGES)
        engine.look_until(lambda: not engine.changes.buildings)
        [new] = [each for each in engine.live.values() if each.name == "pages"]
        assert new.state == "PAUSED"
        assert catalog.rows("SELECT paused FROM penstock.definition ORDER BY number") == [(False,), (True,)]


def test_a_paused_building_is_not_swapped_in(catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with run_fake_engine(catalog, tmp_path, monkeypatch) as engine:
        engine.send(PAGES)
        engine.send(NEW_PAGES)
        [building] = engine.changes.buildings
        building.is_caught_up = True
        engine.send("PAUSE QUERY `pages (new)`")
        for _ in range(5):
            engine.works.go_on()
            engine.changes.look()
        assert engine.changes.buildings == [building]
        engine.send("RESUME QUERY `pages (new)`")
        engine.look_until(lambda: not engine.changes.buildings)


def begin_two(engine: FakeEngine) -> None:
    """Two tables are replaced together: `pages` of ada, and `others` of bob."""
    others = PAGES.replace("TABLE pages", "TABLE others")
    engine.send(PAGES, "ada")
    engine.send(others, "bob")
    steps = []
    for number, text, author in ((7_000, PAGES, "ada"), (8_000, others, "bob")):
        source = Source("statement", text.replace("CREATE", "CREATE OR REPLACE"))
        [(parsed, _)] = list_statements(source)
        planned = plan_made(engine.script, parsed, source, number, author)
        assert isinstance(planned, PlannedStatement)
        steps.append((planned, planned.planned.replaced))
    await_steps(engine.changes.begin(steps, waits=False))


@pytest.mark.parametrize("statement", ["DROP QUERY `pages (new)`", "PAUSE QUERY `pages (new)`"])
def test_a_change_of_several_is_of_all_their_authors(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    """What an author may do to a definition would hold up the definitions of others."""
    with run_fake_engine(catalog, tmp_path, monkeypatch, wait_until_stopped) as engine:
        begin_two(engine)
        with pytest.raises(CompileError, match=r"ada may not .* others, which is of bob"):
            engine.send(statement, "ada")
        assert len(engine.changes.buildings) == 2
        engine.send("DROP QUERY `pages (new)`")
        assert not engine.changes.buildings


def test_files_that_read_what_is_built_begin_the_change_anew(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = "CREATE VIEW few AS SELECT page FROM pages"
    script = ";\n".join((declare_clicks(), few, "CREATE VIEW ids AS SELECT STREAM id FROM clicks"))
    options = {"files": (("clicks.sql", script),), "apply": True}
    with run_fake_engine(catalog, tmp_path, monkeypatch, wait_until_stopped, **options) as engine:
        engine.send(PAGES, "bob")
        engine.send(NEW_PAGES, "bob")
        engine.process._apply_files()
        assert engine.script.find_relation("ids") is not None
        assert engine.script.find_relation("few") is None, "it waits for the table that it reads"
        [building] = engine.changes.buildings
        assert (building.definition.text, building.definition.author) == (NEW_PAGES, "bob")
        built = "SELECT text, author FROM penstock.building ORDER BY number"
        assert catalog.rows(built) == [(NEW_PAGES, "bob"), (few, "postgres")]
        assert catalog.rows("SELECT door FROM penstock.statement ORDER BY id DESC LIMIT 2") == [("file",), ("http",)]


def begin_change(engine: FakeEngine) -> tuple[LiveQuery, BuildingQuery, list[str]]:
    """The query in force, the one that is built, and how often the former was stopped."""
    engine.send(PAGES)
    engine.send(NEW_PAGES)
    [old] = [each for each in engine.live.values() if each.name == "pages"]
    [new] = engine.changes.buildings
    stop, stops = old.stop, []

    def count() -> Steps[None]:
        stops.append("stop")
        return stop()

    old.stop = count  # type: ignore[method-assign]
    return old, new, stops


def test_a_swap_that_cannot_be_made_stops_nothing_and_is_held(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacements, "TRY_SECONDS", 0.0)
    rest = Event()
    with run_fake_engine(catalog, tmp_path, monkeypatch, lambda *_: assert_set(rest)) as engine:
        old, new, stops = begin_change(engine)
        catalog.db.execute("CREATE SCHEMA own; CREATE VIEW own.copied AS SELECT n FROM pages")
        rest.set()
        engine.look_until(lambda: new.state == "HELD")
        assert (old.state, stops) == ("RUNNING", [])
        assert new.fault is not None
        assert new.fault.code == "R060"
        assert "other objects depend on it" in new.fault.message
        assert "RESUME QUERY" in new.describe().text
        assert catalog.rows("SELECT version FROM penstock.relation WHERE name = 'pages'") == [(1,)]
        catalog.db.execute("DROP VIEW own.copied")
        engine.send("RESUME QUERY `pages (new)`")
        engine.look_until(lambda: not engine.changes.buildings)
        assert stops == ["stop"]
        assert catalog.rows("SELECT version FROM penstock.relation WHERE name = 'pages'") == [(2,)]


def try_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Swaps are tried without pauses, and give way to locks soon."""
    monkeypatch.setattr(replacements, "TRY_SECONDS", 0.0)
    monkeypatch.setattr(swaps, "LOCK_SECONDS", 0.3)
    monkeypatch.setattr(swaps, "ATTEMPTS", 4)


def test_a_swap_waits_for_sessions_without_stopping_the_old_query(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try_often(monkeypatch)
    rest = Event()
    with run_fake_engine(catalog, tmp_path, monkeypatch, lambda *_: assert_set(rest)) as engine:
        old, new, stops = begin_change(engine)
        with psycopg.connect(catalog.url, application_name="a report") as reader:
            reader.execute("SELECT * FROM pages")
            rest.set()
            engine.look_until(lambda: new.fault is not None)
            assert new.fault is not None
            assert "holds AccessShareLock on pages" in new.fault.message
            assert "a report" in new.fault.message
            for _ in range(30):  # one after the other, and none counts as a failure
                engine.works.go_on()
                engine.changes.look()
            assert (old.state, new.state, stops) == ("RUNNING", "RUNNING", [])
        engine.look_until(lambda: not engine.changes.buildings)


def test_locks_of_the_old_query_do_not_keep_it_in_force(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try_often(monkeypatch)
    rest = Event()
    with run_fake_engine(catalog, tmp_path, monkeypatch, lambda *_: assert_set(rest)) as engine:
        old, _, stops = begin_change(engine)
        with psycopg.connect(catalog.url, application_name="penstock") as writer:
            writer.execute("INSERT INTO pages VALUES ('a', 1)")
            stop = old.stop

            def end_batch() -> Steps[None]:
                writer.commit()
                return stop()

            old.stop = end_batch  # type: ignore[method-assign]
            rest.set()
            engine.look_until(lambda: not engine.changes.buildings)
        assert stops == ["stop"]


@pytest.mark.parametrize(("stale", "rounds"), [(0.5, 2), (60, 1)])
def test_a_query_that_has_waited_long_reads_on_before_the_swap(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stale: float, rounds: int
) -> None:
    monkeypatch.setattr(building_query, "STALE_SECONDS", stale)
    slow, seen = Event(), []

    def read(name: str, _: Event) -> None:
        seen.append(name)
        if name == "others":
            assert slow.wait(60)

    with run_fake_engine(catalog, tmp_path, monkeypatch, read) as engine:
        begin_two(engine)
        engine.look_until(lambda: engine.changes.buildings[0].is_caught_up)
        sleep(0.7)
        slow.set()
        engine.look_until(lambda: not engine.changes.buildings)
        assert sorted(seen) == ["others"] * rounds + ["pages"] * rounds
        engine.look_until(lambda: all(each.state == "RUNNING" for each in engine.live.values()))


def assert_set(event: Event) -> None:
    assert event.wait(60)


def test_queries_that_are_built_count(catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = [PAGES.replace("TABLE pages", f"TABLE other_{place}") for place in (1, 2)]
    with run_fake_engine(catalog, tmp_path, monkeypatch, wait_until_stopped, max_queries=3) as engine:
        engine.send(PAGES)  # beside the query that shows the stream
        engine.send(NEW_PAGES)
        with pytest.raises(CompileError, match="V004"):
            engine.send(others[0])
        engine.send("DROP QUERY `pages (new)`")
        engine.send(others[0])
        with pytest.raises(CompileError, match="V004"):
            engine.send(others[1])
