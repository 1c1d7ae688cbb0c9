"""Cache, sessions, settings and events as other systems recorded them, run on ours; where ours differs, why."""

import copy
import json
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from redis import Redis
from redis.asyncio import ConnectionPool

from app.ports import Message
from app.settings import Settings, SettingsError, load_settings
from app.wings.events.outbox import ROUTING_KEYS, Events
from app.wings.sessions.plugin import RedisSessions
from app.wiring import Parts, open_service
from chains import build_chain
from chains.around import ObservedRunnable
from chains.caching.typed_cache import MemoryStore, canonical
from chains.citations import CiteSources
from tests.access import POSTED, open_redis, serving, settings_over, write_corpus
from tests.clocks import StoppedClock
from tests.contract.recorded import NEEDS_CASES, recorded, rows
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


REDIS = "redis://127.0.0.1:6379/10"


# The routes that make and end sessions belong to the auth service; this one reads what they leave in Redis.
THEIRS = {"marp-130": "a login", "marp-133": "a logout"}


STORED = {
    "session:tok": json.dumps({"user_id": "u1", "email": "a@b.c"}),
    "session:corrupt": "{not json",
    "session:nouid": "{}",
}


# The chat service answers an unreadable session with 500, the auth service with 401, as ours does: sign in again.
UNREADABLE = {"marp-061": "corrupt", "marp-062": "nouid"}


def is_session(case):
    """Say whether a case is about who asks, as some of the chat service are."""
    return case["area"] == "auth" or (case["area"] == "http_chat" and {"headers", "redis"} & set(case["input"]))


# Only where there are cases is Redis needed.
CASES = [
    pytest.param(row, id=row["id"], marks=pytest.mark.service)
    for row in rows("auth", "http_chat")
    if is_session(row) and row["id"] not in THEIRS
]


@pytest.fixture(scope="module")
def redis() -> Iterator[Redis]:
    with open_redis(REDIS) as redis:
        yield redis
        redis.delete(*STORED)


@pytest.fixture(scope="module")
def url(redis, tmp_path_factory) -> Iterator[str]:
    corpus = write_corpus(tmp_path_factory.mktemp("conformance"))
    options = {"auth_mode": "session", "redis_url": REDIS, "llm_provider": "offline"}
    with serving(settings_over(corpus, "http://127.0.0.1:1", **options)) as url:
        yield url


@pytest.mark.parametrize("case", CASES)
async def test_a_session_that_the_peer_finds_valid_is_who_it_says_and_others_are_nobody(case, redis, url):
    redis.mset(STORED)
    if case["id"] == "marp-132":  # After the logout, which deletes the session.
        headers, status = {"Authorization": "Bearer tok"}, case["expected"]["validate_after"]
        redis.delete("session:tok")
    elif case["id"] in UNREADABLE:
        assert case["expected"]["status"] == 500
        headers, status = {"Authorization": f"Bearer {UNREADABLE[case['id']]}"}, 401
    else:
        headers, status = case["input"]["headers"], case["expected"]["status"]
    path = "/chat" if case["area"] == "http_chat" else "/api/query"
    async with httpx.AsyncClient(base_url=url) as client:
        response = await client.post(path, json=POSTED, headers=headers)
    assert response.status_code == status
    if path == "/chat" and case["id"] not in UNREADABLE:
        assert response.json()["detail"] == case["expected"]["body"]["detail"]
    if status == 200:
        await _check_identity(case["expected"]["body"])


async def _check_identity(body):
    connections = ConnectionPool.from_url(REDIS)
    identity = await RedisSessions(connections).find("tok")
    await connections.disconnect()
    assert identity is not None
    assert (identity.user_id, identity.email) == (body["user_id"], body["email"])
    assert (identity.audience == "internal") is body["is_admin"]


# Its names, and where ours stand.
NAMES = {
    "chunkSize": "ingestion.chunk_size",
    "chunkOverlap": "ingestion.chunk_overlap",
    "minChunks": "ingestion.min_chunks",
    "chromaPort": "chroma.port",
    "chromaSsl": "chroma.ssl",
    "safetyEnabled": "safety.enabled",
    "logLevel": "logs.level",
    "cacheEnabled": "cache.enabled",
    "cacheTtl": "cache.ttl",
    "confidenceEnabled": "confidence.enabled",
    "confidenceLowThreshold": "confidence.low_threshold",
    "confidenceMediumThreshold": "confidence.medium_threshold",
    "confidenceHighThreshold": "confidence.high_threshold",
    "confidenceIncludeFactors": "confidence.include_factors",
}


