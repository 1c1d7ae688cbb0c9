"""The page inside other pages: whose pages, and that it sees what is public and nothing more."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.http.middleware.security import COOKIE, EMBED_HEADER
from app.http.server import create_app
from app.wiring import open_index, open_service
from tests.access import ASKED, POSTED, bearer, key_entry, serving, settings_over, sources_shown

KEYS = key_entry("staff", "staff-key", "ask:internal+feedback")
EMBEDDED = {EMBED_HEADER: "1", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def local(corpus, groq) -> Iterator[str]:
    """The service for the user of this machine, who sees internal documents."""
    with serving(settings_over(corpus, groq.url, cors_origins="https://desk.example, null")) as url:
        yield url


@pytest.mark.parametrize("path", ASKED)
def test_embedded_even_the_user_of_this_machine_sees_public_documents_only(local, groq, path):
    httpx.post(local + path, json=ASKED[path], headers=EMBEDDED).raise_for_status()
    httpx.post(local + path, json=ASKED[path]).raise_for_status()
    assert ["in confidence" in sources_shown(request) for request in groq.requests] == [False, True]


def test_embedded_nobody_reads_the_metrics(local):
    assert httpx.get(f"{local}/metrics", headers=EMBEDDED).status_code == 403
    assert httpx.get(f"{local}/api/me", headers=EMBEDDED).json()["scopes"] == ["ask", "feedback"]


def test_embedded_a_token_counts_for_nothing(corpus, groq):
    tokens = [bearer("staff-key"), {"Cookie": f"{COOKIE}=staff-key"}]
    with serving(settings_over(corpus, groq.url, auth_mode="public", api_keys=KEYS)) as url:
        for token in tokens:
            httpx.post(f"{url}/api/query", json=POSTED, headers=EMBEDDED | token).raise_for_status()
    assert [sources_shown(request).count("in confidence") for request in groq.requests] == [0, 0]


def test_where_a_name_is_asked_for_nothing_is_answered_from_inside_another_page(corpus, groq):
    with serving(settings_over(corpus, groq.url, auth_mode="api_key", api_keys=KEYS)) as url:
        headers = EMBEDDED | {"Cookie": f"{COOKIE}=staff-key"}
        asked = httpx.post(f"{url}/api/query", json=POSTED, headers=headers)
        me = httpx.get(f"{url}/api/me", headers=headers)
    assert (asked.status_code, groq.requests) == (401, [])
    assert "sign in" in asked.json()["message"]
    assert (me.json()["signed_in"], "set-cookie" in me.headers) == (False, False)


@pytest.mark.parametrize(
    ("settings", "ancestors"),
    [
        ({}, "'none'"),
        ({"cors_origins": "https://desk.example, http://intranet:8080"}, "https://desk.example http://intranet:8080"),
        ({"cors_origins": "https://desk.example", "frame_ancestors": "https://*.example.com"}, "https://*.example.com"),
        ({"cors_origins": "https://desk.example", "frame_ancestors": "none"}, "'none'"),
        ({"cors_origins": "*"}, "*"),
        ({"cors_origins": "https://a.example; script-src *"}, "'none'"),
    ],
)
async def test_only_named_origins_may_frame_the_embedded_page_and_none_any_other_page(
    corpus, groq, settings, ancestors
):
    app = create_app(open_service(settings_over(corpus, groq.url, **settings)))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        embed, page, docs = [await client.get(path) for path in ("/embed", "/", "/docs")]
    told = embed.headers["content-security-policy"].split("; ")
    assert f"frame-ancestors {ancestors}" in told
    assert ("x-frame-options" in embed.headers) is (ancestors == "'none'")
    for other in (page, docs):
        assert "frame-ancestors 'none'" in other.headers["content-security-policy"].split("; ")
        assert other.headers["x-frame-options"] == "DENY"


def test_the_widget_is_a_script_that_names_the_embedded_page(local):
    response = httpx.get(f"{local}/widget.js")
    assert response.headers["content-type"].startswith("text/javascript")
    assert 'new URL("embed", script.src)' in response.text
    assert httpx.get(f"{local}/widget.js", headers={"If-None-Match": response.headers["etag"]}).status_code == 304


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:3000", 200),
        ("127.0.0.1", 200),
        ("[::1]:3000", 200),
        ("desk.example", 200),
        ("evil.example:3000", 403),
    ],
)
def test_nothing_is_read_by_a_name_that_is_not_this_machines(local, host, status):
    """A page that gives its own name this machine's address would read as if it were the service's own page."""
    assert httpx.get(f"{local}/openapi.json", headers={"Host": host}).status_code == status
    assert httpx.get(f"{local}/health/live", headers={"Host": host}).status_code == 200


SECRET = "7 %, in confidence"  # noqa: S105 - the words that no stranger may see.
CHAT = {"/chat": POSTED}


def write(folder: Path, name: str, rate: str, front_matter: str = "") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\ntitle: Guide {name}\n{front_matter}\n---\n\n## Rate\n\nThe surcharge on weekends is {rate}.")


@pytest.fixture
def folder(tmp_path) -> Path:
    write(tmp_path, "kb/01_regulatory/asia/rate.md", "5 %")
    write(tmp_path, "kb/04_internal_synthetic/policies/rate.md", SECRET)
    write(tmp_path, "kb/Internal/sales/deep/rate.md", SECRET)
    write(tmp_path, "kb/02_carriers/memo.md", SECRET, "audience: Internal")
    write(tmp_path, "kb/02_carriers/note.md", SECRET, "source_type: Internal")
    write(tmp_path, "kb/02_carriers/policy.md", SECRET, "category: INTERNAL")
    return tmp_path


@pytest.mark.parametrize(
    "given",
    [
        (".",),
        ("kb",),
        ("kb/01_regulatory", "kb/04_internal_synthetic/policies", "kb/Internal/sales", "kb/02_carriers"),
        ("kb/01_regulatory/asia", "kb/04_internal_synthetic/policies/rate.md", "kb/Internal/sales/deep/rate.md"),
    ],
    ids=["above the corpus", "the corpus", "folders below the top", "single files"],
)
def test_no_stranger_sees_an_internal_document_whatever_path_it_was_ingested_by(folder, groq, given):
    settings = settings_over(folder, groq.url, auth_mode="public", rate_limit="off")
    report = open_index(settings).ingest([folder / path for path in given])
    assert report.internal == report.files - 1 >= 2

    with serving(settings) as url:
        for path, body in (ASKED | CHAT).items():
            response = httpx.post(url + path, json=body)
            assert response.status_code == 200
            assert "Guide kb/01_regulatory/asia/rate.md" in sources_shown(groq.requests[-1])
            assert "in confidence" not in response.text
            assert "04_internal" not in response.text
        related = httpx.post(f"{url}/api/query", json=POSTED).json()["relatedDocs"]

    assert not [request for request in groq.requests if "in confidence" in sources_shown(request)]
    assert [document["title"] for document in related] == ["Guide kb/01_regulatory/asia/rate.md"]
