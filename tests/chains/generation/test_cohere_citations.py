"""Citations of Cohere's models: the real client, against a server that speaks its chat API (v2)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from tests.chains.generation.test_native_citations import FEES, QUESTION, chain
from tests.chains.gst import DOCUMENT
from tests.loopback import Handler, listening
from tests.streams import asked, every_way

TEXT = "The fee for a permit is 2.88 dollars. The rate of GST is 9%. An elephant may fly."
SPANS = [("permit", "[2]"), ("2.88 dollars", "[2]"), ("9%", "[1]"), ("An elephant", "[2]"), ("fly", "[7]")]


class Chat(Handler):
    """Answers POST /v2/chat with the text and its citations, and keeps what it was sent."""

    requests: list[Any] = []

    def do_POST(self) -> None:
        self.requests.append(json.loads(self.body()))
        citations = [
            {
                "start": TEXT.index(span),
                "end": TEXT.index(span) + len(span),
                "text": span,
                "sources": [{"type": "document", "id": source, "document": {"id": source}}],
                "type": "TEXT_CONTENT",
            }
            for span, source in SPANS
        ]
        message = {"role": "assistant", "content": [{"type": "text", "text": TEXT}], "citations": citations}
        tokens = {"input_tokens": 9, "output_tokens": 5}
        usage = {"billed_units": tokens, "tokens": tokens}
        self.reply(json.dumps({"id": "1", "finish_reason": "COMPLETE", "message": message, "usage": usage}))


@pytest.fixture(scope="module")
def model() -> Iterator[Any]:
    cohere = pytest.importorskip("langchain_cohere", reason="langchain-cohere is not installed")  # It takes seconds.
    with listening(Chat) as url:
        yield cohere.ChatCohere(model="command-of-the-test", cohere_api_key=SecretStr("none"), base_url=url)


@every_way
async def test_the_spans_that_cite_become_markers_that_are_verified(model, way):
    Chat.requests.clear()
    answer = await asked(chain(model), way, QUESTION)
    [body] = Chat.requests

    assert [(one["id"], one["data"]["title"], one["data"]["text"]) for one in body["documents"]] == [
        ("[1]", "[1] GST Guide > Rate", DOCUMENT.page_content),
        ("[2]", "[2] Fees > Permits", FEES.page_content),
    ]
    assert answer["answer"] == (
        "The fee for a permit is 2.88 dollars [Fees > Permits]. The rate of GST is 9% [GST Guide > Rate]. "
        "An elephant [Fees > Permits] may fly."
    )
    found = [(one["doc_id"], one["quote"], one["support"] >= 0.6) for one in answer["citations"]]
    assert found[:2] == [("fees", FEES.page_content, True), ("gst", DOCUMENT.page_content, True)]
    assert not found[2][2]
    assert answer["metadata"]["usage"]["output_tokens"] == 5
