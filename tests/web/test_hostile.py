"""Hostile answers and documents do nothing: no script, no beacon, no link that runs, no trick of writing."""

import pytest
from playwright.sync_api import Page, expect

from tests.web.asking import GST, GST_GUIDE, ask_and_wait
from tests.web.axe import overflow
from tests.web.corpus import BEACON, HOSTILE_QUOTE, HOSTILE_TITLE

TAKE_OVER = "document.title='taken over'"
HOSTILE_ANSWER = f"""GST is charged at 9 % of the CIF value [{GST_GUIDE} > What the tax is charged on].

<script>{TAKE_OVER}</script>
<img src="{BEACON}?answer" onerror="{TAKE_OVER}"> ![beacon]({BEACON}?markdown)
![x](data:image/svg+xml,<svg onload={TAKE_OVER}>)
[click me](javascript:{TAKE_OVER}) [and me](data:text/html,<script>{TAKE_OVER}</script>) <a href="vbscript:x">vb</a>
<iframe src="{BEACON}?frame"></iframe> <form action="{BEACON}?form"><input type=submit></form>
<style>body {{ background: url({BEACON}?style) }}</style> <svg><use href="{BEACON}?use"/></svg>
<math><mi//xlink:href="{BEACON}">
<base href="{BEACON}"> <meta http-equiv="refresh" content="0;url={BEACON}?refresh"> [ref]: {BEACON} "x"
The moon costs \u202e0001 $\u202c. {"Donaudampfschifffahrt" * 100}

| a | b |
|---|---|
| `<script>` | <button id="ask" class="chip" data-citation="0" onclick="{TAKE_OVER}">1</button> |
"""
ACTIVE = "script, iframe, object, embed, form, style, img, svg:not([aria-hidden]), math, base, meta, input, link"


@pytest.fixture
def hostile(page, model) -> Page:
    model.say(GST, HOSTILE_ANSWER)
    ask_and_wait(page, GST)
    return page


def handlers(page: Page, within: str) -> list[str]:
    """Return the attributes that run something or fetch it, below an element; scripts may set a width."""
    return list(
        page.locator(f"{within} *").evaluate_all(
            """all => all.flatMap((one) => [...one.attributes])
            .filter(({ name, value }) => name.startsWith("on") || name === "srcset"
                || (name === "style" && /url|import/.test(value))
                || (["href", "src", "action", "xlink:href"].includes(name) && !/^(https?:|mailto:|#)/.test(value)))
            .map(({ name, value }) => `${name}=${value}`)"""
        )
    )


def test_a_hostile_answer_does_nothing_shown_or_folded_draws_no_chip_and_turns_no_figure_round(hostile):
    expect(hostile.locator(".answer")).to_contain_text("GST is charged at 9 %")
    folded = hostile.locator(".draft")
    folded.locator("summary").click()
    expect(folded).to_contain_text("click me")
    for link in hostile.locator(":is(.answer, .draft) a").all():
        link.evaluate("(one) => one.addEventListener('click', (event) => event.preventDefault())")
        link.click()

    assert handlers(hostile, ":is(.answer, .draft)") == []
    assert hostile.locator(":is(.answer, .draft)").locator(ACTIVE).count() == 0
    assert hostile.title() == "Waypoint Co-Pilot"
    assert overflow(hostile) <= 0
    texts = hostile.locator(":is(.answer, .draft)").all_text_contents()

    assert "0001" in "".join(texts)
    assert not set("".join(texts)) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068")
    chips = hostile.locator(".answer .chip")

    expect(chips).to_have_count(1)


def test_hostile_words_of_a_document_do_nothing_on_card_and_in_sources(page, model):
    question = "What is the notice period of carrier 77?"
    model.say(question, f"{HOSTILE_QUOTE[:-1]} [{HOSTILE_TITLE} > Periods].")
    exchange = ask_and_wait(page, question)
    exchange.locator(".chip").first.hover()
    expect(page.locator("#card")).to_contain_text("fourteen working days")

    assert handlers(page, "#card") == []
    assert handlers(page, "article.exchange .below") == []
    assert page.locator("#card").locator(ACTIVE).count() == 0
    expect(exchange.locator(".sources")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.title() == "Waypoint Co-Pilot"


def test_a_hostile_address_is_words_in_the_box(open_page):
    page = open_page(f"/?question=%3Cscript%3E{TAKE_OVER}%3C/script%3E&lang=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E")

    expect(page.locator("#question")).to_have_value(f"<script>{TAKE_OVER}</script>")
    assert page.title() == "Waypoint Co-Pilot"
