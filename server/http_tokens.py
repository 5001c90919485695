"""Tokens of HTTP: made, listed and revoked by the operator, over the PostgreSQL of a server that runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import psycopg
from psycopg import conninfo, sql

from penstock.server.database.bootstrap import ROLES, add_token
from penstock.server.database.embedded import DATABASE, ENGINE, OWNER, SUPERUSER, PasswordFiles
from penstock.server.http.security import make_token

RIGHTS = tuple(role.removeprefix("penstock_") for role in ROLES)
"""From the least to the most: reader, submitter, owner."""
LONGEST_NAME = 63
"""The bytes of PostgreSQL's names. It cuts what is longer."""
SELF_GRANT_SINCE = 16_00_00
"""The version of PostgreSQL since which who makes a role may not become it, unless a setting says so."""
_ID_LENGTH = 12
_ROLE = "SELECT rolcanlogin, rolsuper FROM pg_catalog.pg_roles WHERE rolname = %s"
_LIST = """
SELECT left(encode(hash, 'hex'), %s), token.role, token.label, token.created,
       coalesce(rolcanlogin AND coalesce(rolvaliduntil > now(), true), false),
       ARRAY(SELECT rolname FROM pg_catalog.pg_roles AS granted
             WHERE rolname = ANY (%s) AND pg_has_role(login.oid, granted.oid, 'MEMBER'))
FROM penstock.token LEFT JOIN pg_catalog.pg_roles AS login ON rolname = token.role
ORDER BY token.created, 1
"""
_REVOKE = "DELETE FROM penstock.token WHERE left(encode(hash, 'hex'), %s) = %s"


class TokenError(Exception):
    """A token cannot be made or revoked. The text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """A token as the server knows it.

    id: the beginning of its SHA-256. user: the login role that it stands for. right: what the user may do, one of
    RIGHTS, or `none`. is_valid: whether the user may log in.
    """

    id: str
    user: str
    right: str
    label: str
    created: datetime
    is_valid: bool


@contextmanager
def open_catalog(state: Path, database: str | None) -> Iterator[psycopg.Connection]:
    """A connection to the PostgreSQL of a server, as its operator.

    Args:
        state: the folder of the server.
        database: the URL of a PostgreSQL that others run; its password is read from the variable PGPASSWORD.

    Raises:
        TokenError: it cannot be reached; or PostgreSQL refuses something, also in the body.
    """
    try:
        with psycopg.connect(_find_login(state, database), autocommit=True) as db:
            yield db
    except psycopg.errors.UndefinedTable:
        raise TokenError("this PostgreSQL has no server yet: start penstock serve once") from None
    except psycopg.OperationalError as error:
        raise TokenError(f"PostgreSQL does not answer: {str(error).strip()}; does the server run?") from None
    except psycopg.Error as error:
        raise TokenError(f"PostgreSQL: {str(error).strip()}") from None


def create_token(db: psycopg.Connection, user: str, right: str, label: str = "") -> str:
    """A new token of a user, which is nowhere kept. The user is made if there is none, and gets the right.

    Raises:
        TokenError: the name is one of the server's own, is no name of PostgreSQL, or is a role that may not log in. Or
            the role is there, and may do more than `right`.
    """
    check_user(user)
    if user in (ENGINE, SUPERUSER) or user.startswith(("pg_", "penstock_")):
        raise TokenError(f"{user} is a role of the server or of PostgreSQL; take another name")
    group = f"penstock_{right}"
    with db.transaction():
        found = db.execute(_ROLE, [user]).fetchone()
        if found is None:
            if db.info.server_version >= SELF_GRANT_SINCE:
                # The door has to become the role, also where who makes it is no superuser.
                db.execute("SET LOCAL createrole_self_grant = 'set'")
            db.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(user)))
        else:
            may_log_in, is_superuser = found
            if is_superuser:
                raise TokenError(f"{user} is a superuser of PostgreSQL; take another name")
            if not may_log_in:
                raise TokenError(f"{user} is a role that may not log in")
            check_right(db, user, right)
        if db.execute("SELECT pg_has_role(%s::name, %s, 'MEMBER')", [user, group]).fetchone() == (False,):
            db.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(group), sql.Identifier(user)))
        token = make_token()
        add_token(db, token, user, label)
    return token


def check_user(user: str) -> None:
    """Raises TokenError for what is no name of a role, or one that PostgreSQL would cut."""
    try:
        size = len(user.encode())
    except UnicodeEncodeError:
        raise TokenError("the name of the user is not UTF-8") from None
    if not 0 < size <= LONGEST_NAME or "\0" in user:
        raise TokenError(f"the name of a user has 1 to {LONGEST_NAME} bytes")


def check_right(db: psycopg.Connection, user: str, right: str) -> None:
    """Raises TokenError if a role may do more than `right`: its token would, too."""
    for more in RIGHTS[RIGHTS.index(right) + 1 :]:
        if db.execute("SELECT pg_has_role(%s::name, %s, 'MEMBER')", [user, f"penstock_{more}"]).fetchone() == (True,):
            raise TokenError(f"{user} is there, with the role {more}; add --role {more}, or take another name")


def list_tokens(db: psycopg.Connection) -> list[TokenEntry]:
    """All tokens, the oldest first."""
    entries = []
    for id_, user, label, created, is_valid, groups in db.execute(_LIST, [_ID_LENGTH, list(ROLES)]):
        right = next((each for each in reversed(RIGHTS) if f"penstock_{each}" in groups), "none")
        entries.append(TokenEntry(id_, user, right, label or "", created, is_valid))
    return entries


def revoke_tokens(db: psycopg.Connection, id_: str | None, user: str | None) -> int:
    """Removes the token with this id, or all of a user. Returns how many there were.

    Raises:
        TokenError: there is none.
    """
    if id_ is not None:
        removed = db.execute(_REVOKE, [_ID_LENGTH, id_]).rowcount
    else:
        removed = db.execute("DELETE FROM penstock.token WHERE role = %s", [user]).rowcount
    if not removed:
        what = f"no token has the id {id_}" if id_ is not None else f"{user} has no token"
        raise TokenError(f"{what}; penstock token list shows them")
    return removed


def _find_login(state: Path, database: str | None) -> str:
    """The connection string of the operator.

    Raises:
        TokenError: no server runs over the folder, or the address is wrong.
    """
    if database is not None:
        try:
            given = conninfo.conninfo_to_dict(database)
        except psycopg.ProgrammingError as error:
            raise TokenError(f"--database: {error}") from None
        if "password" in given:
            raise TokenError("--database has a password, which others see; set the variable PGPASSWORD")
        return conninfo.make_conninfo(database, password=os.environ.get("PGPASSWORD"))
    password = PasswordFiles(state / "secrets").file(OWNER)
    try:
        # PostgreSQL writes there where its socket is, as long as it runs.
        socket = (state / "postgres" / "postmaster.pid").read_text(encoding="utf-8").splitlines()[4]
        secret = password.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise TokenError(f"no server runs over the folder {state}; start penstock serve, or name its --state") from None
    except (OSError, IndexError) as error:
        reason = getattr(error, "strerror", None) or "its PostgreSQL is starting"
        raise TokenError(f"the server over the folder {state} cannot be asked: {reason}") from None
    return conninfo.make_conninfo(host=socket, user=OWNER, dbname=DATABASE, password=secret)
