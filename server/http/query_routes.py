"""Routes that show queries and relations."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from penstock.diagnostics import Source
from penstock.parser import name_text
from penstock.server.http import path_names as path_names  # which routes name
from penstock.server.http.door_catalog import Row
from penstock.server.http.pipeline_graph import build_pipeline
from penstock.server.http.services import LoginOf, ServicesOf
from penstock.values import to_json

router = APIRouter()


@router.get("/v1/queries")
async def list_queries(login: LoginOf, services: ServicesOf) -> dict[str, Any]:
    """All queries with their states and counts."""
    rows = await services.catalog.list_queries(login.role)
    return {"queries": [_show_query(row) for row in rows]}


@router.get("/v1/queries/{name:name}")
async def show_query(name: str, login: LoginOf, services: ServicesOf) -> dict[str, Any]:
    """A query with its plan, and with the reasons why it writes nothing."""
    return _show_query(await services.catalog.find_query(login.role, name))


@router.get("/v1/relations")
async def list_relations(login: LoginOf, services: ServicesOf) -> dict[str, Any]:
    """All streams, tables and views with their columns and definitions."""
    rows = await services.catalog.list_relations(login.role)
    return {"relations": [_show_definition(row) for row in rows]}


@router.get("/v1/pipeline")
async def show_pipeline(login: LoginOf, services: ServicesOf) -> dict[str, Any]:
    """All relations and queries as a graph, each with its figures: which read and write which."""
    catalog, role = services.catalog, login.role
    lineage = await catalog.list_lineage(role)
    pipeline = build_pipeline(lineage, await catalog.list_relations(role), await catalog.list_queries(role))
    shown: dict[str, Any] = to_json(pipeline)
    return shown


@router.get("/metrics")
async def show_metrics(login: LoginOf, services: ServicesOf) -> Response:
    """All metrics in the text format of Prometheus."""
    queries = await services.catalog.list_queries(login.role)
    services.metrics.streams.set(services.changes.count_clients().total())
    return Response(services.metrics.print(queries), media_type=CONTENT_TYPE_LATEST)


def _show_query(row: Row) -> dict[str, Any]:
    """The row, with the name as statements have it, and the page that explains its error."""
    page = f"/errors/{row['code']}" if row["code"] else None
    return {**_show_definition(row), "name_text": name_text(row["name"]), "error_page": page}


def _show_definition(row: Row) -> dict[str, Any]:
    shown: dict[str, Any] = to_json({**row, "definition": Source("<sql>", row["definition"]).shown})
    return shown
