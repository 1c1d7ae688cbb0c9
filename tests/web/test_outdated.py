"""An earlier answer says above its words which of them the documents no longer hold."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.http.server import create_app
from app.wings.knowledge.answer_log import open_answers
from app.wiring import Service, open_service
from tests.corpora import write_documents
from tests.served import GUIDE, QUESTION, served
from tests.waiting import wait_until
from tests.web.asking import ask_and_wait
from tests.web.axe import violations
from tests.web.service import settings_over

OLD, NEW = "The rate of GST on imports into Singapore is 9 %.", "The rate of GST on imports into Singapore is 10 %."


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_documents(tmp_path_factory.mktemp("desk") / "01_regulatory", {"gst.md": GUIDE})


@pytest.fixture(scope="module")
def services(folder, model) -> Service:
    store = folder.parent / "index" / "chroma"
    services = open_service(settings_over(store, model.url, answer_log_days=90, min_chunks=0))
    services.index.ingest([folder])
    return services


@pytest.fixture(scope="module")
def url(services) -> Iterator[str]:
    with served(create_app(services)) as url:
        yield url


def test_a_reopened_answer_shows_old_and_new_words(page, model, services, folder):
    model.say(QUESTION, f"{OLD[:-1]} [GST Guide > Rate].")
    ask_and_wait(page, QUESTION)
    wait_until(lambda: open_answers(services.settings).count() == 1)
    page.reload()
    expect(page.locator(".answer")).to_contain_text("9 %")
    expect(page.locator(".outdated")).to_have_count(0)

    (folder / "gst.md").write_text(GUIDE.replace("9 %", "10 %"))
    services.index.ingest([folder])
    page.reload()
    notice = page.locator(".outdated")
    expect(notice).to_contain_text("A document has changed since this answer. Ask again.")
    expect(notice.locator("del")).to_have_text(OLD)
    expect(notice.locator("ins")).to_have_text(NEW)
    assert violations(page) == []
