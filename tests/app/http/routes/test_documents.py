"""The list of documents, one to read, and pages of PDF files: over a real index, for two audiences."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from app.adapters.documents.pages import IndexedPage, PdfPages
from app.http.server import create_app
from app.ledger.answers import Quote
from app.wings.knowledge.answer_log import open_answers
from app.wiring import open_service
from benchmarks.documents import pdf
from tests.access import bearer, key_entry, settings_over
from tests.corpora import write_documents
from tests.hostile_files import content, names
from tests.ledger.test_answers import answer as logged_answer

KEYS = ",".join([key_entry("staff", "staff", "ask:internal+ingest"), key_entry("public", "public", "ask")])
STAFF, PUBLIC = bearer("staff"), bearer("public")
RATES = "The rate of storage is nine percent\nof the value of the goods"
GUIDE = (
    "---\ntitle: GST Guide\nsource_organization: Customs\n---\n\n# GST Guide\n\n## Rate\n\nThe rate is **9 %**.\n\n"
    "## Fee\n\nThe fee is 5.\n\n## Other fee\n\nThe fee is 5.\n"
)
HOSTILE = (
    "# Plan\n\n<script>alert(1)</script> ![x](https://evil.example/x.png) [run](javascript:alert(1)) \u202egnp.exe"
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    documents: dict[str, str | bytes] = {
        "regulatory/gst.md": GUIDE,
        "internal/margins.md": "# Margins\n\nThe margin is 7 %.",
        "regulatory/plan.md": HOSTILE,
        "regulatory/rates.pdf": pdf("A title", RATES, ""),
        "internal/secret.pdf": pdf("Secret words"),
        "regulatory/changing.pdf": pdf("These words stay"),
    }
    return write_documents(tmp_path_factory.mktemp("library") / "docs", documents)


@pytest.fixture(scope="module")
def client(corpus) -> Iterator[TestClient]:
    services = open_service(settings_over(corpus.parent, "http://127.0.0.1:1", auth_mode="api_key", api_keys=KEYS))
    services.index.ingest([corpus])
    app = create_app(services)
    add_newcomers_routes(app)
    with TestClient(app) as client:
        yield client


def add_newcomers_routes(app: FastAPI) -> None:
    """Add routes whose author gives no thought to audiences."""

    @app.get("/new/titles")
    def titles(request: Request) -> list[str]:
        return [entry.title for entry in request.app.state.services.index.library.catalogue().entries.values()]

    @app.get("/new/passages")
    async def passages(request: Request) -> list[str]:
        options = {"configurable": {"thread_id": "7"}}
        found = await request.app.state.services.answerer.retriever.ainvoke("The margin is 7 %", options)
        return [chunk.metadata["doc_id"] for chunk in found]

    @app.get("/new/words")
    def words(request: Request, doc_id: str) -> int:
        return sum(len(chunk.page_content) for chunk in request.app.state.services.index.library.chunks(doc_id))


def listed(client: TestClient, who: dict[str, str] = STAFF, **wanted: Any) -> dict[str, Any]:
    answer = client.get("/api/documents", params=wanted, headers=who)
    assert answer.status_code == 200, answer.text
    return answer.json()


def read(client: TestClient, doc_id: str, who: dict[str, str] = STAFF, **wanted: Any) -> dict[str, Any]:
    answer = client.get(f"/documents/{doc_id}", params=wanted, headers=who)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_list_says_what_is_known_of_each_document(client):
    (guide,) = listed(client, search="customs gst")["documents"]
    assert guide.pop("ingested_at").startswith("20")
    assert guide == {
        "doc_id": "regulatory_gst",
        "title": "GST Guide",
        "category": "regulatory",
        "audience": "public",
        "organisation": "Customs",
        "jurisdiction": "",
        "last_updated": "",
        "chunks": 3,
        "pages": None,
        "kind": "markdown",
        "source_urls": [],
        "removable": True,
        "uploaded": False,
        "sample": False,
        "used": 0,
        "warnings": ["undated"],
    }


def test_the_list_comes_in_the_order_that_is_asked_for_with_use_and_warnings_for_staff(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, updated in (("a_new", "2999-01-01"), ("b_old", "2020-01-01"), ("c_none", ""), ("d_same", "2999-01-01")):
        title = "Same" if name[0] in "bd" else name
        (folder / f"{name}.md").write_text(f"---\ntitle: {title}\nlast_updated: '{updated}'\n---\n\nWords of {name}.\n")
    services = open_service(
        settings_over(tmp_path, "http://127.0.0.1:1", answer_log_days=90, auth_mode="public", api_keys=KEYS)
    )
    services.index.ingest([folder])
    answers = open_answers(services.settings)
    for _ in range(2):
        answers.add(logged_answer(), [Quote("c_none", "", "", "Words"), Quote("c_none", "", "", "of c_none.")])
    answers.add(logged_answer(), [Quote("b_old", "Same", "", "Words")])
    with TestClient(create_app(services)) as client:
        found = {sort: listed(client, sort=sort)["documents"] for sort in ("title", "updated", "used")}
        public = listed(client, {})["documents"]

    ids = {sort: [one["doc_id"] for one in documents] for sort, documents in found.items()}
    assert ids["title"] == ["a_new", "c_none", "b_old", "d_same"]
    assert ids["updated"][:2] == ["c_none", "b_old"]
    assert [(one["doc_id"], one["used"]) for one in found["used"][:3]] == [("c_none", 2), ("b_old", 1), ("a_new", 0)]
    assert {one["doc_id"]: one["warnings"] for one in found["title"]} == {
        "a_new": [],
        "b_old": ["old", "same_title"],
        "c_none": ["undated"],
        "d_same": ["same_title"],
    }
    assert {(one["used"], *one["warnings"]) for one in public} == {(None,)}


def test_the_list_is_cut_searched_and_counted(client):
    found = listed(client, category="regulatory", limit=2, offset=1)
    assert found["total"] == 4
    assert [one["title"] for one in found["documents"]] == ["GST Guide", "Plan"]
    assert found["categories"] == {"internal": 2, "regulatory": 4}
    nothing = listed(client, search="nowhere")
    assert (nothing["total"], nothing["documents"], nothing["categories"]) == (0, [], {})


def test_a_caller_without_the_scope_sees_public_documents_and_may_remove_none(client):
    found = listed(client, PUBLIC)
    assert {one["doc_id"] for one in found["documents"]} == {
        f"regulatory_{name}" for name in ("gst", "plan", "rates", "changing")
    }
    assert not any(one["removable"] for one in found["documents"])
    assert found["categories"] == {"regulatory": 4}


@pytest.mark.parametrize(
    ("path", "internal"),
    [("/new/titles", "Margins"), ("/new/passages", "internal_margins"), ("/new/words?doc_id=internal_margins", None)],
)
def test_a_route_that_never_mentions_audiences_shows_its_caller_no_more_than_it_may_see(client, path, internal):
    to_staff, to_public = (client.get(path, headers=who).json() for who in (STAFF, PUBLIC))

    if internal is None:
        assert to_staff > 0
        assert to_public == 0
    else:
        assert internal in to_staff
        assert to_public
        assert set(to_public) < set(to_staff)
        assert internal not in to_public


@pytest.mark.parametrize("path", ["internal_margins", "internal_secret/pages/1", "internal_secret/pages/1.png"])
def test_unknown_and_forbidden_documents_get_the_same_answer(client, path):
    unknown = path.replace("margins", "nothing").replace("secret", "nothing")
    forbidden, missing = (client.get(f"/documents/{one}", headers=PUBLIC) for one in (path, unknown))
    assert client.get(f"/documents/{path}", headers=STAFF).status_code == 200
    assert forbidden.status_code == missing.status_code == 404
    assert forbidden.json() == missing.json()
    assert client.get(f"/documents/{path}").status_code == client.get("/api/documents").status_code == 401


def test_the_quoted_words_are_marked_although_the_source_has_markup(client):
    guide = read(client, "regulatory_gst", quote="The rate is **9 %**.")
    assert (
        '<mark class="quote" id="quote">The rate is </mark><strong><mark class="quote">9 %</mark></strong>'
        in guide["html"]
    )
    assert guide["marked"]
    assert guide["whole"]

    second = GUIDE.rindex("The fee is 5.")  # Of equal words those at the offset are marked.
    html = read(client, "regulatory_gst", start=second, end=second + len("The fee is 5."))["html"]
    assert html.count("<mark") == 1
    assert html.index("<mark") > html.index("Other fee")


def test_a_hostile_document_is_shown_as_text(client):
    html = read(client, "regulatory_plan")["html"]
    assert "&lt;script&gt;" in html
    assert not any(bad in html for bad in ("<script", "<img", "evil.example", 'href="javascript', "\u202e"))


def test_a_browser_gets_a_page_that_needs_no_script(client):
    page = client.get("/documents/regulatory_gst", headers=STAFF | {"Accept": "text/html"}, params={"quote": "9 %"})
    assert page.headers["content-type"].startswith("text/html")
    assert "<h1>GST Guide</h1>" in page.text
    assert '<mark class="quote" id="quote">9 %' in page.text
    assert "<script" not in page.text
    assert "default-src 'self'" in page.headers["content-security-policy"]


def test_the_text_of_a_pdf_stands_under_its_pages(client):
    rates = read(client, "regulatory_rates", quote="storage is nine percent of the value", page=2)
    assert rates["page"] == 2
    assert rates["pages"] == 2
    assert '<section class="page" data-page="2">' in rates["html"]
    assert rates["html"].index("<mark") > rates["html"].index('data-page="2"')


def test_a_page_is_a_picture_with_the_boxes_of_the_quoted_words(client):
    page = client.get("/documents/regulatory_rates/pages/2", params={"quote": RATES}, headers=PUBLIC).json()
    picture = client.get("/documents/regulatory_rates/pages/2.png", params={"width": 300}, headers=PUBLIC)

    assert (page["page"], page["pages"], page["width"], page["height"]) == (2, 3, 612, 792)
    assert len(page["words"]) == 2
    for left, top, width, height in page["words"]:
        assert 0.1 < left < left + width < 0.6
        assert 0.07 < top < top + height < 0.13
    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")
    assert int.from_bytes(picture.content[16:20]) == 300
    for missing in ("regulatory_rates/pages/4", "regulatory_rates/pages/9.png", "regulatory_gst/pages/1"):
        assert client.get(f"/documents/{missing}", headers=STAFF).status_code == 404


def test_no_picture_is_made_of_a_file_that_has_changed_or_is_gone(client, corpus):
    file, page = corpus / "regulatory" / "changing.pdf", "/documents/regulatory_changing/pages/1.png"
    assert client.get(page, headers=STAFF).status_code == 200
    file.write_bytes(pdf("Other words came"))
    assert client.get(page, headers=STAFF).status_code == 404
    file.unlink()
    assert client.get(page, headers=STAFF).status_code == 404
    assert "These words stay" in read(client, "regulatory_changing")["html"]
    file.write_bytes(pdf("These words stay"))


@pytest.fixture(scope="module")
def pages() -> Iterator[PdfPages]:
    pages = PdfPages(timeout_s=1, memory_mb=512)  # A second of the processor for each of the twenty bombs.
    yield pages
    pages.close()


@pytest.mark.parametrize("name", [name for name in names() if name.endswith(".pdf")])
def test_a_hostile_pdf_costs_no_more_than_its_limits(name, tmp_path, pages):
    file = tmp_path / name
    file.write_bytes(content(name))
    for words in ([], ["words"]):
        picture = asyncio.run(pages.picture(IndexedPage(file, 1, words), 300))
        assert picture is None or picture.startswith(b"\x89PNG")
