"""The pictures of the console in docs/, of a server with visits to a shop: `python -m tests.docs.screenshots`."""

from __future__ import annotations

import base64
import time

from tests.house.files import ROOT
from tests.server.http.browser import Browser
from tests.server.shop import Shop, open_shop

LEFT = "\ue012"
MOST_BYTES = 150_000


def take(browser: Browser, name: str) -> None:
    """Writes what the window shows."""
    time.sleep(1)
    picture = base64.b64decode(browser.call("GET", "/screenshot"))
    if len(picture) > MOST_BYTES:
        raise ValueError(f"{name} has {len(picture):,} bytes")
    (ROOT / "docs" / name).write_bytes(picture)
    print(f"docs/{name}: {len(picture):,} bytes")


def take_all(shop: Shop) -> None:
    """All pictures, each of one page."""
    browser = shop.browser
    shop.resize(1100, 660)
    shop.open("#/", "Pipeline")
    browser.find(".node")
    take(browser, "console.png")
    shop.resize(1100, 900)
    shop.open_hourly()
    browser.run("document.querySelector('.plot').focus({ focusVisible: false })")
    browser.press(*[LEFT] * 12)
    take(browser, "console-table.png")
    shop.open("#/queries/hourly", "Query hourly")
    browser.find("[aria-label=Bounds]")
    take(browser, "console-query.png")
    shop.resize(390, 740)
    shop.open("#/", "Pipeline")
    browser.find(".node")
    take(browser, "console-narrow.png")


if __name__ == "__main__":
    with open_shop() as shop:
        take_all(shop)
