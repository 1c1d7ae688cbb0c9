"""Internal documents in nested folders, ingested from anywhere in their path, and strangers who ask by every way."""

from pathlib import Path

import httpx
import pytest

from app.wiring import open_index
from tests.access import ASKED, POSTED, serving, settings_over, sources_shown

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
    settings = settings_over(folder, groq.url, allow_anonymous=True, rate_limit="off")
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
