"""Chromium by the WebDriver protocol: what a person sees of the console, and does there."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key under which the protocol has an element

TAB, ENTER, CONTROL, SPACE, RESET = "\ue004", "\ue007", "\ue009", " ", "\ue000"
"""Keys, and one that releases all that are held."""


class Browser:
    """A window of Chromium."""

    def __init__(self, client: httpx.Client, session: str) -> None:
        self._client = client
        self._session = session
        self.wait_seconds = 20.0

    def call(self, method: str, path: str, **body: Any) -> Any:
        """A command of the protocol."""
        options: dict[str, Any] = {} if method == "GET" else {"json": body}
        response = self._client.request(method, f"/session/{self._session}{path}", **options)
        value = response.json()["value"]
        assert response.is_success, value
        return value

    def open(self, url: str) -> None:
        self.call("POST", "/url", url=url)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self.call("POST", "/execute/sync", script=script, args=list(arguments))

    def wait(self, script: str, *arguments: Any) -> Any:
        """What a script returns, as soon as that is true."""
        ends = time.monotonic() + self.wait_seconds
        while not (value := self.run(script, *arguments)):
            assert time.monotonic() < ends, f"never true: {script}\n{self.text()}"
            time.sleep(0.03)
        return value

    def text(self) -> str:
        """The page as it reads."""
        return str(self.run("return document.body.innerText"))

    def wait_for(self, text: str) -> None:
        """Waits until the page has a text."""
        self.wait("return document.body.innerText.includes(arguments[0])", text)

    def find(self, selector: str) -> str:
        """The identifier of an element, which has to come up."""
        self.wait("return document.querySelector(arguments[0]) !== null", selector)
        return str(self.call("POST", "/element", using="css selector", value=selector)[_ELEMENT])

    def click(self, selector: str) -> None:
        self.call("POST", f"/element/{self.find(selector)}/click")

    def type(self, selector: str, text: str) -> None:
        self.call("POST", f"/element/{self.find(selector)}/value", text=text)

    def press(self, *keys: str) -> None:
        """Presses keys one after the other, wherever the focus is."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def go(self, address: str, text: str) -> None:
        """Goes to a page of the console, and waits for a text of it."""
        self.run("location.hash = arguments[0]", address)
        self.wait_for(text)

    def command(self, name: str, **parameters: Any) -> Any:
        """A command of Chromium's own protocol."""
        return self.call("POST", "/goog/cdp/execute", cmd=name, params=parameters)

    def resize(self, width: int) -> None:
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=740, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme: str) -> None:
        """`light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.command("Emulation.setEmulatedMedia", features=features)

    def requests(self) -> list[str]:
        """The URLs that have been asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.call("POST", "/se/log", type="performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """What the browser has logged since the last call."""
        return [entry["message"] for entry in self.call("POST", "/se/log", type="browser")]


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A window without a screen, as long as the body runs."""
    assert CHROMIUM
    assert DRIVER
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    driver = subprocess.Popen([DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1100,800"]
    wanted = {
        "goog:chromeOptions": {"binary": CHROMIUM, "args": arguments},
        "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
    }
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            ends = time.monotonic() + 20
            while not _answers(client):
                assert time.monotonic() < ends, "chromedriver does not start"
                time.sleep(0.05)
            made = client.post("/session", json={"capabilities": {"alwaysMatch": wanted}}).json()["value"]
            browser = Browser(client, made["sessionId"])
            try:
                yield browser
            finally:
                browser.call("DELETE", "")
    finally:
        driver.terminate()
        driver.wait()


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/status").is_success
    except httpx.TransportError:
        return False
