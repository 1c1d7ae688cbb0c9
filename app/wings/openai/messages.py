"""Convert OpenAI's messages to a question, and an answer to a chat completion."""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from app.http.errors import RequestRefusedError
from app.http.questions import HISTORY_MAX_CHARACTERS, HISTORY_MAX_TURNS
from chains.naming import cited_by_number, listed_markdown, passages_by_place, place_name, unsupported_sentences
from chains.question import check_question
from chains.state import Answer, Citation, ClosestPassage, Question
from chains.text.letters import escape_brackets, one_line

SOURCES, CLOSEST = "\n\nSources:\n\n", "\n\nClosest passages:\n\n"
UNSUPPORTED = "\n\nNo passage supports:\n\n"
WITHDRAWN = "\n\n---\n\nThe answer above is withdrawn. "
_TURNS = ("user", "assistant")
_PAIR_OR_BRACKET = re.compile(r"\\.|(?=[\[\]])")


class TextPart(BaseModel):
    """A part of a message; only text is read."""

    model_config = ConfigDict(extra="allow")

    type: Literal["text"]
    text: str


class Message(BaseModel):
    """One message; system and tool messages are ignored, because the prompt is the service's own."""

    model_config = ConfigDict(extra="allow")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart] | None = Field(None, examples=["What is the GST rate on imports?"])

    @field_validator("content", mode="before")
    @classmethod
    def _only_text(cls, content: object) -> object:
        parts = content if isinstance(content, list) else []
        if any(isinstance(part, dict) and part.get("type") != "text" for part in parts):
            msg = "only text is supported; leave out images, audio and files"
            raise ValueError(msg)
        return content

    @property
    def text(self) -> str:
        """Return the words of the message."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or ())


class Usage(BaseModel):
    """Token counts; 0 if the model reported none or was not asked."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


def question_of(messages: Sequence[Message]) -> Question:
    """Return the last message as the question, with the turns before it that fit into a history.

    Raises:
        QuestionError: the question is empty or too long.
        RequestRefusedError: the last message is not the user's.
    """
    *before, last = messages
    if last.role != "user":
        raise RequestRefusedError(400, "The last message must be the user's")
    question = Question(question=check_question(last.text))
    if turns := history_of(before):
        question["history"] = turns
    return question


def history_of(messages: Iterable[Message]) -> list[dict[str, str]]:
    """Return the last turns that fit into a history, without the lists of sources and passages below them."""
    turns = [{"role": one.role, "content": _words(one.text)} for one in messages if one.role in _TURNS]
    said = [turn for turn in turns if turn["content"].strip()][-HISTORY_MAX_TURNS:]
    total = 0

    def fits(turn: dict[str, str]) -> bool:
        nonlocal total
        total += len(turn["content"])
        return total <= HISTORY_MAX_CHARACTERS

    return list(takewhile(fits, reversed(said)))[::-1]


def _harmless(passage: ClosestPassage) -> ClosestPassage:
    """Return a passage whose markdown is escaped so that it shows no link, image or tag."""
    quote, head = (
        _PAIR_OR_BRACKET.sub(lambda found: found[0] or "\\", text).replace("<", "&lt;")
        for text in (passage["quote"], passage["table_head"])
    )
    return {**passage, "quote": quote, "table_head": head}


def _words(text: str) -> str:
    for heading in (SOURCES, UNSUPPORTED, CLOSEST):
        text = text.partition(heading)[0]
    return text


def message_of(answer: Answer) -> dict[str, Any]:
    """Return the assistant's message: the answer with its sources below, and an annotation for each link."""
    text = answer["answer"]
    return {
        "role": "assistant",
        "content": text + below(answer),
        "refusal": None,
        "annotations": annotations_of(answer["citations"]),
    }


def below(answer: Answer, *, replaced: bool = False) -> str:
    """Return the lists below the answer: sources, unsupported sentences, closest passages.

    Where a stream was `replaced` by words that are no answer, it is withdrawn and these words come before.
    """
    if replaced and answer["outcome"] not in {"answered", "unsure"}:
        return WITHDRAWN + answer["answer"] + closest_text(answer["closest"])
    return sources_text(answer["citations"]) + unsupported_text(answer) + closest_text(answer["closest"])


def unsupported_text(answer: Answer) -> str:
    """Return the unsupported sentences as a markdown list with a heading; empty if there are none."""
    lines = [f"- {one_line(sentence)}" for sentence in unsupported_sentences(answer)]
    return UNSUPPORTED + "\n".join(lines) if lines else ""


def sources_text(citations: Sequence[Citation]) -> str:
    """Return the cited sources as a numbered markdown list with a heading; empty if there are none."""
    lines = [f"{number}. {_source(citation)}" for number, citation in cited_by_number(citations).items()]
    return SOURCES + "\n".join(lines) if lines else ""


def closest_text(closest: Sequence[ClosestPassage]) -> str:
    """Return the closest passages as a numbered markdown list with a heading; empty if there are none."""
    lines = [
        listed_markdown(_link(passages[0], passages[0]["url"]), map(_harmless, passages), f"{number}. ")
        for number, passages in enumerate(passages_by_place(closest), start=1)
    ]
    return CLOSEST + "\n\n".join(lines) if lines else ""


def annotations_of(citations: Sequence[Citation]) -> list[dict[str, Any]]:
    """Return a `url_citation` for each marker whose source has a URL, with the marker's offsets."""
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": one["start"],
                "end_index": one["end"],
                "title": place_name(one["title"], one["section"]),
                "url": one["source_urls"][0],
            },
        }
        for one in citations
        if one["matched"] and one["number"] and one["source_urls"]
    ]


def usage_of(answer: Answer) -> Usage:
    """Return the tokens of an answer under OpenAI's names."""
    usage = answer["metadata"]["usage"] or {}
    names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "total_tokens": "total_tokens"}
    return Usage(**{name: usage.get(ours, 0) for name, ours in names.items()})


def finish_reason_of(answer: Answer) -> str:
    """Return why the answer ended: `length` or `content_filter` if the model said so, else `stop`."""
    reason = answer["metadata"]["finish_reason"]
    return reason if reason in {"length", "content_filter"} else "stop"


def extension_of(answer: Answer) -> dict[str, Any]:
    """Return what OpenAI's contract has no field for: outcome, confidence, and the id for feedback."""
    return {
        "outcome": answer["outcome"],
        "closest": answer["closest"],
        "unsupported": answer.get("unsupported", []),
        "draft": answer.get("draft", ""),
        "confidence": answer["confidence"],
        "trace_id": answer["metadata"]["trace_id"],
    }


def _source(citation: Citation) -> str:
    return _link(citation, next(iter(citation["source_urls"]), None))


def _link(place: Citation | ClosestPassage, url: str | None) -> str:
    name = escape_brackets(one_line(place_name(place["title"], place["section"])))
    page = f", page {place['page']}" if place["page"] else ""
    return f"[{name}]({url}){page}" if url else f"{name}{page}"
