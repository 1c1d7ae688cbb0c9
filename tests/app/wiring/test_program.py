import pickle
import subprocess
import sys
import threading
from typing import Any

import pytest
import waypoint  # type: ignore[import-untyped] # Its one module in an editable installation.
from langchain_core.runnables import RunnableLambda

from app.settings import load_settings
from app.wings.offline.model import OfflineChatModel
from app.wiring import open_index
from app.wiring.service import open_chain, process_query, retrieve
from benchmarks.documents import pdf
from chains import build_chain
from chains.errors import ConfigurationError
from chains.state import Question
from tests.corpora import write_documents

MARGINS = "---\naudience: internal\n---\n# Margins\n\nThe margin on a lost seal is 5 SGD.\n"


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> Any:
    place = tmp_path_factory.mktemp("program")
    options = {"chroma_path": place / "index", "scope_file": "off", "answer_log_days": 0}
    settings = load_settings(_env_file=None, **options)
    seals = pdf("The fee for a lost container seal is 25 SGD for each seal.")
    open_index(settings).ingest([write_documents(place / "documents", {"seals.pdf": seals, "secret.md": MARGINS})])
    return settings


def test_a_chain_by_settings_in_code_answers_and_keeps_to_the_audience(settings):
    chain = open_chain(settings)
    question = Question(question="What is the margin on a lost seal?")

    everything = chain.invoke(question)
    public = chain.invoke(question, {"configurable": {"audience": "public"}})

    assert "5 SGD" in everything["answer"]
    assert {citation["doc_id"] for citation in public["citations"]} & {"secret"} == set()
    assert "5 SGD" not in public["answer"].replace("25 SGD", "")


async def test_an_awaited_answer_starts_no_thread_but_those_that_search(settings):
    before = {thread.name for thread in threading.enumerate()}

    await open_chain(settings).ainvoke({"question": "What is the fee for a lost seal?"})

    started = {thread.name.partition("_")[0] for thread in threading.enumerate() if thread.name not in before}
    assert started <= {"asyncio", "search"}  # The event loop's, and those of the searches.


def test_every_public_name_is_there_and_importing_them_opens_nothing():
    assert [name for name in waypoint.__all__ if getattr(waypoint, name, None) is None] == []
    with pytest.raises(AttributeError, match="nothing"):
        _ = waypoint.nothing
    seen = "import sys, waypoint; print({'langchain_core', 'chromadb', 'pydantic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", seen], env={}, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n", done.stderr


@pytest.mark.parametrize("name", ["topK", "k", "searchKwargs"])
def test_a_field_that_a_question_or_a_search_lacks_is_refused_with_those_there_are(name):
    fields: dict[str, Any] = {name: 5}
    with pytest.raises(
        ConfigurationError, match=f"'{name}' is no field of a question; it has question, history, top_k"
    ):
        process_query("What is the fee?", **fields)
    with pytest.raises(ConfigurationError, match=f"'{name}' is no field of a search; it has top_k, threshold"):
        retrieve("What is the fee?", **fields)


def test_a_configured_chain_is_a_runnable_as_that_of_build_chain_is(settings):
    configured = open_chain(settings)
    built = build_chain(retriever=RunnableLambda(lambda _: []), model=OfflineChatModel())

    assert type(configured) is type(built)
    assert (configured.get_name(), configured.name) == (built.get_name(), built.name) == ("cited_answer", None)
    assert configured.get_input_jsonschema() == built.get_input_jsonschema()
    assert configured.get_output_jsonschema() == built.get_output_jsonschema()
    stages = [step.get_name() for step in configured.steps]
    assert set(stages) >= {step.get_name() for step in built.steps}
    assert {spec.id for spec in configured.config_specs} >= {spec.id for spec in built.config_specs}


@pytest.mark.parametrize("way", ["itself", "bound", "pickled", "tool"])
def test_a_configured_chain_is_bound_pickled_and_made_a_tool(settings, way):
    chain = open_chain(settings)
    question = "What is the fee for a lost container seal?"
    if way == "tool":
        tool = chain.as_tool(name="ask_seals")
        message = tool.invoke({"type": "tool_call", "id": "1", "name": "ask_seals", "args": {"question": question}})
        assert (tool.name, list(tool.args)) == ("ask_seals", ["question", "history", "filters"])
        assert "25 SGD" in message.content
        return
    ways = {
        "itself": lambda: chain,
        "bound": lambda: chain.bind(top_k=1),
        "pickled": lambda: pickle.loads(pickle.dumps(chain)),  # noqa: S301 - written here.
    }
    answer = ways[way]().invoke(Question(question=question))

    assert "25 SGD" in answer["answer"]
    assert (len(answer["documents"]) == 1) is (way == "bound")
