import pytest
from langchain_core.messages import HumanMessage

from app.adapters.llm.openai_compatible import listed_models, local_model
from app.wiring.llm import lists_models
from benchmarks.processes import free_port
from chains.errors import LLMRejectedError, LLMUnavailableError

NAMES = ["nomic-embed-text:latest", "qwen2.5:7b", "llama3.2:3b"]


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_without_a_name_the_first_listed_language_model_is_asked(groq, way):
    groq.models = NAMES
    model = local_model(base_url=f"{groq.url}/openai/v1", model=None)
    for _ in range(2):
        if way in {"invoke", "stream"}:
            list(model.stream("Rate?")) if way == "stream" else model.invoke("Rate?")
        elif way == "ainvoke":
            await model.ainvoke("Rate?")
        else:
            assert [chunk async for chunk in model.astream("Rate?")]

    assert [sent["model"] for sent in groq.requests] == ["qwen2.5:7b"] * 2


def test_a_name_that_is_set_is_asked_for(groq):
    groq.models = NAMES
    model = local_model(base_url=f"{groq.url}/openai/v1", model="llama3.2:3b")
    model.invoke([HumanMessage("Rate?")])

    assert [sent["model"] for sent in groq.requests] == ["llama3.2:3b"]
    assert listed_models(model) == NAMES


def test_v1_may_be_left_out_of_the_address():
    model = local_model(base_url="http://127.0.0.1:9", model="m")
    assert model.openai_api_base == "http://127.0.0.1:9/v1"


def test_a_server_without_a_language_model_says_how_to_load_one(groq):
    groq.models = NAMES[:1]
    with pytest.raises(LLMRejectedError, match="ollama pull"):
        local_model(base_url=f"{groq.url}/openai/v1", model=None).invoke("Rate?")


def test_a_server_that_is_not_there_is_unavailable():
    with pytest.raises(LLMUnavailableError):
        local_model(base_url=f"http://127.0.0.1:{free_port()}", model=None).invoke("Rate?")


def test_only_what_lists_models_is_a_model_server(groq):
    assert lists_models(f"{groq.url}/openai/v1")
    assert not lists_models(f"{groq.url}/other")
    assert not lists_models(f"http://127.0.0.1:{free_port()}/v1")
