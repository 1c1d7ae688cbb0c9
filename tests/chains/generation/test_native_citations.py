"""Citations of the model itself: the real clients, against a server that speaks the Messages API of Anthropic."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from pydantic import SecretStr

import chains
from chains.citations import CiteSources
from chains.errors import ConfigurationError
from tests.chains.gst import DOCUMENT, Shelf
from tests.loopback import Handler, listening
from tests.streams import asked, every_way

FEES = Document(
    "The fee for a permit is 2.88 dollars.",
    metadata={"title": "Fees", "section": "Permits", "doc_id": "fees", "score": 0.8},
)
QUESTION: Any = {"question": "What is the rate of GST, and what is the fee for a permit?"}


def cited(text: str, document: int | None = None, words: str = "", title: str = "") -> Any:
    """Return a block of the model's text, with the citation of a document."""
    location = {
        "type": "char_location",
        "cited_text": words,
        "document_index": document,
        "document_title": title,
        "start_char_index": 0,
        "end_char_index": len(words),
        "file_id": None,
    }
    return {"type": "text", "text": text, "citations": None if document is None else [location]}


BLOCKS = [
    cited("The fee for a permit is 2.88 dollars", 1, FEES.page_content, "[2] Fees > Permits"),
    cited(". "),
    cited("The rate of GST is 9%.\n\n", 0, DOCUMENT.page_content, "[1] GST Guide > Rate"),
    cited("An elephant may fly.", 1, "The fee", "[2] Fees > Permits"),
]


class Messages(Handler):
    """Answers POST /v1/messages with the blocks, whole or as events, and keeps what it was sent."""

    requests: list[Any] = []
    citations_first = False

    def do_POST(self) -> None:
        body = json.loads(self.body())
        self.requests.append(body)
        usage = {"input_tokens": 9, "output_tokens": 5}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None}
        ended = {"stop_reason": "end_turn", "stop_sequence": None}
        if not body.get("stream"):
            return self.reply(json.dumps({**message, **ended, "content": BLOCKS, "usage": usage}))
        events: list[Any] = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "usage": usage}}
        ]
        for index, block in enumerate(BLOCKS):
            start = {"type": "text", "text": "", "citations": []}
            words = [{"type": "text_delta", "text": f"{word} "} for word in block["text"].removesuffix(" ").split(" ")]
            words[-1]["text"] = words[-1]["text"][:-1] + " " * block["text"].endswith(" ")
            citations = [{"type": "citations_delta", "citation": one} for one in block["citations"] or []]
            deltas = [*citations, *words] if self.citations_first else [*words, *citations]
            events.append({"type": "content_block_start", "index": index, "content_block": start})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        events += [{"type": "message_delta", "delta": ended, "usage": usage}, {"type": "message_stop"}]
        told = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
        return self.reply(told, headers={"Content-Type": "text/event-stream"})


@pytest.fixture(scope="module")
def model() -> Iterator[Any]:
    anthropic = pytest.importorskip("langchain_anthropic", reason="langchain-anthropic is not installed")
    with listening(Messages) as url:
        options: Any = {"model": "claude-of-the-test", "api_key": SecretStr("none"), "max_retries": 0}
        yield anthropic.ChatAnthropic(base_url=url, **options)


def chain(model: Any, style: Any = "title") -> Any:
    shelf = Shelf(documents=[DOCUMENT, FEES])
    return chains.build_chain(retriever=shelf, model=model, citations=CiteSources(style=style), native_citations=True)


@pytest.mark.parametrize("citations_first", [True, False])
@every_way
async def test_the_citations_of_the_model_are_read_and_verified_like_ours(model, way, citations_first, monkeypatch):
    monkeypatch.setattr(Messages, "citations_first", citations_first)
    answer = await asked(chain(model), way, QUESTION)

    assert answer["answer"] == (
        "The fee for a permit is 2.88 dollars [Fees > Permits]. The rate of GST is 9%. [GST Guide > Rate]\n\n"
        "An elephant may fly. [Fees > Permits]"
    )
    found = [(one["doc_id"], one["quote"], one["support"] >= 0.6) for one in answer["citations"]]
    assert found[:2] == [("fees", FEES.page_content, True), ("gst", DOCUMENT.page_content, True)]
    assert not found[2][2]
    assert (answer["outcome"], answer["metadata"]["usage"]["output_tokens"]) == ("answered", 5)


def test_the_passages_are_documents_of_the_question_and_not_of_the_prompt(model):
    Messages.requests.clear()
    answer = chain(model, "numbered").invoke(QUESTION)
    [body] = Messages.requests
    *documents, asked = body["messages"][-1]["content"]

    assert [(one["title"], one["source"]["data"], one["citations"]) for one in documents] == [
        ("[1] GST Guide > Rate", DOCUMENT.page_content, {"enabled": True}),
        ("[2] Fees > Permits", FEES.page_content, {"enabled": True}),
    ]
    assert asked["text"].startswith(QUESTION["question"])
    assert DOCUMENT.page_content not in json.dumps(body["system"])
    assert answer["answer"].startswith("The fee for a permit is 2.88 dollars [1]. The rate of GST is 9%. [2]")


def test_a_model_that_cites_nothing_by_itself_is_refused():
    with pytest.raises(ConfigurationError, match="native_citations needs a chat model of one of anthropic"):
        chain(GenericFakeChatModel(messages=iter([])))
