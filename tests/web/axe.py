"""What axe-core finds wrong with a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_OPTIONS = {"rules": {"target-size": {"enabled": True}}, "resultTypes": ["violations"]}  # WCAG 2.2's, off by default.


def violations(page: Page) -> list[str]:
    """Return what breaks a rule of WCAG 2.2 AA or good practice: the rule, and the elements."""
    found = Axe().run(page, options=_OPTIONS).response["violations"]
    return [f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}" for rule in found for node in rule["nodes"]]
