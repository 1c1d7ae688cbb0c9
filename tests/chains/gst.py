"""A chain over one document, with a retriever and a model that are none of ours."""

from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever

from chains import build_chain

QUESTION: Any = {"question": "Rate?"}
ANSWER = "It is 9% [GST Guide > Rate]."
DOCUMENT = Document(
    page_content="The rate of GST is 9%.",
    metadata={"title": "GST Guide", "section": "Rate", "doc_id": "gst", "score": 0.8, "category": "regulatory"},
)


class Shelf(BaseRetriever):
    """Finds its documents, whatever is asked."""

    documents: list[Document] = [DOCUMENT]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.documents


class Noting(GenericFakeChatModel):
    """A model that says what it is told, and keeps the messages that it was asked with."""

    asked: list[Any] = []

    def bind_tools(self, *args: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.asked.append(messages)
        return super()._generate(messages, *args, **kwargs)


def noting(*replies: str | AIMessage) -> Noting:
    return Noting(messages=iter(replies), asked=[])


def writing(answer: str | AIMessage = ANSWER, times: int = 9) -> BaseChatModel:
    """Return a model that writes the answer word by word."""
    return GenericFakeChatModel(messages=iter([AIMessage(answer) if isinstance(answer, str) else answer] * times))


def gst_chain(answer: str | AIMessage = ANSWER, **options: Any) -> Any:
    return build_chain(**{"retriever": Shelf(), "model": writing(answer)} | options)


def lasting(answer: Any) -> dict[str, Any]:
    """Return what is the same in every call."""
    return {name: value for name, value in answer.items() if name != "metadata"}
