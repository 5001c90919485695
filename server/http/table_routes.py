"""Routes that read tables: rows in several formats, and changes as they happen."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Annotated
from urllib.parse import quote, urlencode

import anyio.to_thread
import psycopg
import psycopg_pool
from fastapi import APIRouter, Header, Query, Request, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from penstock.server.http import path_names as path_names  # which routes name
from penstock.server.http.change_feed import ChangeFeed
from penstock.server.http.problems import Problem
from penstock.server.http.row_formats import ARROW, CSV, JSON, write_arrow, write_csv, write_json
from penstock.server.http.services import LoginOf, ServicesOf
from penstock.server.http.table_requests import RESERVED, TableRequest, TableRows, find_shape, read_rows
from penstock.values import to_json

log = logging.getLogger("penstock.http")
router = APIRouter()

DEFAULT_LIMIT = 100
HEARTBEAT_SECONDS = 15
_SEND_SECONDS = 60
_COUNT = "count=exact"
"""The preference of RFC 7240 by which a client asks for the number of all rows."""
_WRITERS: dict[str, tuple[str, Callable[[TableRows], bytes]]] = {
    "json": (JSON, write_json),
    "csv": (CSV, write_csv),
    "arrow": (ARROW, write_arrow),
}


@router.get("/v1/tables/{name:name}/changes", response_class=EventSourceResponse)
async def follow_table(
    name: str,
    login: LoginOf,
    services: ServicesOf,
    last_event_id: Annotated[str | None, Header()] = None,
    after: Annotated[str | None, Query(description="As the header Last-Event-ID.")] = None,
) -> EventSourceResponse:
    """Changes of a table as they happen, each with its micro-batch, as server-sent events.

    `ready`: read the table now. `change`: one change. `gap`: changes are lost, so read the table again.
    """
    async with services.catalog.read_as(login.role) as connection:
        shape = await find_shape(connection, name)
    if not await services.catalog.may_follow(login.digest, shape.name):
        raise Problem(403, f"permission denied for table {shape.name}", sqlstate="42501")
    events = _send_changes(services.changes, login.digest, shape.name, last_event_id or after)
    return EventSourceResponse(events, ping=HEARTBEAT_SECONDS, send_timeout=_SEND_SECONDS)


@router.get("/v1/tables/{name:name}", response_class=Response)
async def read_table(
    name: str,
    request: Request,
    login: LoginOf,
    services: ServicesOf,
    limit: Annotated[int | None, Query(ge=0, description="The most rows to get.")] = None,
    after: Annotated[
        list[str] | None, Query(description="The values of the order in the row that the rows come behind.")
    ] = None,
    order: Annotated[
        list[str] | None,
        Query(description="Columns, each once or with commas between them; - before one that descends."),
    ] = None,
    format: Annotated[str | None, Query(description="`json`, `csv` or `arrow`.")] = None,
    prefer: Annotated[list[str] | None, Header(description="`count=exact`: JSON has the `count` of all rows.")] = None,
) -> Response:
    """Rows of a table as they are now. Other parameters are columns, each with a value that it has to equal.

    `column>=value` and `column<=value` bound a column.
    """
    kind = choose_format(format, request.headers.get("accept"))
    most = services.limits.answer_rows
    if limit is not None and limit > most:
        raise Problem(400, f"limit is at most {most:,}")
    asked = TableRequest(
        min(DEFAULT_LIMIT, most) if limit is None else limit,
        tuple(after or ()),
        tuple(order or ()),
        _read_filters(request),
        counts=kind == "json" and _COUNT in [each.strip() for line in prefer or () for each in line.split(",")],
    )
    media_type, write = _WRITERS[kind]
    async with services.catalog.read_as(login.role) as connection:
        found = await read_rows(connection, name, asked)
    body = await anyio.to_thread.run_sync(partial(write, found))
    response = Response(body, media_type=media_type, headers={"Vary": "Accept"})
    if found.next is not None:
        kept = [pair for pair in request.query_params.multi_items() if pair[0] != "after"]
        query = urlencode([*kept, *(("after", value) for value in found.next)])
        response.headers["Link"] = f'<{quote(request.scope["path"])}?{query}>; rel="next"'
    return response


async def _send_changes(
    feed: ChangeFeed, digest: bytes, relation: str, last: str | None
) -> AsyncIterator[ServerSentEvent]:
    try:
        async for event in feed.follow(digest, relation, last):
            data = json.dumps(to_json(event.data), ensure_ascii=False)
            yield ServerSentEvent(data, event=event.kind, id=event.id)
    except (psycopg.Error, psycopg_pool.PoolTimeout) as error:
        log.warning("a client loses its stream of changes: %s", error)  # it comes back with its last event


def choose_format(named: str | None, accept: str | None) -> str:
    """The format that is named, or the first one that the header accepts.

    Raises:
        Problem: there is no such format.
    """
    if named is not None:
        if named not in _WRITERS:
            raise Problem(400, f"unknown format {named}", hint="json, csv or arrow")
        return named
    accepted = [each.partition(";")[0].strip().lower() for each in (accept or "*/*").split(",")]
    for media_type in accepted:
        if media_type in ("*/*", "application/*"):
            return "json"
        for kind, (offered, _) in _WRITERS.items():
            if media_type in (offered.partition(";")[0], "text/*" if kind == "csv" else ""):
                return kind
    raise Problem(
        406, "the answer can be JSON, CSV or an Arrow stream", hint=", ".join(each for each, _ in _WRITERS.values())
    )


def _read_filters(request: Request) -> tuple[tuple[str, tuple[str, ...]], ...]:
    filters: dict[str, list[str]] = {}
    for column, value in request.query_params.multi_items():
        if column not in RESERVED:
            filters.setdefault(column, []).append(value)
    return tuple((column, tuple(values)) for column, values in filters.items())
