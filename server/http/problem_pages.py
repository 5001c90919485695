"""Problems as browsers show them: a page for a person, an object for a program."""

from __future__ import annotations

import logging
from html import escape

import psycopg
import psycopg_pool
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from penstock.server.http.problems import Problem, explain_database_error

log = logging.getLogger("penstock.http")

_ADVICE = {
    401: 'Log in on the <a href="/">home page</a>. Then open this address again.',
    403: "Your role may not do this. The operator makes tokens of other roles: "
    "<code>penstock token create --user NAME --role submitter</code>",
    404: 'The name may be misspelt, or its relation dropped. The <a href="/">home page</a> shows all that is there.',
    406: "The answer has other formats than this one.",
    408: "The request came too slowly. Send it again.",
    429: "Wait a few seconds, and load the page again.",
    500: "The log of the server says what has failed. Load the page again; if that does not help, tell the operator.",
    503: "The server, its database or its engine starts, or has too much to do. Load the page again in a few seconds.",
    504: "Ask for fewer rows, or try again when the server has less to do.",
}
_OTHERWISE = 'Check the address, or begin on the <a href="/">home page</a>.'
_PAGE = """<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>{status} · Penstock</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/console/console.css">
</head>
<body>
  <header><span class="brand">Penstock</span><nav aria-label="Pages"><a href="/">Home</a></nav></header>
  <main>
    <h1>{status}: {message}</h1>
    {lines}
  </main>
</body>
</html>
"""


def answer_problem(problem: Problem, accept: str | None) -> Response:
    """The response to a request that fails. `accept`: the header of the request."""
    if not _wants_page(accept or ""):
        return problem.response()
    members = problem.members
    lines = [f"<p>{_ADVICE.get(problem.status_code, _OTHERWISE)}</p>"]
    if members.get("hint"):
        lines.append(f'<p class="hint">hint: {escape(str(members["hint"]))}</p>')
    if members.get("detail"):
        lines.append(f"<p>{escape(str(members['detail']))}</p>")
    if members.get("code"):
        code = escape(str(members["code"]))
        lines.append(f'<p>The code is <a href="/errors/{code}">{code}</a>.</p>')
    text = _PAGE.format(status=problem.status_code, message=escape(str(problem.detail)), lines="\n    ".join(lines))
    return HTMLResponse(text, problem.status_code, {**(problem.headers or {}), "Vary": "Accept"})


def _wants_page(accept: str) -> bool:
    """Whether HTML stands before JSON in the header, as it does when a person opens an address in a browser."""
    types = [each.partition(";")[0].strip().lower() for each in accept.split(",")]
    first = next((each for each in types if each in ("text/html", "application/json", "application/problem+json")), "")
    return first == "text/html"


def add_problem_handlers(app: FastAPI) -> None:
    """Whatever a route raises is answered as a problem."""

    async def answer(request: Request, error: Exception) -> Response:
        return answer_problem(explain_error(request, error), request.headers.get("accept"))

    for kind in (HTTPException, RequestValidationError, psycopg.Error, psycopg_pool.PoolTimeout, Exception):
        app.add_exception_handler(kind, answer)


def explain_error(request: Request, error: Exception) -> Problem:
    """What a client is told of whatever a route has raised."""
    match error:
        case Problem():
            return error
        case HTTPException():
            return Problem(error.status_code, str(error.detail), headers=dict(error.headers or {}))
        case RequestValidationError():
            first = error.errors()[0]
            place = ".".join(str(each) for each in first["loc"])
            return Problem(400, f"{place}: {first['msg'].lower()}")
        case psycopg.Error() | psycopg_pool.PoolTimeout():
            return explain_database_error(error)
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return Problem(500, "internal error")
