"""Answer a chat completion with a quote from its context, whole or as a stream."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import prompts

_ENTRY = re.compile(r"^(\[\d+\]) [^\n]+\n(.+?)(?=^\[\d+\] [^\n]+\n|^=====|^</context>|\Z)", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"[A-Z][^.\n|#*\[\]]{20,}\.(?=\s|$)")
_TOKEN = re.compile(r"\bref [a-z]{6}\b")


def answer_to(body: dict[str, Any]) -> str:
    """Return a sentence of the first passage with its citation, after the question's `ref abcdef`, if it has one."""
    _, _, context = body["messages"][0]["content"].partition("<context>\n")
    token = _TOKEN.search(question_of(body))
    opening = f"Your {token.group()}. " if token else ""
    for entry in _ENTRY.finditer(context):
        if sentence := _SENTENCE.search(entry.group(2)):
            return f"{opening}{sentence.group()[:-1]} {entry.group(1)}."
    return f"{opening}Nothing was shown."


def question_of(body: dict[str, Any]) -> str:
    """Return what the user asked last, without what the chain writes behind it."""
    content = str(body["messages"][-1]["content"]).removesuffix(f"\n\n{prompts.load('reminder')}")
    return content.rpartition(f"\n\n{prompts.load('parts').partition('{')[0]}")[0] or content


def completion(
    body: dict[str, Any], text: str, *, finish_reason: str = "stop", said: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the whole reply; a message may hold calls of tools, say, in place of the text."""
    message = {"role": "assistant", **(said or {"content": text})}
    choices = [{"index": 0, "message": message, "finish_reason": finish_reason}]
    return _head(body, "chat.completion") | {"choices": choices, "usage": _usage(body, text)}


def events(
    body: dict[str, Any],
    text: str,
    *,
    at_groq: bool,
    finish_reason: str = "stop",
    said: Mapping[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the reply word by word; usage comes with the last event at Groq, after it where OpenAI is asked for it."""
    head = _head(body, "chat.completion.chunk")
    for number, piece in enumerate([said] if said else [{"content": piece} for piece in _pieces(text)]):
        delta = {**piece, **({"role": "assistant"} if number == 0 else {})}
        yield head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    last = head | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]}
    yield last | ({"x_groq": {"id": "req_1", "usage": _usage(body, text)}} if at_groq else {})
    if (body.get("stream_options") or {}).get("include_usage"):
        yield head | {"choices": [], "usage": _usage(body, text)}


def _pieces(text: str) -> list[str]:
    """Return the words, or for a huge text as many pieces as it has thousands of characters."""
    if len(text) > 10_000:
        return [text[start : start + 1_000] for start in range(0, len(text), 1_000)]
    return re.findall(r"\S+\s*", text)


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": body["model"]}


def _usage(body: dict[str, Any], text: str) -> dict[str, int]:
    prompt = sum(len(message["content"] or "") for message in body["messages"]) // 4
    completion = len(text) // 4
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
