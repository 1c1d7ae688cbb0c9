from pathlib import Path
from typing import Any

import pytest

from app.wings.knowledge.certificate import certificate
from app.wings.knowledge.verification import Document, verify
from tests.fakes import groq_server
from tests.served import GUIDE, QUESTION, answering, guide_services

WRITTEN = "GST on imports into Singapore is 9 % [GST Guide > Rate]. Elephants are large."


groq = pytest.fixture(groq_server, scope="module")


services = guide_services()


_answers = answering(WRITTEN)


def read(_: Any) -> Document:
    return Document(GUIDE.encode())


def test_each_sentence_of_a_model_s_answer_has_its_proof_or_none(client):
    found = client.post("/api/certificate", json={"query": QUESTION}).json()
    first, second = verify(found, read)

    assert (found["question"], found["outcome"]) == (QUESTION, "answered")
    [source] = found["sentences"][0]["sources"]
    assert GUIDE.encode()[slice(*source["bytes"])].decode() == source["quote"]
    assert (first.rule, first.failure, first.note) == ("quoted", None, "")
    assert (second.rule, second.failure, second.note) == (None, None, "no source is cited for it")


def test_a_query_that_is_missing_is_refused_as_by_the_other_route(client):
    refused = client.post("/api/certificate", json={"query": 7})

    assert refused.status_code == 400
    assert refused.json() == client.post("/api/query", json={"query": 7}).json()


def test_without_the_file_the_quote_s_place_in_the_text_is_left(services, tmp_path):
    answer = services.chain.invoke({"question": QUESTION})
    [file] = Path(services.index.library.catalogue().sources["01_regulatory_gst"].path).parent.glob("gst.md")
    file.rename(tmp_path / "gst.md")
    try:
        [source] = certificate(answer, services.index)["sentences"][0]["sources"]
    finally:
        (tmp_path / "gst.md").rename(file)

    assert (source["sha256"], source["bytes"]) == (None, None)
    assert GUIDE[slice(*source["characters"])] == source["quote"]
