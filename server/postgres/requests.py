"""Messages of a client: which pass on as they are, and what is done in the place of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from penstock.server.postgres.asking import Asker
from penstock.server.postgres.classify import RunCalls, Verdict, classify
from penstock.server.postgres.link import Link
from penstock.server.postgres.messages import (
    ProtocolError,
    read_bind,
    read_name,
    read_names,
    read_parse,
    read_text,
)
from penstock.server.postgres.responses import Expected, Request, Responses
from penstock.server.postgres.statement_runner import StatementRunner

_REQUESTS = {
    ord("P"): Request.PARSE,
    ord("B"): Request.BIND,
    ord("C"): Request.CLOSE,
    ord("D"): Request.DESCRIBE,
    ord("E"): Request.EXECUTE,
    ord("S"): Request.SYNC,
    ord("Q"): Request.QUERY,
    ord("F"): Request.FUNCTION,
    ord("c"): Request.COPIED,
    ord("f"): Request.COPIED,
}
# PostgreSQL's encodings in which each character of ASCII is one byte and no part of another character, and Python's.
_CODECS = {
    "UTF8": "utf-8",
    "SQL_ASCII": "utf-8",
    **{f"LATIN{number}": f"latin{number}" for number in range(1, 11)},
    **{f"ISO_8859_{number}": f"iso8859-{number}" for number in range(5, 9)},
    **{f"WIN{number}": f"cp{number}" for number in (*range(1250, 1259), 866, 874)},
    "KOI8R": "koi8-r",
    "KOI8U": "koi8-u",
}
_HEADER = 5
_LONG = 1 << 16
"""Bytes of a text that takes noticeable time to be split into tokens."""
_ONE_THREAD = ThreadPoolExecutor(1, thread_name_prefix="penstock long texts")
"""Other sessions go on while long texts are split, one after the other."""


class Requests:
    """Takes the messages of one session. Messages are whole, with their header, unless it says otherwise."""

    def __init__(self, server: Link, responses: Responses, asker: Asker) -> None:
        self._server = server
        self._responses = responses
        self._asker = asker
        self._runner = StatementRunner(server, responses, asker)
        self._codec: str | None = "utf-8"
        self._has_escapes = False

    def note_setting(self, name: str, value: str) -> None:
        """Notes a setting that the server reports."""
        if name == "client_encoding":
            self._codec = _CODECS.get(value)
        elif name == "standard_conforming_strings":
            self._has_escapes = value != "on"

    def take(self, message: bytes) -> Awaitable[None] | None:
        """What has to be done in the place of passing the message on; None if it passes on as it is."""
        request = _REQUESTS.get(message[0])
        if request is None:
            return None
        match request:
            case Request.QUERY:
                work = self._take_query(message)
            case Request.PARSE:
                work = self._take_parse(message)
            case Request.BIND:
                work = self._take_bind(message)
            case Request.CLOSE | Request.DESCRIBE if message[_HEADER : _HEADER + 1] == b"S":
                work = self._take_named(request, message)
            case Request.EXECUTE:
                self._responses.expect(self._runner.expect_execution(read_name(message[_HEADER:])))
                return None
            case _:
                work = None
        if work is None:
            self._responses.expect(Expected(request))
        return work

    def take_long(self, head: bytes) -> None:
        """Notes a message that passes on before it is whole. Its names are in the head."""
        request = _REQUESTS.get(head[0])
        if request is None:
            return
        self._responses.expect(Expected(request))
        if request is Request.PARSE:
            self._runner.forget_prepared(read_name(head[_HEADER:]))
        elif request is Request.BIND:
            self._runner.forget_portal(read_name(head[_HEADER:]))

    def _take_query(self, message: bytes) -> Awaitable[None] | None:
        try:
            raw = read_text(message[_HEADER:])
        except ProtocolError:
            return None  # the server says what is wrong with it

        def choose(text: str, codec: str, verdict: Verdict | None) -> Awaitable[None] | None:
            if verdict is None or (isinstance(verdict, RunCalls) and verdict.parameters):
                return None
            return self._runner.run_query(text, codec, verdict)

        return self._choose(raw, choose, Request.QUERY, message)

    def _take_parse(self, message: bytes) -> Awaitable[None] | None:
        try:
            parse = read_parse(message[_HEADER:])
        except ProtocolError:
            return None

        def choose(text: str, codec: str, verdict: Verdict | None) -> Awaitable[None] | None:
            if verdict is not None and self._runner.can_prepare(parse, verdict):
                return self._runner.prepare(parse, text, codec, verdict)
            if self._runner.find_prepared(parse.name):
                return self._runner.replace_prepared(parse.name, Request.PARSE, message)
            return None

        return self._choose(parse.text, choose, Request.PARSE, message)

    def _choose(
        self,
        raw: bytes,
        choose: Callable[[str, str, Verdict | None], Awaitable[None] | None],
        request: Request,
        message: bytes,
    ) -> Awaitable[None] | None:
        """What `choose` makes of a text. For a long one, that is known later."""
        if len(raw) < _LONG:
            return choose(*self._classify(raw))

        async def choose_later() -> None:
            found = await asyncio.get_running_loop().run_in_executor(_ONE_THREAD, self._classify, raw)
            work = choose(*found)
            if work is not None:
                await work
            else:
                self._responses.expect(Expected(request))
                self._server.write(message)

        return choose_later()

    def _take_bind(self, message: bytes) -> Awaitable[None] | None:
        portal, name = read_names(message[_HEADER:])
        prepared = self._runner.find_prepared(name)
        if prepared is not None:
            try:
                return self._runner.bind(read_bind(message[_HEADER:]), prepared, self._codec or "utf-8")
            except ProtocolError:
                return None
        self._runner.forget_portal(portal)
        return None

    def _take_named(self, request: Request, message: bytes) -> Awaitable[None] | None:
        """A Describe or a Close of a prepared statement."""
        name = read_name(message[_HEADER + 1 :])
        prepared = self._runner.find_prepared(name)
        if prepared is None:
            return None
        if request is Request.CLOSE:
            return self._runner.replace_prepared(name, request, message)
        return self._runner.describe(prepared, message)

    def _classify(self, raw: bytes) -> tuple[str, str, Verdict | None]:
        """The text of a message, its codec, and what is to be done with it."""
        codec = self._codec
        if codec is None or (self._has_escapes and b"\\" in raw):
            return "", "", None
        try:
            text = raw.decode(codec)
        except UnicodeDecodeError:
            return "", "", None
        return text, codec, classify(text, self._asker.relations())
