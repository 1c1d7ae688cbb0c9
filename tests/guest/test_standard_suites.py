"""The standard suites of langchain-tests over each class here that LangChain calls, with real parts behind them."""

import json
import re
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langchain_tests.base import BaseStandardTests
from langchain_tests.integration_tests import (
    ChatModelIntegrationTests,
    EmbeddingsIntegrationTests,
    RetrieversIntegrationTests,
    ToolsIntegrationTests,
)
from langchain_tests.unit_tests import ChatModelUnitTests, ToolsUnitTests
from pydantic import TypeAdapter

import chains
from app.adapters.embeddings.cached import CachedBatchEmbeddings, CachedQuestionEmbeddings, MemoizedEmbeddings
from app.adapters.embeddings.onnx import OnnxEmbeddings
from app.adapters.llm.groq_compat import GroqModel
from app.adapters.llm.openai_compatible import OpenAICompatibleModel
from app.settings import load_settings
from app.wings.offline.model import OfflineChatModel
from app.wiring import Service
from app.wiring.llm import providers
from chains.caching.typed_cache import CacheStats, MemoryStore, TypedCache
from chains.clock import Clock
from chains.generation.resilient import ResilientChatModel
from tests.chains.gst import Shelf, gst_chain
from tests.fakes import MODEL, FakeGroq, Reply, WordEmbeddings, fake_groq
from tests.postgres import database_for
from tests.remote import services_over


class ToolUser(FakeGroq):
    """Calls the first tool that a user's message comes with, or writes the JSON that is wanted."""

    def next_reply(self, body: dict[str, Any]) -> Reply:
        last = body["messages"][-1]
        quoted = re.search("'(.+?)'", str(last["content"]))
        if last["role"] == "user" and body.get("tools"):
            function = body["tools"][0]["function"]
            return Reply(tool_call=(function["name"], _filled(function["parameters"], quoted)))
        wanted = body.get("response_format", {}).get("json_schema")
        return Reply(json.dumps(_filled(wanted["schema"], quoted))) if wanted else Reply()


def _filled(schema: Any, quoted: "re.Match[str] | None") -> dict[str, Any]:
    words = quoted[1] if quoted else "words"
    return {name: 3 if of.get("type") == "integer" else words for name, of in schema.get("properties", {}).items()}


@pytest.fixture(scope="class")
def _groq(request: pytest.FixtureRequest) -> Iterator[None]:
    with fake_groq(ToolUser()) as request.cls.groq:
        yield


@pytest.mark.usefixtures("_groq")
class Groq:
    groq: ToolUser
    chat_model_class: type[BaseChatModel] = GroqModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"model": MODEL, "api_key": "gsk_test", "base_url": self.groq.url, "max_retries": 0}


class OpenAICompatible(Groq):
    chat_model_class = OpenAICompatibleModel
    model_override_value = "openai/gpt-oss-120b"  # ChatGroq tells its own name, whichever model was called.

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {**super().chat_model_params, "base_url": f"{self.groq.url}/openai/v1", "stream_usage": True}


class Resilient(Groq):
    chat_model_class = ResilientChatModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        settings = load_settings(_env_file=None, llm_api_key="gsk_test", llm_base_url=self.groq.url)
        return {"providers": tuple(providers(settings, Clock()))}


class Offline:
    chat_model_class = OfflineChatModel
    chat_model_params: ClassVar[dict[str, Any]] = {}


class TestOfflineUnit(Offline, ChatModelUnitTests):
    @pytest.mark.xfail(reason="It is one algorithm without models to choose from, and traces name what has answered.")
    def test_standard_params_model_override(self, model: BaseChatModel) -> None:
        super().test_standard_params_model_override(model)


class Onnx:
    embeddings_class = OnnxEmbeddings


class Memoized:
    embeddings_class: type = MemoizedEmbeddings
    embedding_model_params: ClassVar[dict[str, Any]] = {"embeddings": WordEmbeddings()}


class CachedQuestions(Memoized):
    embeddings_class = CachedQuestionEmbeddings
    vectors = TypedCache("embedding", MemoryStore(capacity=2**20), TypeAdapter(list[float]), CacheStats(), "")
    embedding_model_params = Memoized.embedding_model_params | {"vectors": vectors}


class CachedBatches(Memoized):
    embeddings_class = CachedBatchEmbeddings
    store = MemoryStore(capacity=2**20)
    embedding_model_params = Memoized.embedding_model_params | {"model": "words", "store": store}


@pytest.fixture(scope="class")
def _searched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Open the index that the class names, over four short documents."""
    folder = tmp_path_factory.mktemp("searched")
    for number in range(4):
        (folder / f"rates{number}.md").write_text(f"# Rates {number}\n\nThe rate of GST in country {number} is 9 %.")
    chosen = {"vector_store_type": "memory", "chroma_path": folder / "index", "llm_provider": "offline"}
    with database_for(request, wanted=request.cls.postgres) as url:
        request.cls.service = services_over(folder, database_url=url, **chosen | request.cls.settings)
        request.cls.service.index.ingest([folder])
        yield


@pytest.mark.usefixtures("_searched")
class Memory:
    settings: ClassVar[dict[str, Any]] = {}
    postgres = False
    service: Service
    retriever_query_example = "What is the rate of GST?"
    num_results_arg_name = "top_k"

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return type(self.service.answerer.retriever)

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        retriever = self.service.answerer.retriever
        return {name: getattr(retriever, name) for name in retriever.model_fields_set} | {"threshold": 0.0}


class Chroma(Memory):
    settings: ClassVar = {"vector_store_type": "chroma"}


class PostgreSQL(Memory):
    postgres = True


class Mmr(Memory):
    settings: ClassVar = {"retriever_type": "mmr"}


class CachedSimilarity(Memory):
    settings: ClassVar = {"retriever_type": "similarity", "cache_retrieval": True}


class Ask:
    tool_invoke_params_example: ClassVar = {"question": "The rate of GST?", "filters": {"category": "regulatory"}}

    @property
    def tool_constructor(self) -> BaseTool:
        return chains.as_tool(gst_chain())


class Search:
    tool_invoke_params_example: ClassVar = {"query": "The rate of GST?", "filters": {"category": "regulatory"}}

    @property
    def tool_constructor(self) -> BaseTool:
        return chains.as_search_tool(Shelf())


def _classes(*suites: type[BaseStandardTests], of: tuple[type, ...]) -> dict[str, type]:
    """Return a class of tests for each suite and each class of ours, by its name."""
    named = {f"Test{ours.__name__}{suite.__name__}": (ours, suite) for ours in of for suite in suites}
    return {name: type(name, bases, {}) for name, bases in named.items()}


globals().update(
    _classes(ChatModelIntegrationTests, ChatModelUnitTests, of=(Groq, OpenAICompatible, Resilient))
    | _classes(ChatModelIntegrationTests, of=(Offline,))
    | _classes(EmbeddingsIntegrationTests, of=(Onnx, Memoized, CachedQuestions, CachedBatches))
    | _classes(RetrieversIntegrationTests, of=(Memory, Chroma, PostgreSQL, Mmr, CachedSimilarity))
    | _classes(ToolsIntegrationTests, ToolsUnitTests, of=(Ask, Search))
)
