import pytest

from app.settings import load_settings
from app.wiring import Service, open_service
from chains.state import Question
from tests.corpora import write_documents

GUIDE = """---
title: GST Guide
source_urls: https://customs.gov.sg/gst, https://evil.example/pay
---

# GST Guide

## Rate

The rate of GST on imports into Singapore is nine percent of the value of the goods.
"""
QUESTION: Question = {"question": "What is the rate of GST on imports into Singapore?"}


@pytest.fixture
def corpus(tmp_path):
    return write_documents(tmp_path / "corpus", {"gst.md": GUIDE})


def services(folder, **settings) -> Service:
    memory = {"vector_store_type": "memory", "chroma_path": folder / "store", "llm_provider": "offline"}
    return open_service(load_settings(**memory, relevance_threshold=0, scope_file="off", **settings))


@pytest.mark.parametrize("caches", [{}, {"cache_enabled": True}])
def test_only_links_to_trusted_hosts_are_shown_also_of_documents_that_were_indexed_before(tmp_path, corpus, caches):
    asked = services(tmp_path)
    asked.index.ingest([corpus])
    shown = [source["url"] for source in asked.chain.invoke(QUESTION)["sources"]]
    assert shown == ["https://customs.gov.sg/gst", "https://evil.example/pay"]
    trusting = services(tmp_path, trusted_link_hosts="gov.sg", **caches)
    answer = trusting.chain.invoke(QUESTION)

    assert [source["url"] for source in answer["sources"]] == ["https://customs.gov.sg/gst"]
    assert answer["related_docs"][0]["url"] == "https://customs.gov.sg/gst"
    assert "evil" not in str(answer)
    assert [entry.source_urls for entry in trusting.index.library.catalogue().entries.values()] == [
        ["https://customs.gov.sg/gst"]
    ]
