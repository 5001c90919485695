"""Files that may only add to what is in force, in a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.diagnostics import CompileError, Source
from penstock.server.engine_protocol import StatementAnswer
from penstock.server.running.file_changes import read_script, show_differences
from penstock.server.running.home import Home
from penstock.server.running.live_script import LiveScript
from penstock.server.running.new_statements import check_files, list_new
from penstock.server.running.settings import EngineSettings
from penstock.server.running.statement_queue import PLACES
from penstock.server.running.store import Store
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.server.running.engines import open_catalog
from tests.server.running.scripts import HOURS, declare_clicks, tell


@pytest.fixture
def store(server: str) -> Iterator[Store]:
    with open_catalog(server) as catalog:
        yield Store(catalog.db)


def configure(store: Store, *texts: str, apply: bool = False) -> EngineSettings:
    info = store.db.info
    home = Home(f"postgresql://{info.user}@/{info.dbname}?host={info.host}", None, 3)
    return EngineSettings(home, "/state", "postgres", files=(("a.sql", ";\n".join(texts)),), apply=apply)


def put(store: Store, settings: EngineSettings, text: str, door: str = "file") -> None:
    """Puts a statement into force, as a server does that runs it."""
    waiting = store.add_statement(text, "postgres", door)
    script: LiveScript = read_script(settings, store)
    definition = tell(script, text, waiting.number * PLACES)
    store.keep(definition, "/state/1", [], None, 1)
    store.answer(waiting.number, StatementAnswer("CREATE"), text)


def list_names(settings: EngineSettings, store: Store) -> list[str]:
    [(name, text)] = settings.files
    return [text for _, text in list_new(settings, store, read_script(settings, store), Source(name, text))]


def test_a_changed_file_is_refused_and_the_hint_names_the_option(store: Store) -> None:
    settings = configure(store, declare_clicks(), HOURS)
    for text in (declare_clicks(), HOURS):
        put(store, settings, text)
    check_files(settings, store)
    assert list_names(settings, store) == []
    check_files(configure(store, declare_clicks(), f"-- by hour\n{HOURS.replace('SELECT', 'select')}"), store)
    changed = declare_clicks(), HOURS.replace("AS n", "AS m")
    with pytest.raises(CompileError, match="K011") as refused:
        check_files(configure(store, *changed), store)
    assert refused.value.diagnostics[0].hint == "penstock serve --apply builds it beside the old one"
    told = configure(store, *changed, apply=True)
    check_files(told, store)
    assert show_differences(told) == [
        "  changed    hourly  the old one stays until the new one is built",
        "  unchanged  1",
    ]
    with pytest.raises(CompileError, match="N001"):
        show_differences(configure(store, HOURS.replace("page, window", "pages, window"), apply=True))


def test_an_earlier_statement_of_a_file_is_a_change_too(store: Store) -> None:
    """The file goes back to a statement that a server has run before."""
    settings = configure(store, declare_clicks(), HOURS)
    for text in (declare_clicks(), HOURS):
        put(store, settings, text)
    [old] = [each for each in read_script(settings, store).definitions.values() if each.relation == "hourly"]
    store.forget(old)
    put(store, settings, HOURS.replace("AS n", "AS m"))
    with pytest.raises(CompileError, match="K011"):
        check_files(settings, store)


def test_what_a_user_has_replaced_stays(store: Store) -> None:
    settings = configure(store, declare_clicks(), HOURS)
    for text in (declare_clicks(), HOURS):
        put(store, settings, text)
    [old] = [each for each in read_script(settings, store).definitions.values() if each.relation == "hourly"]
    store.forget(old)
    put(store, settings, HOURS.replace("AS n", "AS m"), door="http")
    check_files(settings, store)
    assert list_names(settings, store) == []


def test_the_same_name_twice_in_a_file_has_its_own_hint(store: Store) -> None:
    with pytest.raises(CompileError, match="K011") as refused:
        check_files(configure(store, declare_clicks(), declare_clicks("/other")), store)
    assert "--apply" not in (refused.value.diagnostics[0].hint or "")
