"""Adding documents on the page: by drag and drop and by the button, with progress, and what became of each file."""

from collections.abc import Iterator
from unittest.mock import patch

import pytest
from playwright.sync_api import FilePayload, Page, expect

from app.wiring import open_index
from tests.web.asking import ask_and_wait
from tests.web.axe import assert_fits, violations
from tests.web.service import serving, settings_over
from tests.web.test_documents import open_list, titles

TARPAULIN = "The fee for a tarpaulin in the Batam depot is 12 dollars."
QUESTION = "What is the fee for a tarpaulin in Batam?"


@pytest.fixture(scope="module")
def url(store, model) -> Iterator[str]:
    with patch("app.http.routes.documents.MOST_MB", 1), serving(store, model) as url:
        yield url


@pytest.fixture
def listed(page) -> Page:
    return open_list(page)


def drop(page: Page, files: dict[str, str]) -> None:
    carried = page.evaluate_handle(
        """(files) => {
            const carried = new DataTransfer();
            for (const [name, text] of Object.entries(files)) carried.items.add(new File([text], name));
            return carried;
        }""",
        files,
    )
    page.locator("#drop").dispatch_event("dragover", {"dataTransfer": carried})
    expect(page.locator("#drop")).to_have_attribute("data-over", "")
    page.locator("#drop").dispatch_event("drop", {"dataTransfer": carried})


def choose(page: Page, files: dict[str, str]) -> None:
    """Choose files in the system's dialog, which the button opens by keyboard."""
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose files").press("Enter")
    payloads: list[FilePayload] = [
        {"name": name, "mimeType": "text/markdown", "buffer": text.encode()} for name, text in files.items()
    ]
    chooser.value.set_files(payloads)


def test_a_dropped_file_is_in_the_list_and_in_answers_when_its_job_is_done(listed):
    drop(listed, {"tarpaulins.md": f"# Batam Tarpaulins\n\n## Fee\n\n{TARPAULIN}"})
    expect(listed.locator("#upload-status")).to_contain_text("Added: 1 files")
    expect(titles(listed).filter(has_text="Batam Tarpaulins")).to_be_visible()
    listed.locator("[data-do=back]").click()
    exchange = ask_and_wait(listed, QUESTION)

    expect(exchange.locator(".answer")).to_contain_text("12 dollars")
    expect(exchange.locator(".sources")).to_contain_text("Batam Tarpaulins")


def test_the_button_adds_to_the_chosen_category_for_the_staff_only(listed):
    expect(listed.get_by_role("combobox", name="Who may see them")).to_have_value("internal")
    expect(listed.locator("#upload-seen")).to_have_text("Only staff see these documents and get answers from them.")
    listed.get_by_role("combobox", name="Category").select_option("carrier")
    choose(listed, {"margins.md": "# Batam Margins\n\nThe margin in Batam is 3 %."})
    row = listed.locator("#documents-list ul[data-category=carrier] li").filter(has_text="Batam Margins")

    expect(listed.locator("#upload-status")).to_contain_text("Only staff see these documents")
    expect(row).to_contain_text("Staff only")


def test_what_is_added_for_everybody_is_said_to_be(listed):
    listed.get_by_role("combobox", name="Who may see them").select_option("public")
    choose(listed, {"open.md": "# Batam Hours\n\nThe depot opens at 8."})
    row = listed.locator("#documents-list li").filter(has_text="Batam Hours")

    expect(listed.locator("#upload-status")).to_contain_text("Everybody who may ask sees these documents")
    expect(row).to_be_visible()
    expect(row).not_to_contain_text("Staff only")


def test_the_progress_of_a_job_is_shown_while_it_waits_and_after_a_reload(open_page, store, model, shape):
    page = open_list(open_page(**shape))
    status = page.locator("#upload-status")
    shown = f"{shape['viewport']['width']} {shape['color_scheme']}"
    with open_index(settings_over(store, model.url)).stored.locked():
        choose(page, {f"waits {shown}.md": f"# Waits {shown}\n\nWords that wait."})
        expect(status).to_contain_text("Other documents are being added.")
        expect(status.get_by_role("progressbar")).to_be_visible()
        assert page.locator("#drop").evaluate("(one) => one.inert")
        assert_fits(page)
        page.reload()
        expect(status).to_contain_text("Other documents are being added.")

    expect(status).to_contain_text("Added: 1 files")
    expect(titles(page).filter(has_text=f"Waits {shown}")).to_be_visible()


def test_each_file_that_was_not_added_is_named_with_its_reason_and_the_others_are(listed):
    files = {
        "good.md": "# Good Words\n\nWords that can be read.",
        "tool.exe": "MZ",
        "large.md": "x" * (2**20 + 1),
        "broken.pdf": "no pdf",
    }
    drop(listed, files)
    problems = listed.locator("#upload-status .problems li")

    expect(problems).to_have_count(3)
    expect(problems.filter(has_text="tool.exe")).to_contain_text("files of this kind cannot be read")
    expect(problems.filter(has_text="large.md")).to_contain_text("it is larger than 1 MB")
    expect(problems.filter(has_text="broken.pdf")).to_contain_text("it is damaged")
    expect(titles(listed).filter(has_text="Good Words")).to_be_visible()
    assert violations(listed) == []


def test_too_many_files_are_not_sent(listed, watch):
    choose(listed, {f"{number}.md": "# A\n\nWords." for number in range(21)})

    expect(listed.locator("#upload-status").get_by_role("alert")).to_contain_text("At most 20 files and 1 MB")
    assert not [url for url in watch.requested if "/api/jobs" in url]


def test_a_name_that_exists_is_kept_or_replaced_as_the_user_says(listed, watch):
    watch.expected.append("status of 409")
    choose(listed, {"same.md": "# Same\n\nThe older words."})
    expect(listed.locator("#upload-status")).to_contain_text("Added: 1 files")
    status = listed.locator("#upload-status")
    choose(listed, {"same.md": "# Same\n\nThe newer words."})
    expect(status.get_by_role("alert")).to_contain_text("'same.md' already exists")
    assert violations(listed) == []
    status.get_by_role("button", name="Cancel").click()
    expect(status).to_be_empty()
    choose(listed, {"same.md": "# Same\n\nThe newer words."})
    status.get_by_role("button", name="Replace").click()
    expect(status).to_contain_text("Replaced: same.md")
    titles(listed).get_by_text("Same", exact=True).click()

    expect(listed.locator("#viewer .words")).to_contain_text("The newer words.")


def test_a_file_that_misses_its_place_does_not_take_the_place_of_the_page(listed):
    prevented = listed.evaluate(
        """() => !document.getElementById("header").dispatchEvent(
            new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: new DataTransfer() }))"""
    )

    assert prevented


def test_markup_in_the_name_of_a_file_stays_text(listed):
    drop(listed, {"<img src=x onerror=alert(1)>.exe": "x"})

    expect(listed.locator("#upload-status .problems")).to_contain_text("<img src=x onerror=alert(1)>.exe")
    assert listed.locator("#upload-status img").count() == 0
