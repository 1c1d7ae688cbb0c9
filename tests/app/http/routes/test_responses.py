"""OpenAI's Responses API, by its own client and by LangChain's."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, OpenAI
from pydantic import SecretStr

from tests.app.http.routes.test_completions import NUMBERED, SHOWN
from tests.fakes import MODEL, Reply
from tests.served import QUESTION, answering, guide_services

LINK = {
    "type": "url_citation",
    "title": "GST Guide > Rate",
    "url": "https://example.org/gst",
    "start_index": 10,
    "end_index": 13,
}
ASKED: Any = {"model": MODEL, "input": QUESTION}
EVENTS = [
    *("response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"),
    *("response.output_text.delta", "response.output_text.annotation.added", "response.output_text.done"),
    *("response.content_part.done", "response.output_item.done", "response.completed"),
]


services = guide_services()


@pytest.fixture(scope="module")
def client(url) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        yield client


_answers = answering(NUMBERED, NUMBERED)


def links(response: Any) -> list[Any]:
    [message] = response.output
    [part] = message.content
    return [{**one.model_dump(), "quote": ...} for one in part.annotations]


def test_the_answer_has_annotations_with_the_words_of_the_source(client):
    response = client.responses.create(model=MODEL, input=QUESTION)

    assert response.output_text == SHOWN
    assert links(response) == [{**LINK, "quote": ...}]
    assert "9 %" in response.output[0].content[0].annotations[0].quote
    assert (response.status, response.model, response.error) == ("completed", MODEL, None)
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens > 0
    assert response.waypoint["outcome"] == "answered"


async def test_a_stream_has_openai_s_events_in_their_order(client, url):
    seen = list(client.responses.create(model=MODEL, input=QUESTION, stream=True))
    async with (
        AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as awaited,
        awaited.responses.stream(model=MODEL, input=QUESTION) as stream,
    ):
        final = await stream.get_final_response()

    assert list(dict.fromkeys(event.type for event in seen)) == EVENTS
    assert [event.sequence_number for event in seen] == list(range(len(seen)))
    assert "".join(event.delta for event in seen if event.type == "response.output_text.delta") == SHOWN
    [added] = [event for event in seen if event.type == "response.output_text.annotation.added"]
    assert {**dict(added.annotation), "quote": ...} == {**LINK, "quote": ...}
    assert links(seen[-1].response) == links(final) == [{**LINK, "quote": ...}]
    assert final.output_text == SHOWN


@pytest.mark.parametrize("way", ["invoke", "stream", "ainvoke"])
async def test_langchain_shows_the_links_as_its_own_citations(url, way):
    model = ChatOpenAI(
        base_url=f"{url}/v1", api_key=SecretStr("none"), model=MODEL, use_responses_api=True, max_retries=0
    )
    asked: Any = [("system", "Be brief."), ("human", QUESTION)]
    if way == "stream":
        first, *rest = model.stream(asked)
        message: Any = sum(rest, first)
    else:
        message = model.invoke(asked) if way == "invoke" else await model.ainvoke(asked)

    blocks = [block for block in message.content_blocks if block["type"] == "text"]
    annotations = [one for block in blocks for one in block.get("annotations", [])]
    assert message.text == SHOWN
    assert [(one["type"], one["url"], one["title"]) for one in annotations] == [
        ("citation", "https://example.org/gst", "GST Guide > Rate")
    ]


def test_each_sentence_of_a_stream_is_followed_by_its_annotations(url, client, groq):
    said = "The rate of GST is 9 % [1]. It is paid on imports, and the rate is 9 % [1]."
    groq.replies[:] = [Reply(said)] * 2
    kinds = [event.type.rpartition("output_text.")[2] for event in client.responses.create(**ASKED, stream=True)]
    model = ChatOpenAI(base_url=f"{url}/v1", api_key=SecretStr("none"), model=MODEL, use_responses_api=True)
    first, *rest = model.stream(QUESTION)
    blocks: Any = sum(rest, first).content_blocks
    [(text, annotations)] = [(block["text"], block["annotations"]) for block in blocks if block["type"] == "text"]

    streamed = [kind for kind in kinds if kind in {"delta", "annotation.added"}]
    assert streamed == ["delta", "annotation.added", "delta", "annotation.added", "delta"]
    assert [text[one["start_index"] : one["end_index"]] for one in annotations] == ["[1]", "[1]"]


def test_a_conversation_is_read_and_what_is_no_message_left_out(client, groq):
    groq.requests.clear()
    client.responses.create(
        model=MODEL,
        instructions="Obey.",
        input=[
            {"role": "user", "content": [{"type": "input_text", "text": "What is GST?"}]},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "A tax.", "annotations": []}],
            },
            {"role": "user", "content": QUESTION},
        ],
    )

    said = [message["content"] for message in groq.requests[-1]["messages"]]
    assert "What is GST?" in said
    assert "A tax." in said
    assert "Obey." not in "".join(said)


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"background": True}, "background"),
        ({"text": {"format": {"type": "json_object"}}}, "text.format"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}]}, "input"),
        ({"input": [{"type": "reasoning", "id": "rs_1", "summary": []}]}, "input"),
        ({"input": [{"role": "boss", "content": "x"}]}, "input"),
    ],
)
def test_what_is_not_served_is_refused_by_name(client, options, param):
    with pytest.raises(openai.BadRequestError) as refused:
        client.responses.create(**{"model": MODEL, "input": QUESTION} | options)

    assert (refused.value.param, refused.value.status_code) == (param, 400)
