"""Who holds the locks of PostgreSQL that a transaction has waited for in vain."""

from collections.abc import Sequence
from typing import Any

LOCK_SECONDS = 5
"""How long a statement waits for a lock. Then its transaction ends, and begins again later."""
HOLDERS = """
SELECT DISTINCT session.usename, session.pid, session.application_name, session.state, held.mode,
       held.relation::regclass::text, extract(epoch FROM now() - session.xact_start)::bigint, session.xact_start
FROM pg_catalog.pg_locks AS held JOIN pg_catalog.pg_stat_activity AS session ON session.pid = held.pid
WHERE held.granted AND held.locktype = 'relation' AND held.pid <> pg_backend_pid()
  AND held.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
  AND held.relation = ANY (SELECT to_regclass(name) FROM unnest(%s::text[]) AS name)
  AND (held.mode <> 'AccessShareLock' OR %s)
ORDER BY session.xact_start NULLS LAST, session.pid LIMIT 3
"""


def describe_holders(cursor: Any, tables: Sequence[str], *, also_readers: bool = False) -> str:
    """The sessions that hold locks on these tables, as a text; empty if none does any more.

    `cursor`: a cursor of psycopg, outside of a failed transaction. `tables`: quoted names. `also_readers`: locks
    of readers count, as they keep a table from being dropped.
    """
    cursor.execute(HOLDERS, [list(tables), also_readers])
    return "; ".join(describe_holder(*row[:7]) for row in cursor.fetchall())


def describe_holder(
    user: str | None, pid: int, program: str | None, state: str | None, mode: str, table: str, seconds: int | None
) -> str:
    """One session in words. `state` and `seconds` are None where the user may not see them."""
    more = [f"session {pid}", *([program] if program else []), *([state] if state else [])]
    more += [] if seconds is None else [f"its transaction began {seconds} s ago"]
    return f"{user or 'somebody'} holds {mode} on {table} ({', '.join(more)})"
