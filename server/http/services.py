"""What the routes share, and whose request it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from penstock.server.client_limits import Limits
from penstock.server.engine_protocol import Engine
from penstock.server.http.change_feed import ChangeFeed
from penstock.server.http.checking import Checker
from penstock.server.http.door_catalog import Caller, DoorCatalog
from penstock.server.http.guard import ENDS
from penstock.server.http.metrics import DoorMetrics
from penstock.server.http.problems import Problem
from penstock.server.http.read_statements import ReadStatements
from penstock.server.http.security import (
    COOKIE,
    CSRF_HEADER,
    ConsoleSession,
    ConsoleSessions,
    FailedLogins,
    check_csrf,
    digest_token,
)
from penstock.server.http.shares import RequestShares

_SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Services:
    """What the routes need."""

    engine: Engine
    catalog: DoorCatalog
    changes: ChangeFeed
    limits: Limits
    metrics: DoorMetrics
    checker: Checker
    shares: RequestShares
    reads: ReadStatements
    sessions: ConsoleSessions = field(default_factory=ConsoleSessions)
    failures: FailedLogins = field(default_factory=FailedLogins)


@dataclass(frozen=True, slots=True)
class Login:
    """A caller who is known."""

    caller: Caller
    digest: bytes = field(repr=False)
    session: ConsoleSession | None = None
    """The session of the console. None for a request with a token."""

    @property
    def role(self) -> str:
        """The login role of PostgreSQL."""
        return self.caller.role


def find_services(request: Request) -> Services:
    """The services of the application that a request came to."""
    services = request.app.state.services
    assert isinstance(services, Services)
    return services


ServicesOf = Annotated[Services, Depends(find_services)]


async def authenticate(request: Request, services: ServicesOf) -> Login:
    """Whose request it is, by its token or by the cookie of the console. It counts as one of the role until its end.

    Raises:
        Problem: there is neither, or it is not valid; a request with a cookie may come from another page; the role has
            too many requests.
    """
    login = await _find_login(request, services)
    request.scope[ENDS].append(services.shares.enter_role(login.role))
    return login


async def _find_login(request: Request, services: Services) -> Login:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme:
        if scheme.lower() != "bearer" or not token:
            raise _demand_login("the header Authorization takes Bearer and a token")
        return await log_in(request, services, token.strip())
    session = services.sessions.find(request.cookies.get(COOKIE, ""))
    if session is None:
        raise _demand_login("a token is needed")
    if request.method not in _SAFE:
        check_csrf(session, request.headers.get(CSRF_HEADER))
    caller = await services.catalog.find_caller(session.digest)
    if caller is None:
        raise _demand_login("the token has been removed")
    return Login(caller, session.digest, session)


async def log_in(request: Request, services: Services, token: str) -> Login:
    """Whose token it is. A right one is never refused for wrong ones of its address.

    Raises:
        Problem: nobody's. It, or its address, may have failed too often.
    """
    address = f"address {request.client.host if request.client else ''}"
    digest = digest_token(token)
    services.failures.check(digest.hex())  # the database is not asked for it again and again
    caller = await services.catalog.find_caller(digest)
    if caller is None:
        services.failures.add(digest.hex())
        services.failures.check(address)
        services.failures.add(address)
        raise _demand_login("the token is not valid")
    return Login(caller, digest)


def _demand_login(message: str) -> Problem:
    return Problem(401, message, headers={"WWW-Authenticate": 'Bearer realm="penstock"'})


LoginOf = Annotated[Login, Depends(authenticate)]
