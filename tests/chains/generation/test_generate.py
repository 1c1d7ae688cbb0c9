from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

import prompts
from chains.errors import ConfigurationError
from tests.chains.gst import ANSWER, QUESTION, gst_chain, writing

USAGE = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}


def test_a_prompt_that_shows_no_documents_is_refused():
    with pytest.raises(
        ConfigurationError, match=r"has no \{context\}; without it the model is not shown the documents"
    ):
        gst_chain(system="Answer the question.")
    with pytest.raises(ConfigurationError, match=r"has no \{context\}"):
        gst_chain(system="")


@pytest.mark.parametrize(
    ("system", "told"),
    [
        *((system, "system prompt") for system in ("{context", "{context} }", "{context} {}")),
        ("{context} {tone} {customer}", "fills: customer, tone; it may use context, history, question"),
    ],
)
def test_a_prompt_that_is_no_template_or_has_unknown_variables_is_refused(system, told):
    with pytest.raises(ConfigurationError, match=told):
        gst_chain(system=system)


@pytest.mark.parametrize("name", ["system", "system_numbered"])
def test_the_packaged_prompts_pass(name):
    assert gst_chain(system=prompts.load(name)).invoke(QUESTION)["outcome"]


def test_the_question_and_the_history_may_stand_in_the_prompt():
    assert gst_chain(system="{context} {question} {history}").invoke(QUESTION)["answer"] == ANSWER


@pytest.fixture
def llm_cache() -> Iterator[None]:
    set_llm_cache(InMemoryCache())
    yield
    set_llm_cache(None)


@pytest.mark.parametrize(
    ("usage", "told"),
    [(None, None), (USAGE, USAGE), ({"input_tokens": 5, "output_tokens": 0, "total_tokens": 5}, None)],
)
def test_an_answer_from_langchains_cache_tells_what_usage_the_model_told(usage, told, llm_cache):
    message = AIMessage(ANSWER, usage_metadata=usage)
    chain: Any = gst_chain(model=GenericFakeChatModel(messages=iter([message])))
    chain.invoke(QUESTION)

    cached = chain.invoke(QUESTION)

    assert cached["answer"] == ANSWER
    assert cached["metadata"]["usage"] == (told or usage)


async def test_any_model_that_is_composed_of_others_will_do():
    class Broken(GenericFakeChatModel):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            raise ConnectionError

        def _stream(self, *args: Any, **kwargs: Any) -> Any:
            raise ConnectionError

    model: Any = Broken(messages=iter([])).with_fallbacks([writing().with_config(tags=["second"])])
    chain = gst_chain(model=model)

    assert chain.invoke(QUESTION)["answer"] == ANSWER
    assert (await chain.ainvoke(QUESTION))["answer"] == ANSWER
    assert "".join(part.get("answer", "") for part in chain.stream(QUESTION)) == ANSWER
