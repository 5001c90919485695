"""Statements of Penstock in a session: how they are prepared, asked and answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from penstock.server.engine_protocol import Refusal, RefusedError
from penstock.server.postgres.answer_texts import answer_text, constant, pack_answer, pack_lines, pack_refusal
from penstock.server.postgres.asking import Asker, refusal
from penstock.server.postgres.classify import OwnStatement, OwnStatements, RefusedMessage, RunCalls, Verdict
from penstock.server.postgres.link import Link
from penstock.server.postgres.messages import (
    FLUSH,
    JSONB,
    MAX_PARAMETERS,
    SYNC,
    TEXT,
    Bind,
    Parse,
    close,
    execute,
    query,
    statement_key,
)
from penstock.server.postgres.probing import Probe, Prober, marker
from penstock.server.postgres.responses import Expected, Fields, Request, Responses
from penstock.server.postgres.rewriting import edit_calls, edit_own, edit_refused, refused_text, replace_arguments
from penstock.server.postgres.run_calls import RunCall

_TIMER = b"penstock: timer"
_COPY = b"penstock: copy"
_NULL = "NULL::pg_catalog.jsonb"
_UNKNOWN_TYPES = (0, 705)
_TEXT_TYPES = (TEXT, 19, 1042, 1043)
"""text, name, char and varchar: their binary form is their text."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What the engine said to one statement, as the functions of functions.sql take it."""

    packed: bytes
    columns: tuple[str, ...]
    tag: str
    is_refused: bool = False
    position: int | None = None
    """What a refusal is about, as a character of the message from 1."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared statement with answers of the engine as hidden parameters, behind the parameters of the client."""

    parameters: int
    """The number of the client's parameters."""
    found: OwnStatement | None
    """None if it is a statement of PostgreSQL that calls penstock.run."""
    calls: tuple[RunCall, ...]
    arguments: tuple[str, ...]
    """What stands in the place of the calls' arguments."""
    copy: str | None = None
    """The text of a COPY. It is prepared again with each answer, since it takes no parameters."""
    probe: Probe | None = None

    @property
    def hidden(self) -> int:
        """How many parameters the client does not see."""
        return 0 if self.copy is not None else len(self.calls) or 1

    def edit(self, position: int | None) -> Callable[[Fields], Fields]:
        """How its errors are changed."""
        return edit_own(position) if self.found else edit_calls(position, self.calls, self.arguments)


