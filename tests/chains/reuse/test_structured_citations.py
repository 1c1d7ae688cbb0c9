"""Citations of structured replies and of OpenAI's search of files: the real clients, against servers on loopback."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_groq import ChatGroq
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field, SecretStr

from chains import CitationMiddleware, format_context, structured_citations
from tests.fakes import MODEL, Reply, fake_groq
from tests.loopback import Handler, listening
from tests.streams import asked

TICKETS = Document(
    "A day ticket costs 6.50 EUR from 1 March 2026 on. Children below 12 years swim free of charge.",
    metadata={"title": "Prices of the pool", "section": "Tickets", "source_urls": ["https://example.org/pool"]},
)
HOURS = Document("The pool opens at 7 am and closes at 9 pm.", metadata={"title": "Hours", "page": 2})
SHELF = [HOURS, TICKETS]


class Ticket(BaseModel):
    """A ticket of the pool."""

    summary: str = Field(description="One sentence.")
    price: float = Field(description="What a day ticket costs")
    valid_from: date
    children_free: bool
    citations: list[int] = Field(description="Numbers of the documents that say this.")


def verdicts(response: Any) -> list[tuple[str, int, bool]]:
    """Return the field, the number and the verdict of each citation."""
    return [
        (one["extras"]["field"], one["extras"]["number"], one["extras"]["verified"])
        for one in structured_citations(response, SHELF)
    ]


PROMPT = ChatPromptTemplate([("system", "Answer from these documents.\n{context}"), ("human", "{question}")])
SAID: Any = {
    "summary": "Children below 12 years swim free of charge.",
    "price": 6.5,
    "valid_from": "2026-03-01",
    "children_free": True,
    "citations": [1, 2],
}


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_each_value_beside_the_numbers_is_checked_in_a_chain_of_ones_own(way):
    def context(state: Any) -> str:
        return format_context(state["documents"], style="numbered")["text"]

    def citations(state: Any) -> list[Any]:
        return structured_citations(state["response"], state["documents"])

    with fake_groq() as groq:
        groq.replies = [Reply(tool_call=("Ticket", SAID))]
        model = ChatGroq(model_name=MODEL, api_key=SecretStr("gsk_test"), base_url=groq.url, max_retries=0)
        chain: Any = (
            RunnablePassthrough.assign(documents=RunnableLambda(lambda state: SHELF))
            | RunnablePassthrough.assign(context=context)
            | RunnablePassthrough.assign(response=PROMPT | model.with_structured_output(Ticket))
            | RunnablePassthrough.assign(citations=citations)
        )
        state = await asked(chain, way, {"question": "What does a ticket cost?"})

    assert state["response"] == Ticket(**SAID)
    assert [(one["extras"]["field"], one["extras"]["verified"]) for one in state["citations"]] == [
        ("summary", True),
        ("price", True),
        ("valid_from", True),
    ]
    assert {(one["title"], one["url"], one["extras"]["number"]) for one in state["citations"]} == {
        ("Prices of the pool", "https://example.org/pool", 2)
    }
    assert state["citations"][0]["cited_text"] == "Children below 12 years swim free of charge."


def test_a_wrong_figure_and_a_number_of_no_document_are_not_verified():
    said = Ticket(**SAID | {"price": 7.5, "citations": [2, 9]})

    assert verdicts(said) == [("summary", 2, True), ("price", 2, False), ("valid_from", 2, True)]
    assert verdicts({"opens": "at 7 am", "citations": [9]}) == [("opens", 9, False)]


@dataclass
class Line:
    """A line of a price list."""

    text: str
    citations: list[int]


def test_markers_in_texts_and_numbers_of_nested_records_cite_for_their_own_values():
    said = {
        "answer": "The pool opens at 7 am [1], and a day ticket costs 6.50 EUR [2].",
        "lines": [Line("The pool closes at 9 pm. It is open on Mars.", [1])],
        "citations": [],
    }

    assert verdicts(said) == [
        ("answer", 1, True),
        ("answer", 2, True),
        ("lines[0].text", 1, True),
        ("lines[0].text", 1, False),
    ]


FOUND = "A day ticket for the pool costs 6.50 EUR."
TEXT = "A day ticket costs 6.50 EUR. It is free on Mondays."
PRICES: Any = {"type": "file_citation", "file_id": "file-1", "filename": "prices.md"}
WEB: Any = {"type": "url_citation", "start_index": 0, "end_index": 28, "title": "Pool", "url": "https://example.org"}


class Responses(Handler):
    """Answers POST /v1/responses with the text, after a search of files; its results only where they are included."""

    def do_POST(self) -> None:
        body = json.loads(self.body())
        result = {"file_id": "file-1", "filename": "prices.md", "score": 0.9, "text": FOUND, "attributes": {}}
        results = [result] if "file_search_call.results" in (body.get("include") or []) else None
        search = {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["ticket"]}
        annotations = [{**PRICES, "index": 28}, {**PRICES, "index": len(TEXT)}, {**PRICES, "file_id": "2", "index": 28}]
        content = [{"type": "output_text", "text": TEXT, "annotations": [*annotations, WEB]}]
        message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
        reply = {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": body["model"],
            "status": "completed",
            "output": [{**search, "results": results}, message],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": body["tools"],
        }
        self.reply(json.dumps(reply))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with listening(Responses) as url:
        yield f"{url}/v1"


def annotations(url: str, **options: Any) -> list[Any]:
    """Return the citations of an agent's answer."""
    model = ChatOpenAI(model="gpt-of-the-test", api_key=SecretStr("none"), base_url=url, max_retries=0, **options)
    search: Any = {"type": "file_search", "vector_store_ids": ["vs_1"]}
    agent = create_agent(model, tools=[search], middleware=[CitationMiddleware()])
    asked: Any = {"messages": [("human", "What does a ticket cost?")]}
    [block] = [one for one in agent.invoke(asked)["messages"][-1].content_blocks if one["type"] == "text"]
    return block.get("annotations", [])


def test_what_a_file_says_is_checked_against_the_words_that_the_search_found(url):
    right, wrong, unknown, web = annotations(url, include=["file_search_call.results"])

    assert (right["title"], right["cited_text"], right["extras"]["verified"]) == ("prices.md", FOUND, True)
    assert (wrong["extras"]["file_index"], wrong["extras"]["verified"]) == (len(TEXT), False)
    assert not any("verified" in one.get("extras", {}) for one in (unknown, web))
    assert web["url"] == "https://example.org"


def test_without_the_results_the_citations_of_files_stay_as_they_are(url):
    assert all("verified" not in one.get("extras", {}) for one in annotations(url))
