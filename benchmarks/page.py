"""Measure the page: what it weighs, when it can be used, and when the first words of an answer are seen."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Response, expect, sync_playwright

from benchmarks.figures import write_figures
from benchmarks.rendered import page_aims
from tests.processes import service
from tests.web.asking import GST_ANSWER, ask
from tests.web.chromium import LAUNCH, PATIENCE_MS, chromium
from tests.web.corpus import indexed_corpus
from tests.web.model import ScriptedModel, scripted_model

TRIES = 15
SETTLED_MS = 300  # By then, what came before the first word has been shown.
QUESTION = "How much is the GST on imports into Singapore, slowly?"
# Notes, in milliseconds since the navigation began, when the page's scripts are ready, and when an answer's first
# words have been painted: two frames after they entered the document.
OBSERVER = """
new MutationObserver(() => {
  const now = performance.now();
  if (document.body?.dataset.ready !== undefined) window.readyAt ??= now;
  if (window.wordsAt === undefined && document.querySelector(".answer")?.textContent.trim()) {
    window.wordsAt = null;
    const note = (painted) => { window.wordsAt = performance.timeOrigin + painted; };
    requestAnimationFrame(() => requestAnimationFrame(note));
  }
}).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
"""
# When the first words were painted; waits for that where the answer has ended before.
PAINTED = """
() => new Promise((told) => {
  const look = () => window.wordsAt ? told(window.wordsAt) : requestAnimationFrame(look);
  look();
})
"""


@dataclass(frozen=True)
class Figures:
    """Bytes as they are before compression, and milliseconds, each the median of several tries."""

    weight_bytes: int
    interactive_ms: float
    first_words_ms: float
    tries: int = TRIES


@dataclass
class Arrivals:
    """When pieces of the answer reached the browser, in milliseconds of wall-clock time.

    DevTools dates pieces by a clock of its own, and the request by that one and the wall clock.
    """

    times: list[float] = field(default_factory=list)
    _offsets: dict[str, float] = field(default_factory=dict)

    def watch(self, page: Page) -> None:
        """Listen from now on."""
        session = page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSent", self._sent)
        session.on("Network.dataReceived", self._received)
        session.send("Network.enable")

    def _sent(self, event: dict[str, Any]) -> None:
        if event["request"]["url"].endswith("/copilot/stream"):
            self._offsets[event["requestId"]] = event["wallTime"] - event["timestamp"]

    def _received(self, event: dict[str, Any]) -> None:
        if event["requestId"] in self._offsets:
            self.times.append((event["timestamp"] + self._offsets[event["requestId"]]) * 1000)


def main() -> None:
    """Measure, print the table of docs/page.md, and keep the figures in docs/figures.json."""
    with tempfile.TemporaryDirectory() as place, scripted_model() as model, sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE_MS)
        folder = Path(place)
        settings = {
            "CHROMA_PATH": str(indexed_corpus(folder)),
            "LLM_API_KEY": "gsk_test",
            "LLM_BASE_URL": model.url,
            "WARM_UP": "on",
        }
        with service(folder, **settings) as served:
            browser = playwright.chromium.launch(executable_path=chromium(), **LAUNCH)
            figures = measure(browser, served.url, model)
            browser.close()
    print(page_aims(vars(figures)))
    write_figures("page", vars(figures))


def measure(browser: Browser, url: str, model: ScriptedModel) -> Figures:
    """Return the medians; every try begins with an empty cache."""
    weigh(browser, url)  # The browser and the service have worked once.
    return Figures(
        weight_bytes=weigh(browser, url),
        interactive_ms=_median(lambda: interactive_ms(browser, url)),
        first_words_ms=_median(lambda: first_words_ms(browser, url, model)),
    )


def _median(measured: Callable[[], float]) -> float:
    return round(median(measured() for _ in range(TRIES)), 1)


@contextmanager
def fresh(browser: Browser) -> Iterator[BrowserContext]:
    """Yield a browser that has seen nothing yet."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(OBSERVER)
    yield context
    context.close()


def weigh(browser: Browser, url: str) -> int:
    """Return how many bytes the first view loads, as they are before compression."""
    with fresh(browser) as context:
        page = context.new_page()
        responses: list[Response] = []

        def keep(response: Response) -> None:
            responses.append(response)

        page.on("response", keep)
        page.goto(url, wait_until="networkidle")
        return sum(len(response.body()) for response in responses)


def interactive_ms(browser: Browser, url: str) -> float:
    """Return how long after the navigation began every part of the page works."""
    with fresh(browser) as context:
        page = context.new_page()
        page.goto(url)
        expect(page.locator("body")).to_have_attribute("data-ready", "")
        return float(page.evaluate("readyAt"))


def first_words_ms(browser: Browser, url: str, model: ScriptedModel) -> float:
    """Return how long after the service's first event of an answer its words are on screen."""
    arrivals, saying = Arrivals(), model.say(QUESTION, GST_ANSWER, words=0)
    with fresh(browser) as context:
        page = context.new_page()
        page.goto(url)
        arrivals.watch(page)
        exchange = ask(page, QUESTION)
        expect(exchange.locator(".status")).to_contain_text("Reading")
        page.wait_for_timeout(SETTLED_MS)
        before = len(arrivals.times)
        saying.go_on()
        expect(exchange).to_have_attribute("data-state", "done")
        return float(page.evaluate(PAINTED)) - arrivals.times[before]


if __name__ == "__main__":
    main()
