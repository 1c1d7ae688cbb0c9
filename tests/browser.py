"""Drive a real Chromium over DevTools: what a page shows, and what its policy refused."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

from tests.waiting import wait_until

PATIENCE_S = 150  # Generous, for a machine that runs much else: whoever waits goes on as soon as the condition holds.
OPTIONS = [
    "--headless=new",
    "--no-sandbox",  # Root has none, and CI is root; it opens pages of loopback only.
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # There is no Internet.
    "--window-size=1200,1000",
    "--remote-debugging-port=0",
]


def chromium() -> str | None:
    """Return where Chromium is; None is nowhere."""
    return shutil.which("chromium", path="/usr/bin:/usr/local/bin:/snap/bin")


class Page:
    """A tab: what it asked for, and what its console complained of."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.sent = 0
        self.events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.tell(f"{domain}.enable")
        self.tell("Emulation.setFocusEmulationEnabled", enabled=True)

    def tell(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; what happens meanwhile is kept."""
        self.sent += 1
        self.connection.send(json.dumps({"id": self.sent, "method": method, "params": parameters}))
        while (message := json.loads(self.connection.recv(PATIENCE_S))).get("id") != self.sent:
            self.events.append(message)
        assert "error" not in message, message
        result: dict[str, Any] = message["result"]
        return result

    def open(self, url: str, headers: dict[str, str]) -> None:
        """Go to an address, with headers on this request and on all that follow from it."""
        self.tell("Network.setExtraHTTPHeaders", headers=headers)
        self.tell("Page.navigate", url=url)

    def value(self, expression: str) -> Any:
        """Return what an expression of JavaScript is on the page."""
        told = self.tell("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait(self, expression: str) -> None:
        """Return as soon as an expression is true on the page."""
        try:
            wait_until(lambda: self.value(expression), limit_s=PATIENCE_S)
        except TimeoutError as error:
            error.add_note(f"{expression}\n{self.text()}\n{self.complaints()}")
            raise

    def wait_for(self, text: str) -> None:
        """Return as soon as the page shows a text."""
        self.wait(f"document.body?.innerText.includes({json.dumps(text)})")

    def click(self, selector: str) -> None:
        """Click on an element as soon as it is there."""
        self.wait(f"Boolean(document.querySelector({json.dumps(selector)}))")
        self.value(f"document.querySelector({json.dumps(selector)}).click()")

    def write(self, selector: str, text: str) -> None:
        """Type a text into a field as soon as it is there."""
        self.wait(f"Boolean(document.querySelector({json.dumps(selector)}))")
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")
        self.tell("Input.insertText", text=text)

    def text(self) -> str:
        """Return what can be read on the page."""
        return str(self.value("document.body?.innerText"))

    def complaints(self) -> list[str]:
        """Return what was refused, not found or thrown so far."""
        entries = [event["entry"] for event in self._told("Log.entryAdded")]
        thrown = [str(event["exceptionDetails"]) for event in self._told("Runtime.exceptionThrown")]
        told = [f"{entry['text']} {entry.get('url', '')}" for entry in entries if entry["level"] == "error"]
        return told + thrown

    def requested(self) -> list[str]:
        """Return the addresses that were asked so far; what a page carries in itself is none."""
        urls = [event["request"]["url"] for event in self._told("Network.requestWillBeSent")]
        return [url for url in urls if not url.startswith(("data:", "blob:"))]

    def _told(self, method: str) -> Iterator[dict[str, Any]]:
        return (event["params"] for event in self.events if event["method"] == method)


@contextmanager
def browser(program: str, folder: Path) -> Iterator[Page]:
    """Run Chromium with its profile in `folder` while the body runs; yield its tab."""
    messages = folder / "chromium.txt"
    with messages.open("wb") as file:
        words = [program, *OPTIONS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        process = subprocess.Popen(words, stdout=file, stderr=file)
    try:
        port = folder / "profile" / "DevToolsActivePort"
        wait_until(lambda: process.poll() is not None or _written(port), limit_s=PATIENCE_S)
        assert process.poll() is None, messages.read_text()
        with connect(_tab(port.read_text().splitlines()[0]), max_size=None, open_timeout=PATIENCE_S) as connection:
            yield Page(connection)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def _written(port: Path) -> bool:
    return port.exists() and len(port.read_text().splitlines()) > 1


def _tab(port: str) -> str:
    found: list[str] = []

    def is_there() -> bool:
        targets = httpx.get(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE_S).json()
        found.extend(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")
        return bool(found)

    wait_until(is_there, limit_s=PATIENCE_S)
    return found[0]
