"""OpenAI's contract, by its own client and by LangChain's."""

import threading
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from langchain_openai import ChatOpenAI
from openai import OpenAI
from pydantic import SecretStr

import prompts
from app.edge import WITHDRAWN, closest_markdown, markdown_below
from app.http.errors import RequestRefusedError
from app.http.questions import HISTORY_MAX_CHARACTERS, HISTORY_MAX_TURNS
from app.http.server import create_app
from app.wings.openai.routes import Message, history_of, question_of
from chains.state import ClosestPassage
from tests.access import key_entry, serving, settings_over
from tests.fakes import MODEL, Reply, fake_groq
from tests.served import QUESTION, answering, guide_services, served, small_services

NUMBERED = "It is 9 % [1]."
SHOWN = "It is 9 % [1].\n\nSources:\n\n1. [GST Guide > Rate](https://example.org/gst)"
OTHER_MODEL = "llama-3.3-70b-versatile"
ASKED: Any = [{"role": "user", "content": QUESTION}]
LINK = {
    "type": "url_citation",
    "url_citation": {"start_index": 10, "end_index": 13, "title": "GST Guide > Rate", "url": "https://example.org/gst"},
}


services = guide_services(llm_allowed_models=OTHER_MODEL)


@pytest.fixture(scope="module")
def client(url) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        yield client


_answers = answering(NUMBERED)


def test_the_answer_has_its_citations_in_the_text_and_as_annotations(client):
    told = client.chat.completions.create(model=MODEL, messages=ASKED)

    [choice] = told.choices
    assert choice.message.content == SHOWN
    assert [one.model_dump() for one in choice.message.annotations or []] == [LINK]
    assert choice.message.content[10:13] == "[1]"
    assert (choice.finish_reason, told.model, told.object) == ("stop", MODEL, "chat.completion")
    assert told.usage
    assert told.usage.total_tokens == told.usage.prompt_tokens + told.usage.completion_tokens > 0
    assert (told.model_extra or {})["waypoint"]["outcome"] == "answered"


def streamed(client: OpenAI, **options: Any) -> tuple[str, list[Any], Any]:
    """Return the words of a stream, its annotations, and its last chunk."""
    chunks = list(client.chat.completions.create(model=MODEL, messages=ASKED, stream=True, **options))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    annotations = [one for delta in deltas for one in (delta.model_extra or {}).get("annotations", [])]
    return "".join(delta.content or "" for delta in deltas), annotations, chunks[-1]


def test_a_stream_gives_the_same_words_and_annotations(client):
    words, annotations, last = streamed(client)

    assert words == SHOWN
    assert annotations == [{"index": 0, **LINK}]
    assert last.choices[0].finish_reason == "stop"
    assert last.usage is None


def test_each_sentence_of_a_stream_comes_with_its_annotations(client, groq):
    groq.replies[:] = [Reply("The rate of GST is 9 % [1]. It is paid on imports, and the rate is 9 % [1].")] * 2
    stream = client.chat.completions.create(model=MODEL, messages=ASKED, stream=True)
    seen = [chunk.choices[0].delta for chunk in stream]
    with client.chat.completions.stream(model=MODEL, messages=ASKED) as stream:
        final = stream.get_final_completion().choices[0].message
    annotated = [(one.content, len((one.model_extra or {}).get("annotations", []))) for one in seen if one.content]

    assert annotated[0] == ("The rate of GST is 9 % [1]. ", 1)
    assert sum(count for _, count in annotated) == 2
    places = [one.url_citation for one in final.annotations or []]
    assert [final.content[place.start_index : place.end_index] for place in places] == ["[1]", "[1]"]


def test_a_stream_tells_its_usage_where_it_is_asked_to(client):
    last = streamed(client, stream_options={"include_usage": True})[2]

    assert last.choices == []
    assert last.usage.total_tokens > 0


def test_words_arrive_while_the_model_still_writes(client, groq):
    written = threading.Event()
    groq.replies[:] = [Reply(" ".join([NUMBERED] * 3), release=written)]
    stream = client.chat.completions.create(model=MODEL, messages=ASKED, stream=True)
    words = next(chunk.choices[0].delta.content for chunk in stream if chunk.choices[0].delta.content)
    written.set()
    *_, last = stream

    assert words.startswith("It")
    assert last.model_extra["waypoint"]["outcome"] == "answered"


