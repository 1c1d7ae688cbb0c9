"""A real language model behind the real service: small, weak, and as talkative as it likes. `make model` fetches it.

What it says is not asserted, only what becomes of it. No reply is scripted: llama.cpp's server writes each word.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args
from uuid import UUID

import httpx
import openai
import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import collect_runs
from langchain_core.tracers.schemas import Run
from langserve import RemoteRunnable
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

import chains
import prompts
from app.http.server import create_app
from app.wiring import Service
from app.wiring.llm import close, first_model
from benchmarks.models.weights import SMALL, ModelServer, model_server
from benchmarks.processes import PATIENCE_S
from chains.output import merge
from chains.state import Answer, Outcome
from examples.agentic_graph import agentic_graph
from tests.fakes import FakeGroq
from tests.served import QUESTION, served, small_services

pytestmark = [pytest.mark.service, pytest.mark.slow]

ASKED: Any = {"question": QUESTION}
OTHER: Any = {"question": "Which rate of GST do importers pay in Singapore?"}
HISTORY = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "It is 9 %."}]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    if not SMALL.is_there:
        pytest.skip(SMALL.how_to_get)
    with model_server(SMALL) as running:
        yield running


@pytest.fixture(scope="module")
def services(server, tmp_path_factory) -> Service:
    return services_of(tmp_path_factory.mktemp("real"), server)


def services_of(folder: Path, server: ModelServer, **settings: Any) -> Service:
    chosen: dict[str, Any] = {"llm_provider": "llama-cpp", "llm_base_url": server.url, "llm_api_key": None}
    chosen |= {"llm_max_tokens": 60, "llm_fallback": True, "scope_file": "off"}
    return small_services(folder, FakeGroq(), **chosen | settings)


def assert_came_from(server: ModelServer, answer: Answer) -> None:
    """The model was asked, and nothing stands in the answer that cannot be followed to a passage."""
    metadata, shown = answer["metadata"], [document["content"] for document in answer["documents"]]
    assert metadata["model"] == server.model
    assert (metadata["usage"] or {})["output_tokens"] > 0
    assert metadata["finish_reason"] in {"stop", "length"}
    assert answer["outcome"] in set(get_args(Outcome)) - {"degraded", "no_results"}
    assert all(one["quote"] in "\n".join(shown) for one in answer["citations"] if one["matched"])


def test_a_stream_of_copilot_is_the_models(url, server):
    with remote(url) as chain:
        parts = list(chain.stream(ASKED))

    assert_came_from(server, merge(parts))
    assert [name for part in parts for name in part][-1] == "metadata"


def test_what_comes_first_in_the_prompt_is_served_from_the_servers_cache(url):
    with remote(url) as chain:
        chain.invoke(ASKED)
        usage = chain.invoke(OTHER)["metadata"]["usage"]

    assert usage["cached_tokens"] > 100


def test_openais_client_gets_words_and_usage_streamed_or_not(url):
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", timeout=PATIENCE_S) as client:
        [model] = client.models.list().data
        asked: Any = {"model": model.id, "messages": [{"role": "user", "content": QUESTION}]}
        whole = client.chat.completions.create(**asked)
        *parts, last = client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})

    assert whole.choices[0].message.content
    assert whole.usage.completion_tokens > 0
    assert "".join(part.choices[0].delta.content or "" for part in parts)
    assert last.usage.prompt_tokens == whole.usage.prompt_tokens


async def test_the_tool_ask_of_mcp_answers_with_numbered_sources(url):
    async with (
        httpx.AsyncClient() as client,
        streamable_http_client(f"{url}/mcp", http_client=client) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        asked = await session.call_tool("ask", {"question": QUESTION})

    assert not asked.isError
    assert asked.structuredContent
    assert asked.structuredContent["answer"]


def test_an_agents_tool_returns_text_and_the_whole_answer(services, server):
    call = {"name": "ask_documents", "args": {"question": QUESTION}, "id": "1", "type": "tool_call"}
    message = chains.as_tool(services.chain).invoke(call)

    assert message.content
    assert_came_from(server, message.artifact)


async def test_the_agentic_graph_answers_from_passages_or_declines(services):
    model: Any = first_model(services.settings)
    state = agentic_graph(services, model).invoke({"question": QUESTION, "queries": [QUESTION]})
    await model.aclose()

    passages = [document.page_content for document in state["documents"]]
    assert state["citations"] or state["answer"] == prompts.load("decline")
    assert all(citation["quote"] in "\n".join(passages) for citation in state["citations"])


def models_below(run: Run) -> list[Run]:
    below = [found for child in run.child_runs for found in models_below(child)]
    return [run, *below] if run.run_type in {"llm", "chat_model"} else below


def test_a_follow_up_is_made_to_stand_alone_by_the_model_and_answered(services, server):
    asked = {"question": "And since when?", "history": HISTORY}
    with collect_runs() as runs:
        answer = services.chain.invoke(asked)

    assert any("<conversation>" in str(run.inputs) for run in models_below(runs.traced_runs[0]))
    assert answer["metadata"]["search_query"] != ""
    assert_came_from(server, answer)


def test_a_server_that_dies_before_the_first_word_leaves_a_quoted_answer(tmp_path):
    parts: list[Any] = []
    with running() as server, served(create_app(services_of(tmp_path, server))) as url, remote(url) as chain:
        for part in chain.stream(ASKED):
            parts.append(part)
            if "documents" in part:
                server.kill()
    answer = merge(parts)

    assert answer["outcome"] == "degraded"
    assert "9 %" in answer["answer"]


async def test_a_server_that_dies_between_words_breaks_one_answer_off_and_the_next_is_quoted(tmp_path):
    with running() as server:
        services = services_of(tmp_path, server)
        answer = merge(services.chain.stream(ASKED, {"callbacks": [KillAtWord(server, 3)]}))
        later = services.chain.invoke(ASKED)
        await close(services.answerer.models)

    assert answer["metadata"]["finish_reason"] == "error"
    assert later["outcome"] == "degraded"
    assert "9 %" in later["answer"]


@contextmanager
def remote(url: str) -> Iterator[Any]:
    """LangServe's client of the service."""
    chain: Any = RemoteRunnable(f"{url}/copilot")
    with chain.sync_client:
        yield chain


def running() -> Any:
    if not SMALL.is_there:
        pytest.skip(SMALL.how_to_get)
    return model_server(SMALL)


class KillAtWord(BaseCallbackHandler):
    """Kills the server once it has written so many pieces."""

    run_inline = True

    def __init__(self, server: ModelServer, number: int) -> None:
        self.server, self.left = server, number

    def on_llm_new_token(self, token: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.left -= 1
        if self.left == 0:
            self.server.kill()
