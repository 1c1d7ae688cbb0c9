"""A stranger tests words that stand only in internal documents: with and without these, the answers are the same."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.http.server import create_app
from app.wiring import Parts, open_service
from tests.access import settings_over
from tests.fakes import MODEL, FakeGroq, Reply, WordEmbeddings, fake_groq
from tests.postgres import database_for
from tests.served import served
from tests.strangers import Attacked, probes, write_corpus


class Citing(FakeGroq):
    """Says what is true, wherever it is asked."""

    def next_reply(self, body: dict[str, Any]) -> Reply:
        return Reply("The surcharge on weekends is 5 percent [Guide to weekends > Rule].")


@pytest.fixture(scope="module", params=["chroma", "memory", "postgres"])
def attacked(request, tmp_path_factory) -> Iterator[tuple[Attacked, Attacked]]:
    """The service over the public documents alone, and the one over the same documents and internal ones."""
    options: dict[str, Any] = {"vector_store_type": request.param, "auth_mode": "public", "rate_limit": "off"}
    with (
        database_for(request, wanted=request.param == "postgres") as options["database_url"],
        fake_groq(Citing()) as groq,
        ExitStack() as opened,
    ):
        alone, beside = (
            Attacked(opened.enter_context(serving(options, groq, tmp_path_factory.mktemp("corpus"), internal)), groq)
            for internal in (False, True)
        )
        yield alone, beside


@contextmanager
def serving(options: dict[str, Any], groq: FakeGroq, folder: Path, internal: bool) -> Iterator[httpx.Client]:
    """Serve the corpus, with or without its internal documents, in a collection of its own."""
    options = options | {"collection_name": f"kb_{uuid4().hex[:8]}"}
    settings = settings_over(folder, groq.url, **options)
    services = open_service(settings, parts=Parts(embeddings=WordEmbeddings()))
    services.index.ingest([write_corpus(folder, internal=internal)])
    with served(create_app(services)) as url, httpx.Client(base_url=url) as client:
        yield client


def test_a_word_of_internal_documents_changes_no_answer_to_a_stranger(attacked):
    alone, beside = attacked
    pairs = {
        question: (alone.asked("/api/query", {"query": question}), beside.asked("/api/query", {"query": question}))
        for _, question in probes()
    }

    assert len(pairs) >= 69
    assert all(status == 200 for (status, *_), _ in pairs.values())
    assert any(sent for (*_, sent), _ in pairs.values()), "the model is asked, so its prompts can be compared"
    assert [question for question, (one, other) in pairs.items() if one != other] == []


@pytest.mark.parametrize("attacked", ["chroma"], indirect=True)  # The store is asked by the chain, whatever the route.
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/search", lambda question: {"query": question, "top_k": 20}),
        ("/chat", lambda question: {"query": question}),
        ("/copilot/invoke", lambda question: {"input": {"question": question}}),
        ("/copilot/stream", lambda question: {"input": {"question": question}}),
        (
            "/v1/chat/completions",
            lambda question: {"model": MODEL, "messages": [{"role": "user", "content": question}]},
        ),
    ],
)
def test_nor_by_another_route(attacked, path, body):
    alone, beside = attacked
    differing = [
        question
        for _, question in probes()[::5]
        if alone.asked(path, body(question)) != beside.asked(path, body(question))
    ]

    assert differing == []


def test_a_stranger_learns_no_factor_no_lap_and_no_number_of_chunks(attacked):
    _, beside = attacked
    question = "What is the surcharge on weekends?"
    told = beside.client.post("/api/query", json={"query": question}).json()
    events = beside.client.post("/copilot/stream_events", json={"input": {"question": question}}).text

    assert set(told["confidence"]) - {"parts"} == {"level", "score", "reason", "factors"}
    assert told["confidence"]["reason"]
    assert (told["confidence"]["factors"], told["metadata"]["timingsMs"]) == ({}, {})
    assert "chunks" not in beside.client.get("/health/ready").text
    factors = re.findall(r'"(?:factors|timings_ms)":(\{[^}]*\})', events.replace(" ", ""))
    assert factors
    assert set(factors) == {"{}"}
