"""Arguments and results of the tools; clients see them as schemas."""

from typing import Literal

from pydantic import BaseModel, Field

from chains.question import QUERY_MAX_CHARACTERS
from chains.state import Outcome


class AskMessage(BaseModel):
    """One message of the conversation before the question."""

    role: Literal["user", "assistant"]
    content: str


class AskInput(BaseModel):
    """A question."""

    question: str = Field(
        min_length=1, max_length=QUERY_MAX_CHARACTERS, description="One question, in a full sentence."
    )
    history: list[AskMessage] = Field(
        default_factory=list, max_length=20, description="The conversation before, where the question refers to it."
    )


class AnswerSource(BaseModel):
    """What a number in the answer stands for."""

    number: int
    title: str
    section: str | None
    page: int | None
    doc_id: str | None
    url: str | None
    quote: str = Field(description="The words of the source that support the answer.")
    resource: str | None = Field(description="The whole document, as a resource of this server.")


class AnswerPassage(BaseModel):
    """A passage near a question that was not answered."""

    title: str
    section: str | None
    page: int | None
    doc_id: str | None
    url: str | None
    quote: str = Field(description="The passage, in markdown.")
    marked: str = Field(description="The words of it that fit the question best; empty where none is sure.")
    score: float | None = Field(description="The similarity to the question, 0 to 1.")
    resource: str | None = Field(description="The whole document, as a resource of this server.")


class AskOutput(BaseModel):
    """The answer with markers like [1], and the source of each."""

    answer: str
    outcome: Outcome = Field(description="`answered`, `unsure` of what comes closest, or why there is no answer.")
    sources: list[AnswerSource]
    closest: list[AnswerPassage] = Field(description="At most three passages, where a question has no sure answer.")
    unsupported: list[str] = Field(description="Sentences of the answer that no passage supports.")
    confidence: str | None = Field(description="A level, like High; null where nothing was to be answered.")
    confidence_score: float | None
    trace_id: str | None


class SearchInput(BaseModel):
    """What to search for."""

    query: str = Field(min_length=1, max_length=QUERY_MAX_CHARACTERS, description="Words, or a question.")
    top_k: int = Field(8, ge=1, le=50, description="How many passages.")


class FoundPassage(BaseModel):
    """A passage of a document."""

    id: str = Field(description="Names the passage: the document, and the number of the passage in it.")
    doc_id: str
    title: str
    section: str | None
    page: int | None
    text: str
    url: str | None
    score: float | None = Field(description="The similarity to the query, 0 to 1.")
    resource: str | None = Field(description="The whole document, as a resource of this server.")


class SearchOutput(BaseModel):
    """The passages, best first."""

    passages: list[FoundPassage]
