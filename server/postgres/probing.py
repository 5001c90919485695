"""Which calls of penstock.run a statement carries out: PostgreSQL is asked before the engine is.

`CASE WHEN false THEN (SELECT … penstock.run(…)) END`, LIMIT 0 and WHERE false carry out none. Tools probe so for the
columns of a query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.server.postgres.link import Link
from penstock.server.postgres.messages import FLUSH, SYNC, TEXT, Bind, Parse, close, execute
from penstock.server.postgres.responses import Expected, Fields, Request, Responses
from penstock.server.postgres.rewriting import map_position, replace_arguments
from penstock.server.postgres.run_calls import RunCall

_PROBE = b"penstock: probe"


def marker(place: int) -> str:
    """The argument of a call that says, when it is carried out, which one it is."""
    return f"""'{{"ask": {place}}}'::pg_catalog.jsonb"""


@dataclass(frozen=True, slots=True)
class Probe:
    """A statement of PostgreSQL, or the query of its COPY. It has no other parameters than the parameters of its calls.

    `start`: the place of its first character in the message.
    """

    text: str
    start: int
    calls: tuple[RunCall, ...]

    def write(self, arguments: Sequence[str]) -> str:
        """The statement with other arguments in its calls."""
        return replace_arguments(self.text, self._moved, arguments)

    def edit(self, arguments: Sequence[str]) -> Callable[[Fields], Fields]:
        """Makes an error of the statement that is carried out inside of a function one of the statement itself."""

        def edit(fields: Fields) -> Fields:
            kept = {name: value for name, value in fields.items() if name not in "WqpPFLR"}
            place = fields.get("p")
            if place is None:
                return kept
            found = map_position(int(place), self._moved, arguments) + self.start
            return {**kept, "P": str(found).encode()}

        return edit

    @property
    def _moved(self) -> tuple[RunCall, ...]:
        return tuple(each.moved(-self.start) for each in self.calls)


class Prober:
    """Asks the server of one session."""

    def __init__(self, server: Link, responses: Responses) -> None:
        self._server, self._responses = server, responses

    async def find_asked(
        self, text: str, codec: str, edit: Callable[[Fields], Fields], *, is_message: bool
    ) -> int | None:
        """The place of the first call that the statement would carry out, -1 if there is none; None if it fails.

        The client gets the error then. `is_message`: nothing else has been sent since the last Sync.
        """
        rows: list[bytes] = []
        parse = Parse(_PROBE, b"SELECT penstock.find_asked($1)", (TEXT,))
        self._send(Expected(Request.PARSE, hidden=True, edit_error=edit), parse.packed)
        bound = Bind(_PROBE, _PROBE, (), (text.encode(codec),), ())
        self._send(Expected(Request.BIND, hidden=True, edit_error=edit), bound.packed)
        ran = Expected(Request.EXECUTE, hidden=True, edit_error=edit, rows=rows)
        self._send(ran, execute(_PROBE))
        self._send(Expected(Request.CLOSE, hidden=True), close("P", _PROBE))
        self._send(Expected(Request.CLOSE, hidden=True), close("S", _PROBE))
        if is_message:
            self._send(Expected(Request.SYNC, hidden=True), SYNC)
        else:
            self._server.write(FLUSH)
        await self._responses.settle()
        if not ran.succeeded or not rows:
            return None
        return int(rows[0][6:])  # behind the count of columns and the length of the only one

    def _send(self, expected: Expected, message: bytes) -> None:
        self._responses.expect(expected)
        self._server.write(message)
