"""Draw the page: every outcome and every view, at two widths, light and dark; some are shown in README and docs."""

import argparse
import base64
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.web.asking import GST, PDF_ANSWER, PDF_QUESTION, ask_and_wait
from tests.web.chromium import LAUNCH, PATIENCE_MS, chromium
from tests.web.corpus import indexed_corpus
from tests.web.model import scripted_model
from tests.web.outcomes import OUTCOMES, hold_back, say_outcomes
from tests.web.service import serving

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "pictures"
SIZES = {"phone": (360, 740), "desk": (1280, 800)}
SCHEMES = ("light", "dark")
QUALITY = 82  # Of WebP: letters stay sharp, and a picture takes less than 150 kB.

Shape = tuple[str, str]  # A width and a scheme.


# What README and docs show, by the name of the picture there.
SHOWN: dict[str, tuple[str, Shape]] = {
    "page": ("document", ("desk", "light")),
    "pdf": ("pdf", ("desk", "dark")),
    "phone": ("card", ("phone", "light")),
    "documents": ("documents", ("desk", "light")),
}


def main() -> None:
    """Write the pictures into a folder, and with `--docs` those of README and docs too."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "screenshots")
    parser.add_argument("--docs", action="store_true", help="draw those of docs/pictures again as well")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, scripted_model() as model, sync_playwright() as playwright:
        say_outcomes(model)
        model.say(PDF_QUESTION, PDF_ANSWER)
        with serving(indexed_corpus(Path(place)), model) as url:
            browser = playwright.chromium.launch(executable_path=chromium(), **LAUNCH)
            drawn = draw(browser, url, options.folder, docs=options.docs)
            browser.close()
    print(f"{drawn} pictures are in {options.folder}")  # noqa: T201


def draw(browser: Browser, url: str, folder: Path, *, docs: bool) -> int:
    """Draw every view in every shape, and return how many pictures that is."""
    expect.set_options(timeout=PATIENCE_MS)
    folder.mkdir(parents=True, exist_ok=True)
    shapes = list(product(SIZES, SCHEMES))
    for (name, prepare), shape in product(views().items(), shapes):
        context = opened(browser, shape)
        page = context.new_page()
        page.goto(url)
        prepare(page)
        page.screenshot(path=folder / f"{name}-{'-'.join(shape)}.png")
        for picture, shown in SHOWN.items():
            if docs and shown == (name, shape):
                save_webp(page, DOCS / f"{picture}.webp")
        context.close()
    return len(views()) * len(shapes)


def opened(browser: Browser, shape: Shape) -> BrowserContext:
    """Return a context of this shape, in which nothing moves."""
    width, height = SIZES[shape[0]]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if shape[1] == "dark" else "light",
        reduced_motion="reduce",
        device_scale_factor=2,
    )
    context.set_default_timeout(PATIENCE_MS)
    return context


def save_webp(page: Page, file: Path) -> None:
    """Save what is on screen, as small as it is still sharp."""
    wanted = {"format": "webp", "quality": QUALITY}
    taken = page.context.new_cdp_session(page).send("Page.captureScreenshot", wanted)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(base64.b64decode(taken["data"]))


def views() -> dict[str, Callable[[Page], None]]:
    """Return what brings an opened page to the view of a name: the empty page, the outcomes, what opens beside them."""
    return {
        "empty": lambda page: expect(page.locator("body")).to_have_attribute("data-ready", ""),
        **{name: asked(question) for name, question in OUTCOMES.items()},
        "card": show_card,
        "document": show_document,
        "pdf": show_pdf,
        "why": show_why,
        "documents": show_documents,
    }


def asked(question: str) -> Callable[[Page], None]:
    def prepare(page: Page) -> None:
        hold_back(page)
        ask_and_wait(page, question)

    return prepare


def show_card(page: Page) -> None:
    ask_and_wait(page, GST).locator(".answer .chip").first.focus()
    expect(page.locator("#card")).to_be_visible()


def show_document(page: Page) -> None:
    ask_and_wait(page, GST).locator(".answer .chip").first.click()
    expect(page.locator("#viewer mark.quote").first).to_be_in_viewport()


def show_pdf(page: Page) -> None:
    ask_and_wait(page, PDF_QUESTION).locator(".answer .chip").first.click()
    expect(page.locator("#viewer .paper .box").first).to_be_in_viewport()
    page.locator("#viewer .paper img").evaluate("(one) => one.decode()")


def show_why(page: Page) -> None:
    """Say why the answer did not use a document."""
    ask_and_wait(page, GST)
    show_documents(page)
    page.locator("#documents-list [data-do=open]").filter(has_text="Maersk").click()
    page.locator("#viewer .why summary").click()
    page.locator("#viewer .why").get_by_role("button", name="Find out").click()
    expect(page.locator("#viewer .why p.facts")).to_be_visible()


def show_documents(page: Page) -> None:
    page.locator("#open-documents").click()
    expect(page.locator("#documents-list li").first).to_be_visible()


if __name__ == "__main__":
    main()
