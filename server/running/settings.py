"""What the engine's process is told at its start, as JSON. There is no secret in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
import psycopg

from penstock.kit.databases.locks import LOCK_SECONDS
from penstock.kit.databases.secret_refs import SecretRef
from penstock.server.running.allowed import Allowed
from penstock.server.running.home import Home
from penstock.server.running.live_query import RestartPolicy

STATEMENT_SECONDS = 30
"""How long a statement of the engine's over its catalog may take."""
REFUSED = 4
"""The exit code of an engine that refuses its files. Python's own is 1 after an error that nobody expects."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What an engine is told.

    home: where rows go, and how the catalog is reached. state: the folder of checkpoints. author: whose statements the
    files hold. master, spark: which Spark, and its settings. files: names and texts of scripts. apply: whether
    what has changed in them takes effect.
    """

    home: Home
    state: str
    author: str
    master: str | None = None
    spark: dict[str, str] = field(default_factory=dict)
    allowed: Allowed = field(default_factory=Allowed)
    max_queries: int = 100
    max_words: int = 20_000
    plan_seconds: float = 10
    max_changes: int = 100_000
    max_statements: int = 100_000
    statement_log_bytes: int = 1 << 28
    restarts: RestartPolicy = field(default_factory=RestartPolicy)
    files: tuple[tuple[str, str], ...] = ()
    apply: bool = False

    def to_json(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> EngineSettings:
        """The inverse of `to_json`."""
        return msgspec.json.decode(text, type=cls)

    def connect(self) -> psycopg.Connection:
        """A connection to the catalog, which does not wait long for others. Raises psycopg.Error."""
        secret = self.home.password
        given: dict[str, Any] = {} if secret is None else {"password": SecretRef(secret.kind, secret.name).read()}
        db = psycopg.connect(self.home.url, autocommit=True, application_name="penstock engine", **given)
        db.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
        db.execute(f"SET statement_timeout = '{STATEMENT_SECONDS}s'")
        return db
