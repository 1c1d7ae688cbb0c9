"""The caches around the real chain: a real store, and the real ChatGroq against a server on loopback."""

from typing import Any

import pytest

from app.settings import load_settings
from app.wiring import Parts, Service, open_index, open_service
from app.wiring.caches import Caches
from app.wiring.storage import ledger_of
from chains.caching.typed_cache import LEVELS
from chains.clock import Clock
from chains.output import merge
from tests.chains.caching.chain import Chain
from tests.corpora import write_documents
from tests.fakes import WordEmbeddings

QUESTION: Any = {"question": "Which rate does GST have?"}


@pytest.fixture
def corpus(tmp_path):
    text = "# GST Guide\n\n## Rate\n\nThe rate of GST is nine percent."
    return write_documents(tmp_path / "corpus", {"01_regulatory/gst.md": text})


@pytest.fixture(params=["memory", "ledger"])
def backend(request):
    return {"cache_backend": request.param}


class CountedEmbeddings(WordEmbeddings):
    """Counts the questions that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.questions = 0

    def embed_query(self, text: str) -> list[float]:
        self.questions += 1
        return super().embed_query(text)


def make(groq, **settings) -> tuple[Service, CountedEmbeddings]:
    options = {"llm_api_key": "k", "llm_base_url": groq.url, "cache_enabled": True, "scope_file": "off", **settings}
    embeddings = CountedEmbeddings()
    return open_service(load_settings(**options), parts=Parts(embeddings=embeddings)), embeddings


def hit(services: Service, **options: Any) -> str | None:
    return services.chain.invoke(QUESTION | options)["metadata"]["cache"]


async def test_a_repeated_question_makes_no_outside_call(corpus, groq, backend, monkeypatch):
    services, embeddings = make(groq, **backend)
    services.index.ingest([corpus])
    first = services.chain.invoke(QUESTION)
    searched: list[str] = []
    for method in ("nearest", "get_by_ids", "vectors", "count"):
        monkeypatch.setattr(type(services.index.current()), method, lambda *_: searched.append("searched"))

    async with services.running():
        told: list[Any] = [
            services.chain.invoke(QUESTION),
            merge(services.chain.stream(QUESTION)),
            await services.chain.ainvoke(QUESTION),
            merge([part async for part in services.chain.astream(QUESTION)]),
        ]

    assert first["metadata"]["cache"] is None
    assert [one | {"metadata": None} for one in told] == [first | {"metadata": None}] * 4
    assert {one["metadata"]["cache"] for one in told} == {"answer"}
    assert (len(groq.requests), embeddings.questions, searched) == (1, 1, [])


def test_another_service_over_the_same_ledger_finds_what_this_one_made(corpus, groq):
    make(groq, cache_backend="redis")[0].index.ingest([corpus])  # Where shared caches were before.
    make(groq, cache_backend="ledger")[0].chain.invoke(QUESTION)

    services, embeddings = make(groq, cache_backend="ledger")
    assert hit(services) == "answer"
    assert hit(services, threshold=0.1) == "embedding"
    assert (len(groq.requests), embeddings.questions) == (2, 0)


def test_each_level_is_switched_by_itself_and_the_furthest_hit_is_told(corpus, groq):
    def second(**switches: bool) -> str | None:
        services, _ = make(groq, **switches)
        services.index.ingest([corpus])
        hit(services)
        return hit(services)

    assert second() == "answer"
    assert second(cache_llm=False) == "retrieval"
    assert second(cache_llm=False, cache_retrieval=False) == "embedding"
    assert second(cache_llm=False, cache_retrieval=False, cache_embeddings=False) is None
    assert second(cache_enabled=False) is None


def test_the_caches_are_off_by_default():
    caches: Any = open_index(load_settings()).caches
    anything = object()
    assert caches.embeddings(anything) is anything
    assert caches.retriever(anything, lambda: "1") is anything
    assert caches.answers(anything, lambda: "1") is anything


@pytest.mark.parametrize("cache_llm", [True, False], ids=["answers", "passages"])
def test_a_new_index_never_serves_what_the_old_one_gave_whoever_made_it(corpus, groq, cache_llm):
    services, _ = make(groq, cache_llm=cache_llm)
    services.index.ingest([corpus])
    hit(services)
    kept = "answer" if cache_llm else "retrieval"
    services.index.ingest([corpus])
    assert hit(services) == kept  # Nothing has changed.
    services.index.ingest([corpus / "01_regulatory"], dry_run=True)
    assert hit(services) == kept

    (corpus / "01_regulatory/gst.md").write_text("# GST Guide\n\n## Rate\n\nThe rate of GST is ten percent.")
    make(groq)[0].index.ingest([corpus])
    told = services.chain.invoke(QUESTION)
    assert told["metadata"]["cache"] == "embedding"
    assert "ten percent" in told["documents"][0]["content"]

    services.index.ingest([corpus], reset=True)
    assert hit(services) == "embedding"


def test_callers_of_another_audience_never_share_passages(corpus, groq):
    services, _ = make(groq, cache_llm=False)
    services.index.ingest([corpus])
    configs: list[Any] = [{"configurable": {"audience": audience}} for audience in ("internal", "public", "public")]

    told = [services.chain.invoke(QUESTION, config)["metadata"]["cache"] for config in configs]
    assert told == [None, "embedding", "retrieval"]


def told_by_another(*, settings: dict[str, Any] | None = None, scope: str = "intents") -> str | None:
    """Return whether an answer that was made with the default settings is told under others, over the same store."""
    shared: Any = {"cache_enabled": True, "cache_backend": "ledger"}
    first = Caches(load_settings(**shared), Clock())
    other = Caches(load_settings(**shared, **(settings or {})), Clock())
    first.answers(Chain(), lambda: "1", scope="intents").invoke(QUESTION)
    return other.answers(Chain(), lambda: "1", scope=scope).invoke(QUESTION)["metadata"]["cache"]


@pytest.mark.parametrize(
    "settings",
    [
        *({"llm_model": "other"}, {"llm_temperature": 0.0}, {"llm_max_tokens": 5}, {"max_context_tokens": 500}),
        *({"citation_style": "numbered"}, {"min_citations": 2}, {"retriever_type": "mmr"}, {"llm_provider": "offline"}),
        *({"retrieval_top_k": 3}, {"relevance_threshold": 0.0}, {"chunk_size": 500}, {"collection_name": "other"}),
    ],
    ids=str,
)
def test_an_answer_made_with_other_settings_is_not_told(settings):
    key = {} if "llm_provider" in settings else {"llm_provider": "groq"}
    assert told_by_another(settings={"llm_api_key": "k", **key, **settings}) is None


@pytest.mark.parametrize(
    "settings",
    [{"port": 4000}, {"cache_ttl": 9}, {"api_keys": f"a:{64 * '0'}:ask"}, {"chroma_host": "elsewhere"}],
    ids=str,
)
def test_what_differs_between_processes_and_not_between_answers_makes_no_difference(settings):
    assert told_by_another(settings=settings) == "answer"


def test_an_answer_made_under_another_prompt_or_scope_is_not_told(monkeypatch):
    assert told_by_another(scope="other") is None
    texts = iter([{"system": "old"}, {"system": "new"}])
    monkeypatch.setattr("prompts.texts", lambda folder: next(texts))
    assert told_by_another() is None


async def test_a_cache_that_fails_breaks_no_answer(corpus, groq):
    services, _ = make(groq, cache_backend="ledger")
    services.index.ingest([corpus])
    with ledger_of(services.settings).changing() as connection:
        connection.exec_driver_sql("ALTER TABLE cache RENAME TO elsewhere")
    async with services.running():
        told = [hit(services), (await services.chain.ainvoke(QUESTION))["metadata"]["cache"]]

    assert told == [None, None]
    assert len(groq.requests) == 2
    assert all(services.index.caches.stats.of(level, "errors") for level in LEVELS)
