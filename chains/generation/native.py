"""Send passages as documents that the model cites by itself, and read its citations as the numbers of the passages."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from chains.errors import ConfigurationError
from chains.generation import compat
from chains.state import Passage
from chains.text.letters import one_line

ATTACHED = "The numbered documents are attached to the question; the title of each begins with its number."
"""Stands in the prompt in place of the documents."""

# A context's text has a bracket at the beginning of a line only where a document begins.
_HEADER = re.compile(r"^(\[\d+\] .*)\n", re.MULTILINE)
_BETWEEN = re.compile(r"\s*^(?:---|={5} .* ={5})\s*\Z", re.MULTILINE)
_NUMBER = re.compile(r"\[(\d+)\]")
_SENTENCE_END = re.compile(r"[.!?]\s")

MakeBlock = Callable[[str, str], dict[str, Any]]
"""Makes the block of a document from its title and its text."""


def _document(title: str, text: str) -> dict[str, Any]:
    source = {"type": "text", "media_type": "text/plain", "data": text}
    return {"type": "document", "source": source, "title": title, "citations": {"enabled": True}}


def _search_result(title: str, text: str) -> dict[str, Any]:
    cited = {"type": "search_result", "source": title, "title": title, "citations": {"enabled": True}}
    return cited | {"content": [{"type": "text", "text": text}]}


def _cohere_document(title: str, text: str) -> dict[str, Any]:
    return {"id": title.partition("]")[0] + "]", "data": {"title": title, "text": text}}


# By LangChain's names of the providers that cite what they are given with a question.
_FORMS: dict[str, MakeBlock] = {
    "anthropic": _document,
    "anthropic-bedrock": _document,
    "amazon_bedrock": _search_result,
    "cohere": _cohere_document,
}


def citable(model: Any) -> MakeBlock:
    """Return what makes the documents that a model cites by itself.

    Raises ConfigurationError where its provider cites nothing that stands in a prompt.
    """
    chat_model = model
    while chat_model is not None and not isinstance(chat_model, BaseChatModel):
        chat_model = getattr(chat_model, "bound", None)
    provider = compat.tracing_parameters(chat_model, None).get("ls_provider") if chat_model else None
    if provider not in _FORMS:
        msg = f"native_citations needs a chat model of one of {', '.join(_FORMS)}, not of {provider!r}; leave it out"
        raise ConfigurationError(msg)
    return _FORMS[provider]


def attach(asked: BaseMessage, context: str, make: MakeBlock) -> BaseMessage:
    _, *parts = _HEADER.split(context)
    made = [make(title, _BETWEEN.sub("", text).strip()) for title, text in zip(parts[::2], parts[1::2], strict=True)]
    if make is _cohere_document:
        return asked.model_copy(update={"additional_kwargs": {**asked.additional_kwargs, "documents": made}})
    return asked.model_copy(update={"content": [*made, {"type": "text", "text": str(asked.text)}]})


def cites_in_streams(make: MakeBlock) -> bool:
    """Return False where the client of LangChain leaves the citations out of a stream: langchain-cohere 0.6 does."""
    return make is not _cohere_document


class NativeMarkers:
    """Writes the numbers of the cited passages behind each block of a message's text that has annotations.

    LangChain's `content_blocks` give the annotations of all providers in one form. A text is split into blocks where a
    citation begins and ends; in a stream the annotations of a block may come before its words.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._texts = [one_line(passage["content"]) for passage in passages]
        self._index: Any = None
        self._numbers: list[int] = []
        self._blanks = ""  # At the end of the words so far: a number stands before them.

    def feed(self, message: BaseMessage) -> str:
        """Take the next piece of a message, or a whole one, and return its text with numbers."""
        text = ""
        if spans := message.additional_kwargs.get("citations"):
            return self._with_numbers(str(message.text), spans)
        for block in message.content_blocks:
            if block["type"] != "text":
                continue
            index = block.get("index")
            if index is None or index != self._index:
                text += self.flush()
            words = self._blanks + block["text"]
            shown = words.rstrip()
            text, self._index, self._blanks = text + shown, index, words[len(shown) :]
            found = map(self._number, block.get("annotations", []))
            self._numbers += [number for number in found if number and number not in self._numbers]
        return text

    def flush(self) -> str:
        rest = "".join(f" [{number}]" for number in self._numbers) + self._blanks
        self._numbers, self._blanks = [], ""
        return rest

    def _with_numbers(self, text: str, spans: Sequence[Any]) -> str:
        """Return a text of Cohere with numbers behind the spans that cite; a sentence names a source once in a row."""
        cited = [(one.end, [self._number({"title": source.id}) for source in one.sources]) for one in spans]
        cited = sorted((end, sorted({*numbers} - {0})) for end, numbers in cited)
        following = [*cited[1:], (len(text), [])]
        for (end, numbers), (then, others) in reversed(list(zip(cited, following, strict=True))):
            if numbers != others or _SENTENCE_END.search(text, end, then):
                text = text[:end] + "".join(f" [{number}]" for number in numbers) + text[end:]
        return text

    def _number(self, annotation: Any) -> int:
        """Return the number of the passage that an annotation cites; 0 where it is none that was shown."""
        titled = _NUMBER.match(annotation.get("title") or "")
        if titled and 1 <= int(titled[1]) <= len(self._texts):
            return int(titled[1])
        cited = one_line(annotation.get("cited_text") or "")
        return next((number for number, text in enumerate(self._texts, start=1) if cited and cited in text), 0)
