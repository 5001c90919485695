"""Routes of the console: its files, login sessions, pages of error codes, and health checks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from penstock.server.http.problems import Problem
from penstock.server.http.security import COOKIE, SESSION_SECONDS
from penstock.server.http.services import Login, LoginOf, Services, ServicesOf, log_in

router = APIRouter()

CONSOLE = Path(__file__).parent / "console"
ERROR_PAGES = Path(__file__).parent / "errors"
_CODE = re.compile(r"[A-Z]\d{3}")
_ENGINE_TIMEOUT_SECONDS = 30
"""An engine that has not been seen for so many seconds counts as away."""


class Credentials(BaseModel):
    """The token to log in with."""

    model_config = ConfigDict(extra="forbid")

    token: str = Field(max_length=1000, repr=False)


@router.get("/", include_in_schema=False)
async def show_console() -> Response:
    """The page of the console."""
    return FileResponse(CONSOLE / "index.html", headers={"Cache-Control": "no-cache"})


@router.get("/docs", include_in_schema=False)
async def show_reference() -> Response:
    """The page that lists the routes."""
    return FileResponse(CONSOLE / "reference.html", headers={"Cache-Control": "no-cache"})


@router.get("/openapi.json", include_in_schema=False)
async def show_schema(request: Request, _: LoginOf) -> Any:
    """The OpenAPI description of the routes."""
    return JSONResponse(request.app.openapi())


@router.get("/errors/{code}", include_in_schema=False)
async def show_error_page(code: str) -> Response:
    """What an error code means, as text."""
    page = ERROR_PAGES / f"{code}.md"
    if not _CODE.fullmatch(code) or not page.is_file():
        raise Problem(404, f"unknown code {code}")
    return FileResponse(page, media_type="text/plain; charset=utf-8")


@router.get("/healthz")
async def show_health() -> dict[str, str]:
    """Whether the process is alive."""
    return {"status": "ok"}


@router.get("/readyz")
async def show_readiness(services: ServicesOf) -> Response:
    """Whether PostgreSQL answers and the engine accepts statements."""
    state = await services.catalog.find_engine_state(_ENGINE_TIMEOUT_SECONDS)
    ready = state == "READY"
    return JSONResponse({"database": "ok", "engine": state or "away"}, 200 if ready else 503)


@router.post("/v1/session")
async def open_session(body: Credentials, request: Request, response: Response, services: ServicesOf) -> dict[str, Any]:
    """Logs a browser in. From then on its cookie stands for the token."""
    login = await log_in(request, services, body.token.strip())
    cookie, session = services.sessions.open(login.digest)
    response.set_cookie(
        COOKIE, cookie, max_age=SESSION_SECONDS, httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return _show_session(Login(login.caller, login.digest, session), services)


@router.get("/v1/session")
async def show_session(login: LoginOf, services: ServicesOf) -> dict[str, Any]:
    """Who is logged in, and the CSRF token that requests have to send if they change something."""
    return _show_session(login, services)


@router.delete("/v1/session", status_code=204)
async def close_session(request: Request, response: Response, login: LoginOf, services: ServicesOf) -> None:
    """Logs a browser out."""
    services.sessions.close(request.cookies.get(COOKIE, ""))
    response.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=request.url.scheme == "https")


def _show_session(login: Login, services: Services) -> dict[str, Any]:
    return {
        "role": login.caller.role,
        "label": login.caller.label,
        "submits": login.caller.submits,
        "owns": login.caller.owns,
        "answer_rows": services.limits.answer_rows,
        "csrf": login.session.csrf if login.session else None,
    }
