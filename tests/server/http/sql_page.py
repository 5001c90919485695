"""The SQL page of the console, as a person uses it in Chromium."""

from __future__ import annotations

import time

from tests.server.http.browser import CONTROL, ENTER, Browser

HOME, END, DOWN, SHIFT, ESCAPE, DELETE = "\ue011", "\ue010", "\ue015", "\ue008", "\ue00c", "\ue017"
CONTENT = "document.querySelector('.editor').shadowRoot.querySelector('.cm-content')"
SHADOW = "document.querySelector('.editor').shadowRoot"
LABELS = f"[...{SHADOW}.querySelectorAll('.cm-completionLabel')].map((each) => each.textContent)"
MARKS = f"[...{CONTENT}.querySelectorAll('.cm-lintRange')].map((each) => each.textContent)"
LINES = f" [...{CONTENT}.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\\n')"


class SqlPage:
    """The page, as a person uses it."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    @property
    def text(self) -> str:
        return str(self.browser.run(f"return {LINES}"))

    def keys(self, *keys: str) -> None:
        """Presses keys in the editor. A modifier holds until the end of its text."""
        self.browser.run(f"{CONTENT}.focus()")
        for text in keys:
            held = [key for key in text if key in (CONTROL, SHIFT)]
            rest = [key for key in text if key not in held]
            presses = [("keyDown", key) for key in held]
            presses += [(kind, key) for key in rest for kind in ("keyDown", "keyUp")]
            presses += [("keyUp", key) for key in held]
            actions = [{"type": kind, "value": key} for kind, key in presses]
            self.browser.call("POST", "/actions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def write(self, text: str) -> None:
        """Replaces the text, without typing it letter by letter."""
        self.keys(f"{CONTROL}a", DELETE)
        self.browser.command("Input.insertText", text=text)
        self.keys(ESCAPE)

    def run(self, text: str | None = None) -> None:
        """Ctrl+Enter, and the end of it."""
        if text is not None:
            self.write(text)
        self.browser.run("document.querySelector('#answers').replaceChildren()")
        self.keys(f"{CONTROL}{ENTER}")
        self.browser.wait("return document.querySelector('#answers .took') !== null")

    def cells(self) -> list[list[str]]:
        """The rows of the first table."""
        return list(
            self.browser.run(
                "return [...document.querySelectorAll('#answers table')[0].tBodies[0].rows]"
                ".map((row) => [...row.cells].map((cell) => cell.textContent))"
            )
        )

    def tags(self) -> list[str]:
        return list(
            self.browser.run("return [...document.querySelectorAll('.answer')].map((each) => each.textContent)")
        )

    def await_marks(self, *marks: str) -> None:
        """Waits until just these texts are underlined."""
        self.browser.wait(f"return {MARKS}.join('|') === arguments[0]", "|".join(marks))

    def await_listed(self, *names: str) -> None:
        """Waits until the completion lists these names."""
        self.browser.wait(f"const listed = {LABELS}; return arguments[0].every((name) => listed.includes(name))", names)
        time.sleep(0.2)  # a list that has just come up takes no key, against slips

    def click(self, text: str) -> None:
        """A button by its text, which has to come up."""
        found = (
            "[...document.querySelectorAll('button')].find((each) => each.textContent === arguments[0] && !each.hidden)"
        )
        self.browser.wait(f"return {found} !== undefined", text)
        self.browser.run(f"{found}.click()", text)
