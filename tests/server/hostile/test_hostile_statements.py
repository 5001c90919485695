"""Statements that want more than their author may have, through every door of a server."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack

import pytest

from tests.server.hostile.doors import Doors, connect
from tests.server.hostile.server import NarrowServer, list_tracebacks
from tests.server.hostile.statements import HARMLESS, RITA, SAM, list_attempts
from tests.server.served import wait_for

pytestmark = [pytest.mark.spark, pytest.mark.campaign]
DEFECTS = {"XX000", "V013", "500"}


def test_nothing_passes(narrow: NarrowServer) -> None:
    before, processes = narrow.list_state(), narrow.find_processes()
    secrets = narrow.list_secrets()
    sent: Counter[tuple[str, str]] = Counter()
    wrong: list[tuple[str, str, str, str]] = []
    with ExitStack() as stack:
        doors = {role: Doors(role, narrow.port, narrow.url, stack).all for role in (SAM, RITA)}
        admin = stack.enter_context(narrow.served.connect())
        for attempt in list_attempts():
            text = attempt.text.format(**narrow.folders) if "{" in attempt.text else attempt.text
            for name, door in doors[attempt.role].items():
                outcome = door(text)
                sent[attempt.kind, name] += 1
                shown = outcome.shown.replace(text, "")
                if outcome.passed or outcome.code in DEFECTS or any(each in shown for each in secrets):
                    wrong.append((name, text[:200], outcome.code, outcome.shown[:300]))
            if admin.execute("SELECT count(*) FROM penstock.relation").fetchone() != (len(before["relations"]),):
                wrong.append(("any", text[:200], "", "it has made or dropped a relation"))
                break
    assert not wrong, "\n".join(map(repr, wrong))
    assert narrow.list_state() == before
    assert narrow.find_processes() == processes
    assert list_tracebacks(narrow) == []
    print_counts(sent)


def print_counts(sent: Counter[tuple[str, str]]) -> None:
    """The table of docs/reliability.md."""
    doors = list(dict.fromkeys(door for _, door in sent))
    print(f"| statements | {' | '.join(doors)} | passed |\n|---|{'--:|' * (len(doors) + 1)}")
    for kind in dict.fromkeys(kind for kind, _ in sent):
        print(f"| {kind} | {' | '.join(str(sent[kind, door]) for door in doors)} | 0 |")
    print(f"| together | {' | '.join(str(sum(sent[key] for key in sent if key[1] == door)) for door in doors)} | 0 |")


def test_texts_mean_what_they_say(narrow: NarrowServer) -> None:
    """They hold what Spark, Python or a shell would carry out. The second column has the text as it was written."""
    with ExitStack() as stack:
        doors = Doors(SAM, narrow.port, narrow.url, stack).all
        reader = stack.enter_context(connect(SAM, narrow.port))
        for query, value in HARMLESS:
            for name, door in doors.items():
                made = door(f"CREATE STREAM h AS {query.format()}")
                assert made.passed, (name, query, made)
                rows = wait_for(lambda: reader.execute("SELECT * FROM h", prepare=False).fetchall(), query)
                assert {row[1] for row in rows} == {value}, (name, query)
                assert door("DROP STREAM h").passed
    assert list_tracebacks(narrow) == []


def test_a_role_that_is_set_has_no_other_rights(narrow: NarrowServer) -> None:
    with connect(SAM, narrow.port) as db:
        db.execute("SET ROLE penstock_submitter")
        pgconn = db.pgconn
        for text in (b"DROP TABLE hourly", b"PAUSE QUERY of_sue", b"SELECT * FROM penstock.run('DROP TABLE of_sue')"):
            assert b"sam may not" in pgconn.exec_(text).error_message
    assert "hourly" in {name for name, *_ in narrow.list_state()["relations"]}


def test_an_owner_changes_what_others_have_made(narrow: NarrowServer) -> None:
    """So that the refusals above are those of the rights."""
    with connect("olga", narrow.port) as db:
        db.execute("PAUSE QUERY of_sue")
        db.execute("RESUME QUERY of_sue")
        db.execute("DROP STREAM from_sue")
    with connect("sue", narrow.port) as db:
        db.execute("CREATE STREAM from_sue AS SELECT STREAM id FROM clicks")