def test_a_stream_shows_nothing_that_no_passage_supports(client, groq):
    groq.replies[:] = [Reply("Elephants fly.")]
    words, annotations, last = streamed(client)

    assert words.startswith("I could not find a passage")
    assert "Elephants" not in words
    assert last.model_extra["waypoint"]["draft"] == "Elephants fly."
    assert annotations == []


def passage(quote: str, *, section: str | None = None, table_head: str = "") -> ClosestPassage:
    place: Any = {"doc_id": "d", "title": "T", "section": section, "page": None, "url": None}
    return place | {
        "quote": quote,
        "start": 0,
        "end": len(quote),
        "marked": "",
        "table_head": table_head,
        "score": None,
    }


CLOSEST = "\n\nClosest passages:\n\n1. [GST Guide > Rate](https://example.org/gst)\n\n   The rate of GST"


def test_the_closest_passages_stand_below_a_decline_and_in_the_extension(client, groq):
    groq.replies[:] = [Reply("I don't have specific information about that.")] * 2
    told = client.chat.completions.create(model=MODEL, messages=ASKED)
    words, _, last = streamed(client)

    content = told.choices[0].message.content or ""
    assert CLOSEST in content
    assert words == content
    assert [one["title"] for one in last.model_extra["waypoint"]["closest"]] == ["GST Guide"]


def test_what_a_document_says_is_no_markup_of_the_message():
    quote = "See \\\\[here](https://evil.example)\n\\[sic\\] <img src=x>"

    assert closest_markdown([passage(quote)]).endswith(
        "1. T\n\n   See \\\\\\[here\\](https://evil.example)\n   \\[sic\\] &lt;img src=x>"
    )


def test_passages_of_one_place_stand_below_its_name_and_tables_have_their_head():
    passages = [passage("Prices:"), passage("| Dog | £52 |", table_head="| Animal | Price |\n|---|---|")]

    assert closest_markdown([*passages, passage("Other.", section="Hours")]).endswith(
        "1. T\n\n   Prices:\n\n   | Animal | Price |\n   |---|---|\n   | Dog | £52 |\n\n2. T > Hours\n\n   Other."
    )


def test_an_unsure_answer_is_corrected_and_not_withdrawn():
    answer: Any = {"answer": "Am nächsten kommt:", "outcome": "unsure", "citations": [], "closest": []}

    assert markdown_below(answer, replaced=True) == ""
    assert markdown_below(answer | {"outcome": "ungrounded"}, replaced=True).startswith(WITHDRAWN)


def test_the_closest_passages_are_no_part_of_the_conversation_that_follows():
    said = Message(role="assistant", content="Nothing.\n\nClosest passages:\n\n1. T: “words”")

    assert history_of([said]) == [{"role": "assistant", "content": "Nothing."}]