OTHERS = {
    ("llmProvider", "llmModel", "openaiApiKey"): "the first model is Groq's",
    ("embeddingProvider", "embeddingModel"): "texts are embedded on this machine",
    ("vectorStoreType", "chromaCollectionName", "chromaHost"): "Chroma is a folder, or the server CHROMA_HOST",
    ("retrieverType", "topK", "scoreThreshold"): "hybrid retrieval has another scale of scores",
    ("rerankEnabled", "rerankTopN", "rerankTopK"): "RERANKER names what puts passages in order again",
    ("cacheEmbeddings", "cacheRetrieval", "cacheLLM"): "CACHE_ENABLED turns all three on",
    ("nodeEnv",): "there is no Node",
}


OUR_NAMES = {"TOP_K": "RETRIEVAL_TOP_K"}


def value_of(settings: Settings, path: str) -> object:
    group, name = path.split(".")
    return getattr(getattr(settings, group), name)


@pytest.mark.parametrize("case", recorded("config"))
def test_the_environment_is_read_as_the_contract_says(case, monkeypatch):
    expected = case["expected"]
    given = {OUR_NAMES.get(name, name): value for name, value in case["input"].get("env", {}).items()}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    if "error" in expected:
        with pytest.raises(SettingsError) as caught:
            load_settings(_env_file=None)
        assert any(name in str(caught.value) for name in given)
    elif "has" in expected:  # The address of an OpenAI-compatible service; ours is LLM_BASE_URL.
        address = "http://127.0.0.1:9/v1"
        assert load_settings(_env_file=None, llm_base_url=address).llm.base_url == address
    else:
        settings, known = load_settings(_env_file=None), {name for names in OTHERS for name in names}
        ours = {name: value_of(settings, NAMES[name]) for name in expected if name not in known}
        assert ours == {name: value for name, value in expected.items() if name not in known}


MODEL = "openai/gpt-4o-mini"


KEYS = {"ROUTING_KEY_QUERY_SUBMITTED": "QuerySubmitted", "ROUTING_KEY_RESPONSE_GENERATED": "ResponseGenerated"}


# The others of its list belong to services that fetch, index and search documents, and to its comparison of models.
NOT_OURS = 8


def cases() -> dict[str, Any]:
    return {row["id"]: row["expected"] for row in rows() if row["area"] == "events" or row["id"] == "marp-071"}


pytestmark = NEEDS_CASES


def published(*, user: str | None = "u1", chunks: int = 2) -> list[Message]:
    """Return what is published for the question of the cases."""
    messages: list[Message] = []
    reply = AIMessage("X [1]. Y [2].", response_metadata={"model_name": MODEL})
    found = [
        Document(f"X and Y {n}", metadata={"title": f"Doc {n}", "page": n, "score": 0.9}) for n in range(1, chunks + 1)
    ]
    chain = build_chain(
        retriever=lambda _: found,
        model=GenericFakeChatModel(messages=iter([reply])),
        citations=CiteSources(style="numbered", markers_suffice=True),
    )
    metadata = {"session_id": "s1"} | ({"user_id": user} if user else {})
    ObservedRunnable(chain, [Events(messages.append, model=MODEL)]).invoke(
        {"question": "Illness?"}, {"metadata": metadata}
    )
    return messages


@pytest.mark.parametrize(("case", "place"), [("marp-073", 0), ("marp-074", 1)])
def test_an_event_has_the_key_the_envelope_and_the_payload_of_the_contract(case, place):
    message, expected = published()[place], cases()[case]
    body = json.loads(message.body)

    assert message.routing_key == expected["routing_key"]
    assert list(body) == expected["envelope_keys"]
    assert [body[name] for name in ("eventType", "source", "version")] == [
        expected[name] for name in ("eventType", "source", "version")
    ]
    assert list(body["payload"]) == expected["payload_keys"]
    assert (uuid.UUID(body["eventId"]).version == 4) == expected["eventId_is_uuid4"]
    assert body["timestamp"].endswith("Z") == expected["timestamp_ends_Z"]


def test_the_values_of_the_response_are_those_of_the_contract():
    payload = json.loads(published()[1].body)["payload"]
    expected = cases()["marp-076"]

    assert type(payload.pop("latencyMs")).__name__ == expected.pop("latencyMs_type")
    assert payload == expected


def test_without_a_user_the_payload_names_none():
    assert list(json.loads(published(user=None)[0].body)["payload"]) == cases()["marp-077"]["payload_keys"]


def test_where_nothing_was_retrieved_only_the_question_is_published():
    assert [message.routing_key for message in published(chunks=0)] == cases()["marp-071"]["events"]


def test_the_routing_keys_are_those_of_the_contract():
    expected = cases()["marp-079"]

    assert {name: ROUTING_KEYS[event] for name, event in KEYS.items()} == {name: expected.pop(name) for name in KEYS}
    assert len(expected) == NOT_OURS
