"""Watch what pages ask for and complain of, and judge it: nothing leaves the machine, nothing is refused."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext

LOOPBACK = ("127.0.0.1", "localhost")


@dataclass
class Watch:
    """Everything that was asked for, and the complaints of the console; `expected` are words of those to come."""

    requested: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def follow(self, context: BrowserContext) -> None:
        context.on("request", lambda request: self.requested.append(request.url))
        context.on(
            "console", lambda message: self._note(message.type, f"{message.text} {message.location.get('url', '')}")
        )
        context.on("weberror", lambda thrown: self._note("error", str(thrown.error)))

    def _note(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.complaints.append(text)

    def judge(self) -> None:
        """Fail where a request left the machine, or where the console complained of what no test expects."""
        away = [url for url in self.requested if not _stays(url)]
        assert away == []
        surprising = [text for text in self.complaints if not any(words in text for words in self.expected)]
        assert surprising == []


def _stays(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"data", "blob", "about", "mailto"} or parts.hostname in LOOPBACK