def test_the_turns_before_the_question_are_its_history(client, groq):
    before: Any = [
        {"role": "system", "content": "You are a pirate."},
        {"role": "user", "content": "What is GST?"},
        {"role": "assistant", "content": "A tax [1].\n\nSources:\n\n1. [GST Guide](https://example.org)"},
    ]
    asked: Any = [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
    client.chat.completions.create(model=MODEL, messages=before + asked)

    [_, *turns] = groq.requests[-1]["messages"]
    assert turns == [
        {"role": "user", "content": "What is GST?"},
        {"role": "assistant", "content": "A tax."},
        {"role": "user", "content": f"{QUESTION}\n\n{prompts.load('reminder')}"},
    ]


@pytest.mark.parametrize("length", [10, HISTORY_MAX_CHARACTERS // 4])
def test_of_a_long_conversation_the_last_turns_are_kept(length):
    turns = [Message(role="user", content=f"{number} ".ljust(length, "x")) for number in range(50)]
    kept = history_of(turns)

    assert [turn["content"].split()[0] for turn in kept] == [str(n) for n in range(50 - len(kept), 50)]
    assert len(kept) == min(HISTORY_MAX_TURNS, HISTORY_MAX_CHARACTERS // length)


def test_a_conversation_that_does_not_end_with_the_user_is_refused():
    with pytest.raises(RequestRefusedError, match="must be the user's"):
        question_of([Message(role="assistant", content="Hello.")])


def test_the_models_that_answer_are_listed_and_answer(client, groq):
    assert [model.id for model in client.models.list()] == [MODEL, OTHER_MODEL]
    assert client.models.retrieve(OTHER_MODEL).owned_by == "waypoint"

    client.chat.completions.create(model=OTHER_MODEL, messages=ASKED)
    assert groq.requests[-1]["model"] == OTHER_MODEL


@pytest.mark.parametrize(
    ("options", "status", "told"),
    [
        ({"model": "gpt-4o"}, 404, ("model_not_found", "model")),
        ({"response_format": {"type": "json_object"}}, 400, (None, "response_format")),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, 400, (None, "tools")),
        ({"messages": []}, 400, (None, None)),
        ({"model": "x" * 100_000}, 400, (None, None)),
        ({"messages": [{"role": "user", "content": " "}]}, 400, (None, None)),
        ({"messages": [{"role": "user", "content": "x" * 4001}]}, 400, (None, None)),
        ({"messages": [{"role": "user", "content": "x" * 200_000}]}, 413, (None, None)),
        ({"n": 2}, 400, (None, None)),
    ],
)
def test_what_is_not_served_is_refused_in_openais_form(client, options, status, told):
    with pytest.raises(openai.APIStatusError) as caught:
        client.chat.completions.create(**({"model": MODEL, "messages": ASKED} | options))

    error = caught.value
    assert error.status_code == status
    assert isinstance(error.body, dict)
    assert error.body["type"] == "invalid_request_error"
    assert (error.code, error.param) == told


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_that_is_away_is_an_error_of_its_own_status_streamed_or_not(client, groq, stream):
    groq.replies[:] = [Reply(status=429)]
    with pytest.raises(openai.InternalServerError) as caught:
        list(client.chat.completions.create(model=MODEL, messages=ASKED, stream=stream))

    assert caught.value.status_code == 503
    assert isinstance(caught.value.body, dict)
    assert caught.value.body["type"] == "server_error"


def test_identity_and_rate_are_refused_in_openais_form(corpus, groq):
    keys = key_entry("one", "one", "ask")
    groq.replies[:] = []
    with serving(settings_over(corpus, groq.url, auth_mode="api_key", api_keys=keys, rate_limit="1/hour")) as url:
        stranger = OpenAI(base_url=f"{url}/v1", api_key="wrong", max_retries=0)
        with stranger, pytest.raises(openai.AuthenticationError) as unknown:
            stranger.models.list()
        with OpenAI(base_url=f"{url}/v1", api_key="one", max_retries=0) as known:
            known.chat.completions.create(model=MODEL, messages=ASKED)
            with pytest.raises(openai.RateLimitError) as often:
                known.chat.completions.create(model=MODEL, messages=ASKED)

    assert unknown.value.code == "invalid_api_key"
    assert often.value.code == "rate_limit_exceeded"
    assert int(often.value.response.headers["Retry-After"]) > 0


def test_without_a_provider_the_offline_answerer_is_the_model(tmp_path):
    with fake_groq() as groq:
        services = small_services(tmp_path, groq, llm_api_key=None)
        with served(create_app(services)) as url, OpenAI(base_url=f"{url}/v1", api_key="none") as client:
            told = client.chat.completions.create(model="offline", messages=ASKED)
            models = [model.id for model in client.models.list()]

    assert models == ["offline"]
    assert told.choices[0].message.annotations


def langchain_model(url: str) -> ChatOpenAI:
    return ChatOpenAI(base_url=f"{url}/v1", api_key=SecretStr("none"), model=MODEL, max_retries=0, stream_usage=True)


def test_langchains_chat_model_asks_and_streams(url, groq):
    groq.replies[:] = [Reply(NUMBERED)] * 2
    model = langchain_model(url)
    message = model.invoke(QUESTION)
    chunks = list(model.stream(QUESTION))

    assert message.text == "".join(chunk.text for chunk in chunks) == SHOWN
    assert message.usage_metadata
    assert message.usage_metadata["total_tokens"] > 0
    assert any(chunk.usage_metadata for chunk in chunks)
    assert len([chunk for chunk in chunks if chunk.text]) > 1


@pytest.mark.parametrize("kind", ["image_url", {}])
def test_a_picture_is_refused_in_words_that_say_what_to_do(client, kind):
    picture = {"type": kind, "image_url": {"url": "https://example.org/x.png"}}
    with pytest.raises(openai.BadRequestError, match="only text is supported; leave out images, audio and files"):
        client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": [picture]}])
