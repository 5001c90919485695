"""The example of customer profiles: its script through the command line, against a PostgreSQL, and run again."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.databases.places import Place
from tests.e2e.shell import accounts, penstock_here
from tests.house.files import ROOT

PROFILES = Path("examples/profiles")
SCRIPT = str(PROFILES / "profiles.sql")
DEMO = runpy.run_path(str(ROOT / PROFILES / "demo.py"))


@pytest.fixture
def shop(server: str, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The shop's table in a database of its own, to which the variables of the environment lead."""
    host = parse_qs(urlsplit(server).query)["host"][0]
    for name, value in {"PGHOST": host, "PGUSER": "postgres", "PROFILES_PASSWORD": "none"}.items():
        monkeypatch.setenv(name, value)
    Place("postgres", server).execute("DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop")
    shop = Place("postgres", "postgresql:///shop")
    shop.execute((ROOT / PROFILES / "schema.sql").read_text(encoding="utf-8"))
    return shop


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_profiles_follow_visits_and_requests_and_orders_see_them(
    shop: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / PROFILES, tmp_path / PROFILES)
    monkeypatch.chdir(tmp_path)
    DEMO["date_files"]()
    rows: list[tuple[object, ...]] = [
        (1, "Ada", "Marylebone", 9, "2024-11-02", "2025-06-02", "prefers tea"),
        (2, "Grace Hopper", "Arlington", 2, "2025-05-12", "2025-06-02", ""),
        (3, "Edsger", "Austin", 3, "2025-06-01", "2025-06-02", ""),
    ]
    shown = "SELECT customer, name, city, visits, first::date::text, last::date::text, notes FROM profiles ORDER BY 1"
    # Barbara was forgotten after her order, and nobody knows customer 7.
    shipments: list[tuple[object, ...]] = [
        (501, "tea", "Ada", "Marylebone"),
        (502, "pen", "Edsger", "Austin"),
        (503, "lamp", "Barbara", "Boston"),
        (504, "ink", None, None),
    ]
    for visits, orders, requests in ((8, 4, 2), (0, 0, 0)):
        ended = penstock_here(tmp_path, "run", "--once", "--checkpoint", "state", SCRIPT)
        assert ended.exit_code == 0, ended.output
        found = accounts(ended.output)
        assert found["profiles", "visits"] == [visits, 0, 0, 0, visits, visits]
        assert found["shipments", "orders"] == [orders, 0, 0, 0, orders, orders]
        assert found["profiles_2", "requests"] == [requests, 0, 0, 0, requests, requests]
        assert shop.rows(shown) == rows
        assert shop.rows("SELECT id, product, name, city FROM shipments ORDER BY 1") == shipments
        assert shop.rows("SELECT reason, count(*) FROM profiles_rejected GROUP BY 1") == [("no primary key", 1)]
