"""The application: its routes, and what each request passes."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware.trustedhost import TrustedHostMiddleware

from penstock.server.http import pages, query_routes, saved_routes, statement_routes, table_routes
from penstock.server.http.guard import Guard, list_hosts
from penstock.server.http.problem_pages import add_problem_handlers
from penstock.server.http.services import Services


def create_app(services: Services, hosts: Iterable[str] = ()) -> FastAPI:
    """The application over its services. `hosts`: the names of this server besides localhost."""
    app = FastAPI(
        title="Penstock",
        version=version("penstock"),
        description="Streaming SQL. Requests carry a token in the header Authorization: Bearer …",
        openapi_url=None,  # clients with a token get it
        redirect_slashes=False,
    )
    app.state.services = services
    for module in (statement_routes, saved_routes, query_routes, table_routes, pages):
        app.include_router(module.router)
    app.mount("/console", StaticFiles(directory=pages.CONSOLE), name="console")
    add_problem_handlers(app)
    # JSON writes some characters of a statement as two to six.
    body_bytes = 2 * services.limits.statement_bytes + 4096
    app.add_middleware(
        Guard, shares=services.shares, body_bytes=body_bytes, body_seconds=services.limits.startup_seconds
    )
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list_hosts(hosts), www_redirect=False)
    return app
