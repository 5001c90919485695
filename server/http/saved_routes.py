"""Routes of the statements that users keep on the server. All read them; who has kept one, or an owner, changes it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from penstock.server.http import path_names as path_names  # which routes name
from penstock.server.http.problems import Problem
from penstock.server.http.services import LoginOf, ServicesOf
from penstock.server.http.statement_routes import CHECKED_BYTES, Script
from penstock.values import to_json

router = APIRouter()

LONGEST_NAME = 100


@router.get("/v1/saved")
async def list_saved(login: LoginOf, services: ServicesOf) -> dict[str, Any]:
    """The statements that users have kept, by name, each with its owner."""
    return {"saved": to_json(await services.catalog.list_saved(login.role))}


@router.get("/v1/saved/{name:name}")
async def show_saved(name: str, login: LoginOf, services: ServicesOf) -> dict[str, Any]:
    """A text that a user has kept, with its owner."""
    return dict(to_json(await services.catalog.find_saved(login.role, name)))


@router.put("/v1/saved/{name:name}", status_code=204)
async def save_statement(name: str, script: Script, login: LoginOf, services: ServicesOf) -> None:
    """Keeps a text under a name. One that is there has to be your own, unless you are an owner. Nothing is run."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise Problem(400, f"a name has 1 to {LONGEST_NAME} characters that can be seen")
    if len(script.sql.encode()) > CHECKED_BYTES:
        raise Problem(413, f"the text is longer than {CHECKED_BYTES:,} bytes")
    if await services.catalog.save(login.caller, name, script.sql, services.limits.saved):
        return
    owner = await services.catalog.find_saver(name)
    if owner is None:
        raise Problem(
            429, f"{login.role} keeps {services.limits.saved:,} statements already", hint="delete some of them"
        )
    raise Problem(403, f"{name} is kept by {owner}", sqlstate="42501", hint="take another name")


@router.delete("/v1/saved/{name:name}", status_code=204)
async def forget_statement(name: str, login: LoginOf, services: ServicesOf) -> None:
    """Deletes a kept text. It has to be your own, unless you are an owner."""
    if await services.catalog.forget(login.caller, name):
        return
    owner = await services.catalog.find_saver(name)
    if owner is None:
        raise Problem(404, f"no statement is kept as {name}")
    raise Problem(403, f"{name} is kept by {owner}", sqlstate="42501")
