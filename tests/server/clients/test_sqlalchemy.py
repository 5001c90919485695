"""SQLAlchemy with psycopg: statements, and its inspector, which many tools use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, MetaData, Table, bindparam, create_engine, inspect, select, text
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import DBAPIError, NotSupportedError
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import CreateTable

from tests.server.clients.address import Address
from tests.server.postgres.door import Door

STREAMS = [("clicks", "at TIMESTAMP, page STRING"), ("Wörter", None)]
PLAN = [("KStream",), ("  Scan clicks",)]
RUN = text("SELECT line FROM penstock.run(:statement)")


@pytest.fixture
def engine(relay: Address) -> Iterator[Engine]:
    """An engine with a pool that asks whether a connection is alive."""
    made = create_engine(relay.url("postgresql+psycopg"), pool_pre_ping=True)
    yield made
    made.dispose()


@pytest.fixture
def committing(engine: Engine) -> Engine:
    """An engine that commits each statement."""
    return engine.execution_options(isolation_level="AUTOCOMMIT")


def test_rows(engine: Engine) -> None:
    for _ in range(3):
        with engine.connect() as connection:
            found = connection.execute(text("SHOW STREAMS"))
            assert list(found.keys()) == ["name", "columns"]
            assert found.all() == STREAMS
            assert connection.exec_driver_sql("EXPLAIN PLAN SELECT 1").all() == PLAN
            assert connection.execute(RUN, {"statement": "EXPLAIN PLAN x"}).all() == PLAN


def test_statements_without_rows(door: Door, committing: Engine) -> None:
    with committing.connect() as connection:
        assert not connection.execute(text("CREATE STREAM a")).returns_rows
        assert not connection.exec_driver_sql("CREATE STREAM b").returns_rows
        assert connection.execute(RUN, {"statement": "CREATE STREAM c"}).scalar() == "CREATE STREAM"
    assert door.engine.texts == ["CREATE STREAM a", "CREATE STREAM b", "CREATE STREAM c"]


def test_texts_arrive_as_they_are(door: Door, committing: Engine) -> None:
    written = "CREATE STREAM a AS SELECT STREAM n % 2 AS r, CAST(t AS TIME), '10:30', 'é' FROM clicks"
    with committing.connect() as connection:
        connection.exec_driver_sql(written.replace("%", "%%"))
        connection.execute(text(written.replace(":", r"\:")))
        connection.execute(RUN, {"statement": written})
    assert door.engine.texts == [written] * 3


def test_values(door: Door, committing: Engine) -> None:
    with committing.connect() as connection:
        with pytest.raises(NotSupportedError, match="takes no parameters"):
            connection.execute(text("CREATE STREAM a AS SELECT STREAM :v FROM clicks"), {"v": 1})
        literal = text("CREATE STREAM a AS SELECT STREAM :v FROM clicks").bindparams(
            bindparam("v", "it's", literal_execute=True)
        )
        connection.execute(literal)
    assert door.engine.texts == ["CREATE STREAM a AS SELECT STREAM 'it''s' FROM clicks"]


def test_transactions(door: Door, engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(text("CREATE TEMP TABLE own (a int)"))
        connection.execute(text("CREATE STREAM a"))
        with pytest.raises(DBAPIError), connection.begin_nested():
            connection.execute(text("CREATE STREAM bad"))
        assert connection.execute(text("SHOW STREAMS")).all() == STREAMS
        connection.rollback()
        assert connection.execute(text("SELECT to_regclass('own')")).scalar() is None
        with pytest.raises(DBAPIError):
            connection.execute(text("CREATE STREAM bad"))
        with pytest.raises(DBAPIError):
            connection.execute(text("CREATE STREAM d"))
    assert "CREATE STREAM d" not in door.engine.texts


def test_transactions_that_only_read(engine: Engine) -> None:
    reading = {"isolation_level": "SERIALIZABLE", "postgresql_readonly": True, "postgresql_deferrable": True}
    with engine.connect().execution_options(**reading) as connection:
        assert connection.execute(text("SHOW STREAMS")).all() == STREAMS
        assert connection.execute(RUN, {"statement": "CREATE STREAM a"}).scalar() == "CREATE STREAM"


def test_rows_that_come_in_parts(engine: Engine) -> None:
    with engine.connect() as connection:
        found = connection.execution_options(stream_results=True, max_row_buffer=1)
        assert found.execute(RUN, {"statement": "EXPLAIN PLAN x"}).all() == PLAN


def test_an_error(engine: Engine) -> None:
    with engine.connect() as connection, pytest.raises(DBAPIError) as caught:
        connection.execute(text("  CREATE STREAM bad"))
    found: Any = caught.value.orig
    assert (found.sqlstate, found.diag.statement_position) == ("42P17", "10")


def test_many(door: Door, committing: Engine) -> None:
    with committing.connect() as connection:
        connection.execute(RUN, [{"statement": "CREATE STREAM a"}, {"statement": "CREATE STREAM b"}])
    assert door.engine.texts == ["CREATE STREAM a", "CREATE STREAM b"]


def look_around(address: Address) -> dict[str, Any]:
    """All that the inspector finds."""
    engine = create_engine(address.url("postgresql+psycopg"), poolclass=NullPool)
    found: dict[str, Any] = {}
    with engine.connect() as connection:
        inspector: Any = inspect(connection)
        found["names"] = (
            inspector.default_schema_name,
            inspector.get_schema_names(),
            connection.dialect.server_version_info,
        )
        for schema in (None, "alice", "penstock"):
            for kind in ("table", "view", "materialized_view", "foreign_table", "sequence", "temp_table", "temp_view"):
                options = {} if kind.startswith("temp") else {"schema": schema}
                found[f"{kind}s of {schema}"] = getattr(inspector, f"get_{kind}_names")(**options)
            for what in ("enums", "domains"):
                found[f"{what} of {schema}"] = getattr(inspector, f"get_{what}")(schema=schema)
            for what in (
                "columns",
                "pk_constraint",
                "foreign_keys",
                "indexes",
                "unique_constraints",
                "check_constraints",
            ):
                all_kinds = getattr(inspector, f"get_multi_{what}")(schema=schema, kind=ObjectKind.ANY)
                found[f"{what} of {schema}"] = repr(all_kinds)
            found[f"comments of {schema}"] = inspector.get_multi_table_comment(schema=schema, kind=ObjectKind.ANY)
        found["view"] = inspector.get_view_definition("large", schema="alice")
        found["there"] = [inspector.has_table(name) for name in ("revenue", "nothing", "SHOW STREAMS")]
        found["others"] = (inspector.has_schema("alice"), inspector.get_table_oid("revenue"))
        reflected = Table("orders", MetaData(), schema="alice", autoload_with=connection)
        found["reflected"] = str(CreateTable(reflected))
        found["selected"] = connection.execute(select(reflected)).all()
    return found


@pytest.mark.usefixtures("inspected")
@pytest.mark.filterwarnings("ignore:Did not recognize type 'place'")
def test_looks_are_as_without_the_relay(relay: Address, direct: Address) -> None:
    found = look_around(relay)
    assert found == look_around(direct)
    assert found["there"] == [True, False, False]
    assert "orders" in found["tables of alice"]
