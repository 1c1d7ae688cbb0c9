"""The peer's cache as it was recorded: its cases, run on ours. None deviates from what was expected of it."""

import copy

import pytest

from app.settings import load_settings
from app.wiring import Parts, open_service
from chains.caching.typed_cache import MemoryStore, canonical
from tests.clocks import StoppedClock
from tests.contract.recorded import recorded
from tests.fakes import WordEmbeddings

QUESTION = {"question": "What is the rate?"}


@pytest.mark.parametrize("case", recorded("cache", "cache_keys"))
def test_the_peers_cases_hold(case, tmp_path, groq):
    assert CHECKS[case["id"]](case["input"], tmp_path, groq) == case["expected"]


def order_of_names(given, tmp_path, groq):
    return canonical(given[0]) == canonical(given[1])


def order_of_items(given, tmp_path, groq):
    array = copy.copy(given["data"])
    return {"same_as_sorted": canonical(array) == canonical(sorted(array)), "array_after": array}


def lifetimes(given, tmp_path, groq):
    clock = StoppedClock()
    store = MemoryStore(capacity=1000, ttl_s=given["defaultTtl"], clock=clock)
    for_ever = MemoryStore(capacity=1000, clock=clock)
    store.set("key", b"v")
    store.set("zero", b"v", ttl_s=0)
    for_ever.set("key", b"v")
    began, told = clock.now(), []
    for milliseconds in (0, 1999, 2000, 2001):
        clock.time = began + milliseconds / 1000
        told.append([milliseconds, text(store.get("key"))])
    return [
        *told,
        ["ttl 0 falls back to default", text(store.get("zero"))],
        ["no ttl never expires", text(for_ever.get("key"))],
    ]


def text(value):
    return value.decode() if value else None


def another_model(given, tmp_path, groq):
    first, second = (services(groq, cache_backend="ledger", llm_model=model) for model in ("gpt-4o-mini", "gpt-4o"))
    ingest(first, tmp_path, "The rate is nine.")
    first.chain.invoke(QUESTION)
    told = second.chain.invoke(QUESTION)["metadata"]
    assert told["model"] == "gpt-4o"
    return {"llmHit": told["cache"] == "answer"}


def rebuilt_index(given, tmp_path, groq):
    service = services(groq, cache_llm=False)
    ingest(service, tmp_path, "The rate is nine.")
    service.chain.invoke(QUESTION)
    ingest(service, tmp_path, "The rate is ten.", reset=True)
    told = service.chain.invoke(QUESTION)
    return {"retrievalHit": told["metadata"]["cache"] == "retrieval", "docs": len(told["documents"])}


def services(groq, **settings):
    options = {"llm_api_key": "k", "llm_base_url": groq.url, "scope_file": "off", "cache_enabled": True}
    return open_service(load_settings(**options, **settings), parts=Parts(embeddings=WordEmbeddings()))


def ingest(service, tmp_path, words, **options):
    (tmp_path / "corpus").mkdir(exist_ok=True)
    (tmp_path / "corpus" / "guide.md").write_text(f"# Guide\n\n{words}")
    service.index.ingest([tmp_path / "corpus"], **options)


CHECKS = {
    "lcel-194": order_of_names,
    "lcel-195": order_of_items,
    "lcel-196": lifetimes,
    "lcel-238": another_model,
    "lcel-239": rebuilt_index,
}
