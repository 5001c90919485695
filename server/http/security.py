"""Who sends a request: tokens, sessions of the console, and what keeps other sites out."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.server.http.problems import Problem

COOKIE = "penstock_session"
CSRF_HEADER = "X-CSRF-Token"
PREFIX = "pst_"
"""What a token begins with, so that scanners for secrets find it."""

SESSION_SECONDS = 12 * 3600
_MAX_SESSIONS = 10_000
_MAX_ADDRESSES = 10_000


def make_token() -> str:
    """A new token with 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def digest_token(token: str) -> bytes:
    """What is kept of a token: its SHA-256. It has enough random bits to need no salt."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """A browser that has logged in."""

    digest: bytes = field(repr=False)
    """The digest of its token. A token that is removed ends its sessions."""
    csrf: str = field(repr=False)
    """What requests that change something have to repeat in a header."""
    ends: float


class ConsoleSessions:
    """The browsers that have logged in. They are forgotten when the process ends."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[str, ConsoleSession] = OrderedDict()

    def open(self, digest: bytes) -> tuple[str, ConsoleSession]:
        """A new session for a token, with the value of its cookie."""
        session = ConsoleSession(digest, secrets.token_urlsafe(32), self._clock() + SESSION_SECONDS)
        cookie = secrets.token_urlsafe(32)
        self._sessions[cookie] = session
        while len(self._sessions) > _MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return cookie, session

    def find(self, cookie: str) -> ConsoleSession | None:
        """The session of a cookie, None if it has ended."""
        session = self._sessions.get(cookie)
        if session is not None and session.ends < self._clock():
            self.close(cookie)
            return None
        return session

    def close(self, cookie: str) -> None:
        """Ends a session. One that has ended stays so."""
        self._sessions.pop(cookie, None)


class FailedLogins:
    """Slows down clients that try tokens: a token and an address have ten failures a minute."""

    def __init__(self, allowed: int = 10, seconds: float = 60, clock: Callable[[], float] = time.monotonic) -> None:
        self._allowed = allowed
        self._seconds = seconds
        self._clock = clock
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def check(self, who: str) -> None:
        """Raises a Problem if a token or an address has to wait."""
        failures = self._failures.get(who, deque())
        while failures and failures[0] <= self._clock() - self._seconds:
            failures.popleft()
        if len(failures) >= self._allowed:
            wait = max(1, round(failures[0] + self._seconds - self._clock()))
            raise Problem(429, "too many failed logins", headers={"Retry-After": str(wait)})

    def add(self, who: str) -> None:
        """Notes a failure of a token or an address."""
        failures = self._failures.setdefault(who, deque(maxlen=self._allowed))
        failures.append(self._clock())
        self._failures.move_to_end(who)
        while len(self._failures) > _MAX_ADDRESSES:
            self._failures.popitem(last=False)


def check_csrf(session: ConsoleSession, header: str | None) -> None:
    """Raises a Problem if a request with a cookie does not come from a page of the console."""
    if not hmac.compare_digest((header or "").encode(), session.csrf.encode()):
        raise Problem(403, f"a request with a cookie needs the header {CSRF_HEADER}")
