"""Measure the page in Chromium: what its first view weighs, how many requests it takes, and when it can be used."""

import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Response, expect, sync_playwright

from benchmarks.figures import report
from benchmarks.processes import service
from benchmarks.tables import verdicts
from tests.web.chromium import LAUNCH, PATIENCE_MS, chromium

TRIES = 15
# Notes when the page's script has started every part, in milliseconds since the navigation began.
OBSERVER = """
new MutationObserver(() => {
  if (document.body?.dataset.ready !== undefined) window.readyAt ??= performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true });
"""


def main() -> None:
    """Measure, print the table of docs/measurements.md, and keep the figures of this checkout in docs/figures.json."""
    expect.set_options(timeout=PATIENCE_MS)
    with (
        tempfile.TemporaryDirectory() as place,
        sync_playwright() as playwright,
        service(Path(place), LLM_PROVIDER="offline") as served,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), **LAUNCH)
        found = measure(browser, served.url)
        browser.close()
    report("page", aims(*found))


def aims(weight: int, requests: int, usable_ms: float) -> str:
    found = f"{weight / 1000:.1f} kB in {requests} requests"
    return verdicts(
        [
            ("all that the first view loads, uncompressed, in 170 kB", found, weight <= 170_000),
            ("usable within 200 ms on loopback, with an empty cache", f"{usable_ms:.0f} ms", usable_ms <= 200),
        ]
    )


def measure(browser: Browser, url: str) -> tuple[int, int, float]:
    """Return bytes before compression, requests, and milliseconds as the median of loads with an empty cache."""
    first_view(browser, url)  # The browser and the service have worked once.
    loads = [first_view(browser, url) for _ in range(TRIES)]
    weight, requests, _ = loads[0]
    return weight, requests, median(usable_ms for _, _, usable_ms in loads)


def first_view(browser: Browser, url: str) -> tuple[int, int, float]:
    """Return the bytes and the number of what a browser with an empty cache loads, and when the page can be used."""
    context = browser.new_context()
    context.add_init_script(OBSERVER)
    page = context.new_page()
    responses: list[Response] = []
    page.on("response", lambda response: responses.append(response))  # noqa: PLW0108 - Playwright marks it.
    page.goto(url, wait_until="networkidle")
    expect(page.locator("body")).to_have_attribute("data-ready", "")
    loaded = sum(len(response.body()) for response in responses), len(responses), float(page.evaluate("readyAt"))
    context.close()
    return loaded


if __name__ == "__main__":
    main()
