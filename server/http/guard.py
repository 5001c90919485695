"""What holds for every request: its origin, the size and the time of its body, and the headers of the response."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.server.http.problem_pages import answer_problem
from penstock.server.http.problems import Problem
from penstock.server.http.shares import HEALTH, RequestShares

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
ENDS = "penstock.ends"
"""The key of a request's scope for the functions that are called after its answer."""
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


def list_hosts(given: Iterable[str]) -> list[str]:
    """The names of the server in the header Host. Other names are refused, against DNS rebinding."""
    hosts = dict.fromkeys([*LOCAL_HOSTS, *given])
    return [name for host in hosts for name in ([host, f"[{host}]"] if ":" in host else [host])]


class Guard:
    """Refuses requests beyond their share, of other origins, and with bodies too long or too slow.

    Adds security headers to each response.
    """

    def __init__(self, app: ASGIApp, shares: RequestShares, body_bytes: int, body_seconds: float) -> None:
        self._app = app
        self._shares = shares
        self._body_bytes = body_bytes
        self._body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        body = Body(receive, self._body_bytes, self._body_seconds)
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                if has_body and not body.is_complete:
                    sent["Connection"] = "close"  # else the rest of the body could come for ever
                for name, value in _HEADERS.items():
                    sent[name] = value
                sent.setdefault("Cache-Control", "no-store")
            await send(message)

        ends: list[Callable[[], None]] = []
        scope[ENDS] = ends
        try:
            if scope["path"] not in HEALTH:
                ends.append(self._shares.enter(scope["client"][0] if scope.get("client") else ""))
            self._check(scope, headers)
            await self._app(scope, body.receive, send_guarded)
        except Problem as problem:
            await answer_problem(problem, headers.get("accept"))(scope, receive, send_guarded)
        finally:
            for end in ends:
                end()

    def _check(self, scope: Scope, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is not None and origin != f"{scope['scheme']}://{headers.get('host')}":
            raise Problem(403, "requests of other origins are refused")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._body_bytes:
            raise Problem(413, f"the body is longer than {self._body_bytes:,} bytes")


class Body:
    """The body of a request, which is not read beyond a number of bytes and seconds."""

    def __init__(self, receive: Receive, max_bytes: int, seconds: float) -> None:
        self._receive = receive
        self._max_bytes = max_bytes
        self._ends = asyncio.get_running_loop().time() + seconds
        self._read = 0
        self.is_complete = False

    async def receive(self) -> Message:
        """The next part of the body. After its end, the message that the client has gone.

        Raises:
            Problem: the body is too long, or too slow.
        """
        if self.is_complete:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._ends):
                message = await self._receive()
        except TimeoutError:
            raise Problem(408, "the body does not arrive") from None
        self._read += len(message.get("body", b""))
        self.is_complete = not message.get("more_body", False)
        if self._read > self._max_bytes:
            raise Problem(413, f"the body is longer than {self._max_bytes:,} bytes")
        return message
