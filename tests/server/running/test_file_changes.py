"""What files say, compared with what is in force, without Spark and without a database."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from penstock.diagnostics import CompileError, Source
from penstock.parser import list_statements
from penstock.server.running.file_changes import (
    FileDifference,
    FileStatement,
    RunningChange,
    find_difference,
    is_same,
    list_differences,
    list_file_statements,
    plan_steps,
)
from penstock.server.running.live_script import LiveScript
from tests.server.running.scripts import HOME, HOURS, declare_clicks, tell

BIG = "CREATE STREAM big AS SELECT STREAM id, page, ts FROM clicks WHERE id > 5"
PAGES = "CREATE TABLE pages AS SELECT page, COUNT(*) AS n FROM big GROUP BY page"
PLACE = "CREATE TABLE p (id BIGINT PRIMARY KEY) WITH (connector = 'sqlite', path = '/p.db', table = 'p')"
INSERT = "INSERT INTO p SELECT STREAM id FROM clicks"


@pytest.fixture
def script() -> LiveScript:
    script = LiveScript(HOME)
    for text in (declare_clicks(), HOURS, BIG, PAGES):
        tell(script, text)
    return script


def compare(script: LiveScript, *texts: str, running: Sequence[RunningChange] = ()) -> FileDifference:
    """What has changed if all statements in force have come from files, and these are the files now."""
    statements = list_file_statements([("a.sql", ";\n".join(texts))])
    return find_difference(script, statements, lambda _: True, running, "ada")


def run_change(number: int, *texts: str) -> RunningChange:
    """A change that bob has begun."""
    made = [
        FileStatement(each, text, "", "bob", "http") for text in texts for each, _ in list_statements(Source("", text))
    ]
    return RunningChange(number, tuple(made))


def list_steps(difference: FileDifference) -> list[tuple[str, int | None]]:
    return [(each.relation, None if each.replaces is None else each.replaces.number) for each in difference.steps]


def test_nothing_has_changed(script: LiveScript) -> None:
    same = HOURS.replace("CREATE TABLE", "create or replace table").replace("SELECT", "SELECT -- all\n ")
    found = compare(script, declare_clicks(), same, BIG, PAGES)
    assert (found.new, found.steps, found.gone, found.unchanged) == ((), (), (), 4)
    assert list_differences(found) == ["  unchanged  4"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("CREATE VIEW v AS SELECT a FROM t", "create view v as\nselect a from t -- rows", True),
        ("CREATE VIEW v AS SELECT a FROM t", "CREATE OR REPLACE VIEW v AS SELECT a FROM t", True),
        ("CREATE VIEW v AS SELECT a FROM t", "CREATE VIEW v AS SELECT b FROM t", False),
        ("SET state_partitions = 2;\nCREATE VIEW v AS SELECT a FROM t", "CREATE VIEW v AS SELECT a FROM t", False),
    ],
)
def test_layout_does_not_count(one: str, other: str, same: bool) -> None:
    assert is_same(one, other) is same


def test_what_reads_a_changed_relation_is_rebuilt_behind_it(script: LiveScript) -> None:
    """Also if the file has it in another order, or does not have it at all."""
    tell(script, "CREATE VIEW few AS SELECT STREAM page, ts FROM big")
    found = compare(
        script,
        declare_clicks(),
        HOURS,
        "CREATE TABLE more AS SELECT page, MAX(id) AS id FROM big GROUP BY page",
        PAGES,
        BIG.replace("5", "6"),
        "CREATE STREAM other AS SELECT STREAM id FROM clicks",
    )
    assert list_steps(found)[0] == ("big", 3)
    assert dict(list_steps(found)[1:]) == {"pages": 4, "few": 5, "more": None}
    assert found.rebuilt == {4, 5}
    assert [each.relation for each in found.new] == ["other"]
    assert [each.relation for each in found.gone] == ["few"]
    assert found.unchanged == 2
    made = plan_steps(script, found.steps, range(10, 20))
    assert [each.planned.definition.name for each in made if each.program is not None] == [
        name for name, _ in list_steps(found) if name != "few"
    ]
    assert set(script.definitions) == {1, 2, 3, 4, 5}, "the script stays as it is"
    assert list_differences(found) == [
        "  changed    big    the old one stays until the new one is built",
        *(
            f"  {kind:<11}{name:<5}  {told}"
            for kind, name, told in [
                {
                    "pages": ("rebuilt", "pages", "reads what is changed"),
                    "few": ("rebuilt", "few", "reads what is changed"),
                    "more": ("new", "more", "follows what is changed"),
                }[name]
                for name, _ in list_steps(found)[1:]
            ]
        ),
        "  new        other",
        "  gone       few    stays; DROP VIEW few takes it away",
        "  unchanged  2",
    ]


def test_a_changed_relation_that_no_longer_fits_its_readers_is_refused(script: LiveScript) -> None:
    found = compare(script, declare_clicks(), HOURS, BIG.replace("page, ", ""), PAGES)
    with pytest.raises(CompileError, match="N001"):
        plan_steps(script, found.steps, range(10, 20))


def test_steps_go_behind_what_they_read(script: LiveScript) -> None:
    """A changed statement reads one that is changed, and stands before it in another file."""
    over = HOURS.replace("clicks", "big")
    found = compare(script, over, PAGES.replace("COUNT(*)", "MAX(id)"), declare_clicks(), BIG.replace("5", "6"))
    assert list_steps(found) == [("big", 3), ("hourly", 2), ("pages", 4)]


def test_the_last_statement_of_a_relation_counts(script: LiveScript) -> None:
    changed = BIG.replace("CREATE", "CREATE OR REPLACE").replace("5", "6")
    assert list_steps(compare(script, declare_clicks(), HOURS, BIG, PAGES, changed))[0] == ("big", 3)
    assert compare(script, declare_clicks(), HOURS, changed, PAGES, BIG).steps == ()


def test_what_is_built_already_is_not_built_again(script: LiveScript) -> None:
    changed = BIG.replace("5", "6")
    running = [run_change(50, changed, PAGES)]
    found = compare(script, declare_clicks(), HOURS, changed, PAGES, running=running)
    assert (found.steps, found.unchanged, found.joined) == ((), 4, ())
    found = compare(script, declare_clicks(), HOURS, BIG, PAGES, running=running)
    assert (found.steps, found.joined) == ((), (50,)), "the file takes the change back"


def test_a_running_change_that_reads_what_is_changed_joins(script: LiveScript) -> None:
    most = PAGES.replace("COUNT(*)", "MAX(id)")
    running = [run_change(50, most), run_change(60, HOURS.replace("COUNT", "MAX"))]
    found = compare(script, declare_clicks(), BIG.replace("5", "6"), running=running)
    assert list_steps(found) == [("big", 3), ("pages", 4)]
    assert found.joined == (50,), "what has nothing to do with it goes on"
    [big, pages] = found.steps
    assert (big.author, big.door) == ("ada", "")
    assert (pages.text, pages.author, pages.door) == (most, "bob", "http")
    found = compare(script, declare_clicks(), BIG.replace("5", "6"), PAGES, running=running)
    assert [each.text.strip() for each in found.steps] == [BIG.replace("5", "6"), PAGES], "the file says otherwise"


def test_what_is_new_over_a_running_change_takes_effect_with_it(script: LiveScript) -> None:
    changed = BIG.replace("5", "6")
    running = [run_change(50, changed, PAGES)]
    few = "CREATE STREAM few AS SELECT STREAM id FROM big WHERE id < 9"
    fewer = "CREATE STREAM fewer AS SELECT STREAM id FROM few WHERE id < 8"
    other = "CREATE STREAM other AS SELECT STREAM id FROM clicks"
    found = compare(script, declare_clicks(), HOURS, other, fewer, few, running=running)
    assert ([each.relation for each in found.new], found.joined) == (["other"], (50,))
    assert [each.relation for each in found.steps] == ["big", "pages", "few", "fewer"]
    assert compare(script, declare_clicks(), HOURS, other, running=running).joined == ()


def test_if_not_exists_changes_nothing(script: LiveScript) -> None:
    kept = BIG.replace("STREAM big", "STREAM IF NOT EXISTS big").replace("5", "6")
    assert compare(script, declare_clicks(), HOURS, kept, PAGES).steps == ()


def test_two_queries_do_not_write_the_same_rows(script: LiveScript) -> None:
    tell(script, PLACE)
    tell(script, INSERT)
    others = declare_clicks(), HOURS, BIG, PAGES, PLACE
    assert compare(script, *others, INSERT).unchanged == 6
    with pytest.raises(CompileError, match="V019: INSERT cannot be built beside the old one: p of the old statement"):
        compare(script, *others, f"{INSERT} WHERE id > 1")


@pytest.mark.parametrize(("text", "code"), [("SHOW TABLES", "V012"), ("SELECT STREAM id FROM clicks", "V001")])
def test_statements_that_files_cannot_have(text: str, code: str) -> None:
    with pytest.raises(CompileError, match=code):
        list_file_statements([("a.sql", text)])