class StatementRunner:
    """Runs the statements of Penstock of one session.

    PostgreSQL is asked first whether it would run the statement: the session may be in a failed transaction, or may not
    call the functions. Then the engine is asked, and PostgreSQL answers what the engine said.
    """

    def __init__(self, server: Link, responses: Responses, asker: Asker) -> None:
        self._server = server
        self._responses = responses
        self._asker = asker
        self._prober = Prober(server, responses)
        self._prepared: dict[bytes, Prepared] = {}
        self._portals: dict[bytes, Expected] = {}

    def find_prepared(self, name: bytes) -> Prepared | None:
        """The statement of this name if it has answers of the engine in it."""
        return self._prepared.get(statement_key(name))

    def forget_prepared(self, name: bytes) -> None:
        """The statement is one of PostgreSQL."""
        self._prepared.pop(statement_key(name), None)

    def forget_portal(self, name: bytes) -> None:
        """The portal belongs to a statement of PostgreSQL."""
        self._portals.pop(name, None)

    def expect_execution(self, portal: bytes) -> Expected:
        """What the server answers to an Execute."""
        known = self._portals.get(portal)
        if known is None:
            return Expected(Request.EXECUTE)
        return Expected(Request.EXECUTE, tags=list(known.tags), edit_error=known.edit_error)

    async def run_query(self, text: str, codec: str, verdict: Verdict) -> None:
        """Answers a Query message."""
        await self._settle()
        if self._responses.is_skipping:
            return
        match verdict:
            case RefusedMessage(problem):
                self._send_refused(problem, Request.QUERY, query(refused_text(problem).encode("ascii", "replace")))
            case OwnStatements(statements, before=before, after=after):
                if not await self._run_before(before, codec):
                    return
                if await self._would_run("CALL penstock.finish(NULL)", edit_own(None)):
                    await self._run_own(statements, after.encode(codec))
            case RunCalls(calls, before=before, after=after, probe=probe):
                if not await self._run_before(before, codec):
                    return
                rest = " " * len(before) + text[len(before) :]  # places stay what they are
                arguments = [_NULL] * len(calls)
                tried = replace_arguments(rest[: len(rest) - len(after)], calls, arguments)
                if await self._would_run(tried, edit_calls(None, calls, arguments), codec):
                    await self._run_calls(rest, codec, calls, probe)

    def can_prepare(self, parse: Parse, verdict: Verdict) -> bool:
        """False if the server is to say what it thinks of a statement: its parameter cannot be one of penstock.run."""
        if len(parse.types) > MAX_PARAMETERS or not isinstance(verdict, RunCalls):
            return len(parse.types) <= MAX_PARAMETERS
        if verdict.is_copy and verdict.parameters:
            return False
        given = (call.parameter for call in verdict.calls if 0 < call.parameter <= len(parse.types))
        return all(parse.types[each - 1] in (*_UNKNOWN_TYPES, *_TEXT_TYPES) for each in given)

    async def prepare(self, parse: Parse, text: str, codec: str, verdict: Verdict) -> None:
        """Answers a Parse message."""
        if (problem := _find_problem(verdict)) is not None:
            refused = Parse(parse.name, refused_text(problem).encode("ascii", "replace"), parse.types)
            self._send_refused(problem, Request.PARSE, refused.packed)
            return
        types = list(parse.types)
        if isinstance(verdict, RunCalls):
            types += [0] * (verdict.parameters - len(types))
            for number in (call.parameter for call in verdict.calls if call.parameter):
                types[number - 1] = TEXT if types[number - 1] in _UNKNOWN_TYPES else types[number - 1]
            arguments = tuple(f"${len(types) + place}" for place in range(1, len(verdict.calls) + 1))
            if verdict.is_copy:
                arguments = (_NULL,) * len(verdict.calls)
            copy = text if verdict.is_copy else None
            prepared = Prepared(len(types), None, verdict.calls, arguments, copy, verdict.probe)
            rewritten = replace_arguments(text, verdict.calls, arguments)
        else:
            assert isinstance(verdict, OwnStatements)
            (found,) = verdict.statements
            prepared = Prepared(len(types), found, (), ())
            rewritten = answer_text(found.columns, f"${len(types) + 1}")
        types += [JSONB] * prepared.hidden
        message = Parse(parse.name, rewritten.encode(codec), tuple(types)).packed
        if await self._succeeds(Expected(Request.PARSE, edit_error=prepared.edit(None)), message):
            self._prepared[statement_key(parse.name)] = prepared

    async def describe(self, prepared: Prepared, message: bytes) -> None:
        """Answers a Describe message of a prepared statement."""
        self._send(Expected(Request.DESCRIBE, hidden_parameters=prepared.hidden), message)

    async def replace_prepared(self, name: bytes, request: Request, message: bytes) -> None:
        """A Parse or a Close of PostgreSQL's takes the name of a statement that has answers of the engine in it."""
        if await self._succeeds(Expected(request), message):
            del self._prepared[statement_key(name)]

    async def bind(self, bind: Bind, prepared: Prepared, codec: str) -> None:
        """Answers a Bind message: the engine is asked each time.

        PostgreSQL binds the portal without an answer first, and so finds all errors of the message.
        """
        nothing = bind.with_texts([None] * prepared.hidden if len(bind.values) < MAX_PARAMETERS else []).packed
        if len(bind.values) != prepared.parameters:
            self._send(Expected(Request.BIND), nothing)
            return
        tried = Expected(Request.BIND, hidden=True, edit_error=prepared.edit(None))
        self._send(tried, nothing)
        self._send(Expected(Request.CLOSE, hidden=True), close("P", bind.portal))
        self._stop_timer()
        await self._settle()
        if not tried.succeeded:
            return
        if prepared.found:
            answers = [_as_described(await self._ask_found(prepared.found), prepared.found)]
        else:
            asked = await self._ask_calls(prepared.calls, bind, codec, prepared.probe, is_message=False)
            if asked is None:
                return
            answers = asked
        if prepared.copy is not None:
            self._bind_copy(bind, prepared, prepared.copy, codec, answers)
            return
        edit = prepared.edit(_find_position(answers))
        tags = [answers[-1].tag] if prepared.found else []
        self._portals[bind.portal] = Expected(Request.EXECUTE, tags=tags, edit_error=edit)
        texts = [each.packed for each in answers] + [None] * (prepared.hidden - len(answers))
        self._send(Expected(Request.BIND, edit_error=edit), bind.with_texts(texts).packed)

    def _bind_copy(self, bind: Bind, prepared: Prepared, text: str, codec: str, answers: Sequence[Answered]) -> None:
        """Binds a COPY that has the answers in its text."""
        arguments = _constants(answers, prepared.calls)
        edit = edit_calls(_find_position(answers), prepared.calls, arguments)
        self._portals[bind.portal] = Expected(Request.EXECUTE, edit_error=edit)
        rewritten = replace_arguments(text, prepared.calls, arguments).encode(codec)
        self._send(Expected(Request.PARSE, hidden=True, edit_error=edit), Parse(_COPY, rewritten, ()).packed)
        self._send(Expected(Request.BIND, edit_error=edit), replace(bind, statement=_COPY).packed)
        self._send(Expected(Request.CLOSE, hidden=True), close("S", _COPY))

    async def _run_before(self, text: str, codec: str) -> bool:
        """Runs what is in front of the statements of Penstock in their message; False if it fails."""
        if not text:
            return True
        begun = Expected(Request.QUERY, goes_on=True)
        self._send(begun, query(text.encode(codec)))
        await self._responses.settle()
        return begun.goes_on

    async def _run_own(self, statements: Sequence[OwnStatement], after: bytes) -> None:
        answers: list[Answered] = []
        for found in statements:
            answers.append(await self._ask_found(found))
            if answers[-1].is_refused:
                break
        text = "; ".join(answer_text(each.columns, constant(each.packed)) for each in answers)
        edit = edit_own(answers[-1].position)
        tags = [each.tag for each in answers]
        self._send(Expected(Request.QUERY, tags=tags, edit_error=edit), query(text.encode() + after))

    async def _run_calls(self, text: str, codec: str, calls: Sequence[RunCall], probe: Probe | None) -> None:
        answers = await self._ask_calls(calls, None, codec, probe, is_message=True)
        if answers is None:
            return
        arguments = _constants(answers, calls)
        edit = edit_calls(_find_position(answers), calls, arguments)
        rewritten = replace_arguments(text, calls, arguments).encode(codec)
        self._send(Expected(Request.QUERY, edit_error=edit), query(rewritten))

    async def _ask_found(self, found: OwnStatement) -> Answered:
        outcome = await self._asker.ask(found.text)
        if isinstance(outcome, RefusedError):
            return _refused(outcome, found.start)
        return Answered(pack_answer(outcome), outcome.columns, outcome.tag)

    async def _ask_calls(
        self, calls: Sequence[RunCall], bind: Bind | None, codec: str, probe: Probe | None, *, is_message: bool
    ) -> list[Answered] | None:
        """The answers to the calls of a statement, up to the first refusal. None if the client has got an error.

        A call that the statement does not carry out is not asked. `is_message`: as of Prober.find_asked.
        """
        if probe is None:
            answers: list[Answered] = []
            for call in calls:
                answers.append(await self._ask_call(call, bind, codec))
                if answers[-1].is_refused:
                    break
            return answers
        answers = [Answered(b'{"ask": %d}' % place, ("line",), "") for place in range(len(calls))]
        open_calls = set(range(len(calls)))
        while open_calls and not any(each.is_refused for each in answers):
            arguments = [marker(n) if n in open_calls else constant(each.packed) for n, each in enumerate(answers)]
            text, edit = probe.write(arguments), probe.edit(arguments)
            place = await self._prober.find_asked(text, codec, edit, is_message=is_message)
            if place is None:
                return None
            if place not in open_calls:
                break
            open_calls.discard(place)
            answers[place] = await self._ask_call(calls[place], bind, codec)
        return answers

    async def _ask_call(self, call: RunCall, bind: Bind | None, codec: str) -> Answered:
        text = call.statement
        if text is None and bind is not None:
            value = bind.values[call.parameter - 1]
            text = None if value is None else value.decode(codec, "replace")
        null = refusal("22004", "penstock.run needs a statement, not NULL")
        outcome = null if text is None else await self._asker.ask(text)
        if isinstance(outcome, RefusedError):
            return _refused(outcome, call.body, call.start)
        return Answered(pack_lines(outcome), ("line",), "")

    async def _would_run(self, text: str, edit: Callable[[Fields], Fields], codec: str = "ascii") -> bool:
        """Whether PostgreSQL accepts a statement.

        If it does not, the client gets the error as the error of its Query.
        """
        tried = Expected(Request.PARSE, hidden=True, edit_error=edit)
        self._send(tried, Parse(b"", text.encode(codec), ()).packed)
        self._send(Expected(Request.SYNC, hidden=True), SYNC)
        await self._responses.settle()
        return tried.succeeded

    def _stop_timer(self) -> None:
        """Runs a statement that does nothing: at its end, PostgreSQL stops the clock of `statement_timeout`.

        It would not find before the answer that the time is up, when the engine has done its work.
        """
        self._send(Expected(Request.PARSE, hidden=True), Parse(_TIMER, b"CALL penstock.finish(NULL)", ()).packed)
        self._send(Expected(Request.BIND, hidden=True), Bind(_TIMER, _TIMER, (), (), ()).packed)
        self._send(Expected(Request.EXECUTE, hidden=True), execute(_TIMER))
        self._send(Expected(Request.CLOSE, hidden=True), close("P", _TIMER))
        self._send(Expected(Request.CLOSE, hidden=True), close("S", _TIMER))

    def _send_refused(self, problem: Refusal, request: Request, message: bytes) -> None:
        self._send(Expected(request, edit_error=edit_refused(problem)), message)

    async def _succeeds(self, expected: Expected, message: bytes) -> bool:
        """Sends a message, and waits until it is answered or skipped."""
        self._send(expected, message)
        await self._settle()
        return expected.succeeded

    async def _settle(self) -> None:
        if not self._responses.is_settled:
            self._server.write(FLUSH)
            await self._responses.settle()

    def _send(self, expected: Expected, message: bytes) -> None:
        self._responses.expect(expected)
        self._server.write(message)


