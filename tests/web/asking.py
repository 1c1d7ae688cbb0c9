"""What a user does on the page: ask, and wait for the answer."""

from playwright.sync_api import Locator, Page, expect

from tests.web.corpus import PDF_QUOTE, PDF_TITLE

GST = "What is the GST rate on imports into Singapore?"
GST_GUIDE = "Singapore GST Guide: Imports, Reliefs and Zero-Rating"
GST_ANSWER = (
    f"Import GST in Singapore is **9 %** of the CIF value plus any duty [{GST_GUIDE} > What the tax is charged on].\n\n"
    f"- Goods by air or post of up to S$400 are relieved [{GST_GUIDE} > Low-value goods].\n"
    f"- A watch worth S$900 by courier pays S$81 [{GST_GUIDE} > Example for the phone]."
)
# Words of GST_ANSWER that show its first sentence in whatever pieces they arrive: the next sentence has begun,
# and 30 characters more have come, so many as the stream looks at at once.
FIRST_SENTENCE = 40
PDF_QUESTION = "When does the Penang depot close?"
PDF_ANSWER = f"{PDF_QUOTE[:-1]} [{PDF_TITLE}]."
NO_RESULTS = "Who won the chess championship in 1972?"
REFUSAL = "I don't have specific information about that in the documents I can see."


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your question")


def ask(page: Page, question: str) -> Locator:
    """Ask by keyboard; return the exchange that begins."""
    before = page.locator("article.exchange").count()
    box(page).fill(question)
    box(page).press("Enter")
    return page.locator("article.exchange").nth(before)


def ask_and_wait(page: Page, question: str, state: str = "done") -> Locator:
    exchange = ask(page, question)
    expect(exchange).to_have_attribute("data-state", state)
    return exchange
