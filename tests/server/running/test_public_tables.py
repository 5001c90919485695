"""Relations as PostgreSQL shows them: which names they may have, and which windows they keep."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import psycopg
import pyarrow as pa
import pytest

from penstock.diagnostics import CompileError
from penstock.kit.databases.address import Address
from penstock.kit.databases.target_table import TargetTable
from penstock.kit.databases.writer import TableWriter
from penstock.server.running.live_script import LiveDefinition, LiveScript
from penstock.server.running.public_tables import (
    check_free,
    check_names,
    complete_table,
    delete_old_windows,
    shown_query,
)
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.databases.places import POLICY
from tests.server.running.engines import open_catalog
from tests.server.running.scripts import HOURS, tell

KEPT = f"{HOURS} RETENTION INTERVAL '3' HOUR"


@pytest.fixture
def catalog(server: str) -> Iterator[psycopg.Connection]:
    with open_catalog(server) as catalog:
        yield catalog.db


def url_of(db: psycopg.Connection) -> str:
    return f"postgresql://{db.info.user}@/{db.info.dbname}?host={db.info.host}"


def count_by(name: str, column: str = "n") -> str:
    return f"CREATE TABLE `{name}` AS SELECT page, COUNT(*) AS `{column}` FROM clicks GROUP BY page"


def copy_clicks(name: str) -> str:
    return f"CREATE STREAM `{name}` AS SELECT STREAM id FROM clicks"


def refusal(script: LiveScript, definition: LiveDefinition) -> str | None:
    try:
        check_names(definition, script.definitions.values())
    except CompileError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (count_by("a" * 54), None),
        (count_by("a" * 55), "cannot be shown as a table: aaaaaaaaaaaaaaaaaaaa… has 64 bytes, and 63 are the limit"),
        (count_by("ä" * 28), "has 65 bytes, and 63 are the limit"),
        (copy_clicks("a" * 63), None),
        (copy_clicks("a" * 64), "has 64 bytes, and 63 are the limit"),
        (count_by("t", "a" * 63), None),
        (
            count_by("t", "ctid"),
            "V016: t cannot be shown as a table: each table of PostgreSQL has a column ctid of its own",
        ),
        (count_by("t", "CTID"), None),
        (count_by("a.b"), "V016: a.b cannot be shown as a table: a table has no dot in its name"),
        (count_by("Penstock_Ledger"), "the server keeps a table of that name"),
        (count_by("HOURLY_rejected"), "the server keeps a table of that name"),
        (count_by('a"b; -- %s'), None),
    ],
)
def test_names(script: LiveScript, text: str, reason: str | None) -> None:
    tell(script, HOURS)
    found = refusal(script, tell(script, text))
    assert found is None if reason is None else reason in (found or "")


def test_a_long_name_of_a_column(script: LiveScript) -> None:
    tell(script, HOURS)
    with pytest.raises(CompileError, match=r"C027: PostgreSQL keeps 63 bytes of a name, and a{100}… has 10000"):
        tell(script, count_by("t", "a" * 10_000))


def test_a_relation_does_not_take_the_table_of_rejected_rows_of_another(
    script: LiveScript, catalog: psycopg.Connection
) -> None:
    """DROP TABLE drops that table, too."""
    catalog.execute("CREATE TABLE public.hourly_rejected (x int)")
    hourly = tell(script, HOURS)
    with pytest.raises(CompileError, match=r"V005: public\.hourly_rejected"):
        check_free(catalog, hourly, None)
    check_free(catalog, hourly, hourly)


def test_windows_are_deleted_when_their_retention_has_passed(script: LiveScript, catalog: psycopg.Connection) -> None:
    kept, unlimited = tell(script, KEPT), tell(script, HOURS.replace("hourly", "forever"))
    for name in ("hourly", "forever"):
        catalog.execute(
            f"CREATE TABLE public.{name} AS SELECT s AS window_start, s + interval '1 hour' AS window_end, "
            "'a' AS page, 1 AS n FROM generate_series('2026-01-01 00:00+0'::timestamptz, '2026-01-01 09:00+0', "
            "interval '1 hour') AS s"
        )
    assert delete_old_windows(catalog, kept, datetime(2026, 1, 1, 4, tzinfo=UTC)) == 0
    assert delete_old_windows(catalog, kept, datetime(2026, 1, 1, 10, tzinfo=UTC)) == 6
    ends = catalog.execute("SELECT extract(hour FROM window_end AT TIME ZONE 'UTC')::int FROM public.hourly ORDER BY 1")
    assert [hour for (hour,) in ends] == [7, 8, 9, 10]
    assert delete_old_windows(catalog, unlimited, datetime(2027, 1, 1, tzinfo=UTC)) == 0


def test_windows_that_a_writer_holds_are_deleted_later(script: LiveScript, catalog: psycopg.Connection) -> None:
    kept = tell(script, KEPT)
    catalog.execute("CREATE TABLE public.hourly (window_end timestamptz)")
    catalog.execute("INSERT INTO public.hourly VALUES ('2026-01-01'), ('2026-02-01')")
    with psycopg.connect(catalog.info.dsn) as writer:
        writer.execute("UPDATE public.hourly SET window_end = window_end")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            delete_old_windows(catalog, kept, datetime(2026, 1, 20, tzinfo=UTC))
    assert delete_old_windows(catalog, kept, datetime(2026, 1, 20, tzinfo=UTC)) == 1


def test_changes_have_the_number_of_their_micro_batch(script: LiveScript, catalog: psycopg.Connection) -> None:
    query = shown_query(tell(script, count_by("counts")))
    assert query is not None
    catalog.execute("CREATE TABLE public.counts (page text PRIMARY KEY, n bigint)")
    complete_table(catalog, "counts", query)
    catalog.execute("INSERT INTO penstock.listener VALUES ('counts', now() + interval '1 hour')")
    columns = (("page", "STRING", False), ("n", "BIGINT", True))
    writer = TableWriter(
        TargetTable(Address("postgres", url_of(catalog)), "public.counts", columns, ("page",)), "counts", POLICY
    )
    writer.open("id", "public.counts")
    writer.write(7, "d7", lambda changes: changes.upsert(pa.table({"page": ["a", "b"], "n": [1, 1]})))
    writer.write(8, "d8", lambda changes: changes.delete(pa.table({"page": ["a"]})))
    writer.close()
    catalog.execute("DELETE FROM public.counts")
    changes = catalog.execute("SELECT batch, op, key ->> 'page' FROM penstock.change ORDER BY seq, 3").fetchall()
    assert changes == [(7, "insert", "a"), (7, "insert", "b"), (8, "delete", "a"), (None, "delete", "b")]