def _constants(answers: Sequence[Answered], calls: Sequence[RunCall]) -> list[str]:
    """The arguments of the calls. Calls behind a refusal are not asked for."""
    return [constant(each.packed) for each in answers] + [_NULL] * (len(calls) - len(answers))


def _find_position(answers: Sequence[Answered]) -> int | None:
    """What a refusal among the answers is about."""
    return next((each.position for each in answers if each.is_refused), None)


def _find_problem(verdict: Verdict) -> Refusal | None:
    """Why a statement cannot be prepared."""
    match verdict:
        case RefusedMessage(problem):
            return problem
        case OwnStatements(statements, before=before, after=after) if len(statements) > 1 or before or after:
            return Refusal("", "42601", "cannot insert multiple commands into a prepared statement")
        case OwnStatements(parameters=True):
            hint = "write the values into the statement; drivers can do so on the client's side"
            return Refusal("", "0A000", "a statement of Penstock takes no parameters", hint=hint)
        case _:
            return None


def _refused(error: RefusedError, body: int | None, start: int | None = None) -> Answered:
    """`body`: the place of the statement in the message; if it is not there as it is, `start` is where it is given."""
    position = error.refusals[0].position
    if position is not None:
        position = body + position if body is not None else None if start is None else start + 1
    return Answered(pack_refusal(error), (), "", is_refused=True, position=position)


def _as_described(answer: Answered, found: OwnStatement) -> Answered:
    """The answer if it has the columns that Describe told, or if it has none to be shown."""
    if answer.is_refused or not found.columns or answer.columns == found.columns:
        return answer
    columns = ", ".join(answer.columns)
    return _refused(refusal("0A000", f"the answer has the columns {columns}, which were not described"), None)
