import gc

import numpy as np
import pytest
import structlog

from app.adapters.embeddings.cached import CachedBatchEmbeddings
from app.http.server import create_app
from app.ledger import open_database
from app.ledger.work import LedgerCache
from app.settings import load_settings
from app.wiring import Parts, Service, open_service
from app.wiring.chain import confidence_strategy
from chains.around import Call
from chains.confidence.calibrated import CalibratedConfidence
from chains.confidence.composite import CompositeConfidence
from chains.confidence.levels import Thresholds, WithoutFactors, score_confidence, without_confidence
from chains.errors import ConfigurationError, EmbeddingError
from tests.fakes import WordEmbeddings
from tests.faulty import faulty_groq
from tests.served import QUESTION, small_services
from tests.waiting import await_until


def services(**settings) -> Service:
    return open_service(load_settings(llm_provider="offline", **settings))


def test_remembered_vectors_are_read_and_not_embedded_again_but_for_another_model_or_text(tmp_path):
    inner, store = WordEmbeddings(), LedgerCache(open_database(tmp_path / "ledger", collection="desk"), ttl_s=60)

    def remembered(*texts: str, model: str = "words") -> list[list[float]]:
        return CachedBatchEmbeddings(inner, store, model=model).embed_documents([*texts])

    assert np.allclose(remembered("a b", "c"), remembered("a b", "c"))
    assert inner.embedded == 2
    remembered("a b", model="letters")
    remembered("b")
    assert inner.embedded == 4


def test_a_store_that_cannot_be_used_costs_the_memory_only(tmp_path):
    (tmp_path / "file").write_text("in the way")
    store = LedgerCache(open_database(tmp_path / "file" / "ledger", collection="desk"), ttl_s=60)

    assert len(CachedBatchEmbeddings(WordEmbeddings(), store, model="words").embed_documents(["a", "b"])) == 2


@pytest.mark.parametrize("provider", ["groq", "openai-compatible"])
async def test_the_connections_of_every_model_end_with_the_service(tmp_path, provider):
    with faulty_groq(keep_alive=True) as groq:
        url = groq.url if provider == "groq" else f"{groq.url}/v1"
        services = small_services(tmp_path, groq, llm_provider=provider, llm_base_url=url)
        async with services.running():
            for chain in (services.chain, services.numbered_chain("another")):
                chain.invoke({"question": QUESTION})
                await chain.ainvoke({"question": QUESTION})
            assert groq.connections == 4

        await await_until(lambda: groq.connections == 0)


class Watching:
    """Counts the calls that it is told of."""

    def __init__(self) -> None:
        self.calls = 0

    def started(self, call: Call, /) -> None:
        self.calls += 1

    def ended(self, call: Call, /) -> None:
        self.calls += 1


def test_warming_up_loads_the_models_which_are_no_longer_the_collectors_business_and_asks_nobody(
    groq, tmp_path, monkeypatch
):
    frozen: list[bool] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    (tmp_path / "gst.md").write_text("# GST\n\nThe rate is nine percent.\n")
    embeddings = WordEmbeddings()
    settings = load_settings(llm_api_key="gsk_test", llm_base_url=groq.url, scope_file="off")
    warm = open_service(settings, parts=Parts(embeddings=embeddings))
    watching = Watching()
    warm.observers.append(watching)
    warm.index.ingest([tmp_path])
    before = embeddings.embedded
    warm.warm_up()

    assert embeddings.embedded > before
    assert frozen
    assert (groq.requests, watching.calls) == ([], 0)


def start(services: Service) -> None:
    create_app(services)
    services.warm_up()


@pytest.mark.parametrize("prompt", ["system", "system_numbered"])
def test_a_prompt_that_shows_no_documents_stops_the_service_when_it_starts(groq, tmp_path, prompt):
    (tmp_path / "desk").mkdir()
    (tmp_path / f"{prompt}.txt").write_text("Answer the question.")
    services = small_services(tmp_path / "desk", groq, prompts_path=tmp_path)

    with pytest.raises(ConfigurationError, match=rf"{prompt}\.txt in PROMPTS_PATH=.* has no \{{context\}}"):
        start(services)


def test_a_warm_up_that_fails_stops_nothing(tmp_path):
    class Broken(WordEmbeddings):
        def embed_query(self, text: str) -> list[float]:
            msg = "no service"
            raise EmbeddingError(msg)

    settings = load_settings(llm_provider="offline", chroma_path=tmp_path / "s", vector_store_type="memory")
    cold = open_service(settings, parts=Parts(embeddings=Broken()))
    with structlog.testing.capture_logs() as logs:
        cold.warm_up()
    assert logs == [
        {"event": "warm_up_failed", "log_level": "warning", "stage": "retrieval", "error": "EmbeddingError"}
    ]


def strategy(**settings):
    return confidence_strategy(load_settings(**settings))


def test_the_settings_name_the_strategy_its_thresholds_and_whether_its_factors_are_shown():
    thresholds = {"confidence_low_threshold": 0.1, "confidence_medium_threshold": 0.2, "confidence_high_threshold": 0.3}

    assert strategy(confidence_strategy="tiered") is score_confidence
    assert strategy(confidence_strategy="composite", retrieval_top_k=7, **thresholds) == CompositeConfidence(
        Thresholds(0.1, 0.2, 0.3), top_k=7
    )
    assert isinstance(strategy(), CalibratedConfidence)
    kept = strategy(confidence_strategy="tiered", confidence_include_factors="no")
    assert kept == WithoutFactors(score_confidence)
    assert strategy(confidence_enabled="no") is without_confidence
