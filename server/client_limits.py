"""How much a client may ask of the server. Both doors keep to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of each door."""

    statement_bytes: int = 1 << 20
    """The bytes of the text of a statement, or of a script, in UTF-8."""
    statement_words: int = 20_000
    """Names, values, keywords and signs of a statement that the engine plans."""
    check_seconds: float = 5
    """Until a text that is typed has to be checked."""
    plan_seconds: float = 10
    """Until a statement has to be planned."""
    connections: int = 1000
    """Open at once. The next one is refused."""
    role_connections: int = 300
    """Connections of one role, at each door."""
    address_connections: int = 800
    """Connections of one address, over HTTP."""
    role_statements: int = 16
    """Statements of one role that PostgreSQL carries out at once. Others wait."""
    role_reads: int = 4
    """Requests of one role that read over HTTP at once. Others wait."""
    tries: int = 10
    """Wrong passwords of a user from one address in a minute. The answer to further ones comes late."""
    transaction_seconds: float = 600
    """The length of a transaction of a user who is no owner."""
    temporary_bytes: int = 1 << 30
    """The temporary files of one role in PostgreSQL."""
    select_seconds: float = 60
    """The length of a SELECT that ends by itself."""
    role_selects: int = 3
    """Statements of one role that PostgreSQL carries out at once for HTTP. Others wait."""
    selects: int = 12
    """The same of all roles."""
    select_rows: int = 10_000
    """The rows of the answer to a SELECT over HTTP. The first ones come."""
    select_bytes: int = 16 << 20
    """The bytes of these rows, and of the answers of a script together."""
    saved: int = 200
    """Statements that one role keeps on the server."""
    answer_rows: int = 100_000
    """The rows of one answer, and of the answers of a script over HTTP together."""
    engine_seconds: float = 30
    """Until the engine has to answer a statement."""
    startup_seconds: float = 10
    """From the opening of a connection to the end of its first message."""
    queries: int = 100
    """That are kept running."""
    changes: int = 100_000
    """Changes of tables, in the log that clients follow. Clients that fall behind read the table again."""
    statements: int = 100_000
    """In the log of who has sent what."""
    statement_log_bytes: int = 1 << 28
    """The texts and answers in that log."""
