"""What is wrong with a page: what axe-core finds, and what does not fit its window."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize

SIZES: dict[str, ViewportSize] = {"phone": {"width": 360, "height": 800}, "desk": {"width": 1280, "height": 800}}
_OPTIONS = {
    "rules": {
        "target-size": {"enabled": True},  # WCAG 2.2's, off by default.
        "heading-order": {"enabled": False},  # Documents and answers bring headings of their own.
    },
    "resultTypes": ["violations"],
}
_SETTLED = """() => document.getAnimations().every(
    (one) => one.playState !== "running" || one.effect.getComputedTiming().iterations === Infinity
)"""
_SCROLLED_AWAY = "partially obscured"  # By the box at the bottom, below which everything can be scrolled up.


def violations(page: Page) -> list[str]:
    """Return what breaks a rule of WCAG 2.2 AA or good practice: the rule, and the elements.

    What fades in has too little contrast until it is there, so animations that end are waited for.
    """
    page.wait_for_function(_SETTLED)
    found = Axe().run(page, options=_OPTIONS).response["violations"]
    told = [f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}" for rule in found for node in rule["nodes"]]
    return [text for text in told if _SCROLLED_AWAY not in text]


def overflow(page: Page) -> int:
    """Return how many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def assert_fits(page: Page) -> None:
    assert overflow(page) <= 0
    assert violations(page) == []
