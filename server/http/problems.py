"""Errors as RFC 9457 has them. None of them shows SQL of the server, secrets or stack traces."""

from __future__ import annotations

import logging
from typing import Any

import psycopg
import psycopg_pool
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

log = logging.getLogger("penstock.http")

_QUERY_CANCELED, _NO_PRIVILEGE = "57014", "42501"
_DATA, _CONNECTION, _RESOURCES, _SHUTDOWN = "22", "08", "53", "57P0"


class Problem(HTTPException):
    """A request that cannot be answered."""

    def __init__(self, status: int, message: str, *, headers: dict[str, str] | None = None, **members: Any) -> None:
        """`status`: the one of HTTP. `members`: what the object says besides, such as `hint` and `sqlstate`."""
        super().__init__(status, message, headers)
        self.members = members

    def response(self) -> JSONResponse:
        """The problem as an object. Members that are not known are null."""
        code = self.members.get("code")
        body = {
            "type": f"/errors/{code}" if code else "about:blank",
            "title": self.detail,
            "status": self.status_code,
            "message": self.detail,
            "code": None,
            "sqlstate": None,
            "detail": None,
            "hint": None,
            "line": None,
            "column": None,
            "position": None,
            **self.members,
        }
        return JSONResponse(body, self.status_code, self.headers, media_type="application/problem+json")


def explain_database_error(error: Exception) -> Problem:
    """What a client is told when PostgreSQL fails or refuses."""
    state = (error.sqlstate if isinstance(error, psycopg.Error) else None) or ""
    message = (error.diag.message_primary if isinstance(error, psycopg.Error) else None) or ""
    if state == _QUERY_CANCELED:
        return Problem(504, "the read took too long", sqlstate=state, hint="ask for fewer rows")
    if state == _NO_PRIVILEGE:
        return Problem(403, message, sqlstate=state)
    if state.startswith(_DATA):
        return Problem(400, message, sqlstate=state)
    if isinstance(error, psycopg.DataError):
        return Problem(
            422, "a value cannot be represented", hint="times before year 1 or without end, and NUL characters"
        )
    unreachable = isinstance(error, psycopg.OperationalError | psycopg_pool.PoolTimeout)
    if unreachable or state.startswith((_CONNECTION, _RESOURCES, _SHUTDOWN)):
        log.warning("PostgreSQL does not answer: %s", error)
        return Problem(503, "the database does not answer", sqlstate=state or None, headers={"Retry-After": "5"})
    log.error("PostgreSQL refused a statement of the server: %s", error)
    return Problem(500, "internal error", sqlstate=state or None)
