"""The state of the pipeline: a Question goes in, each stage adds a field, an Answer comes out."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import BaseMessage
from pydantic import Field
from typing_extensions import TypedDict

Outcome = Literal[
    "answered",
    "unsure",
    "no_results",
    "declined",
    "ungrounded",
    "blocked",
    "degraded",
    "small_talk",
    "question_back",
    "redirected",
]

CitationStyle = Literal["title", "numbered"]
"""`[Title > Section]`, or `[1]`."""

SO_FAR = "so_far"
"""In a stream: the `citations` and `unsupported` ranges of the next words, which add up to those so far."""


Similarity = Annotated[
    float | None, Field(description="The passage's similarity to the question, 0 to 1; null where unknown.")
]


class Hit(TypedDict):
    """Which part of a message found a passage, at what rank (0 is the best), and its similarity to that part."""

    part: int
    rank: int
    score: float | None


class Passage(TypedDict):
    """One retrieved chunk: its text, where it comes from, and its cosine similarity to the question.

    `score` is between 0 and 1, and None where the retriever gives no scores. `hits` is there where the message holds
    several questions; `score` is then the best of theirs.
    """

    content: str
    metadata: dict[str, Any]
    score: float | None
    hits: NotRequired[list[Hit]]


class Context(TypedDict):
    """The text the model is shown, and the passages in it, in the order shown, as they were shown."""

    text: str
    passages: list[Passage]


class Citation(TypedDict):
    """A marker in the answer, and the passage that it cites."""

    raw: Annotated[str, Field(description="The marker as it stands in the answer.", examples=["[GST Guide > Rate]"])]
    number: Annotated[int | None, Field(description="Its number, by first appearance.")]
    title: str
    section: str | None
    page: int | None
    doc_id: str | None
    matched: bool
    source_urls: list[str]
    score: Similarity
    start: Annotated[int, Field(description="Start offset of the marker in the answer, in characters.")]
    end: int
    quote: Annotated[str, Field(description="The words of the source that support it.")]
    support: Annotated[float, Field(description="How well they support it, 0 to 1.")]
    attributed: Annotated[bool, Field(description="Attributed by us, without a marker of the model.")]
    contradicted: bool


class Source(TypedDict):
    """An external page that a matched citation leads to."""

    title: str
    org: str | None
    url: str
    section: str | None
    page: int | None


class RelatedDocument(TypedDict):
    """A document with retrieved passages."""

    title: str
    category: str | None
    doc_id: str | None
    url: str | None


class ClosestPassage(TypedDict):
    """A retrieved passage near a question that was not answered."""

    doc_id: str | None
    title: str
    section: str | None
    page: int | None
    url: str | None
    quote: Annotated[str, Field(description="The passage, or what of it stands around the marked words, in markdown.")]
    start: Annotated[int, Field(description="Where the quote begins in the passage, in characters.")]
    end: int
    marked: Annotated[str, Field(description="The words of it that fit the question best; empty where none is sure.")]
    table_head: Annotated[str, Field(description="Head of the table that the quote begins in the middle of.")]
    score: Similarity


class PartConfidence(TypedDict):
    """How far the answer to one question of several can be trusted; `level` is "none" where it is left open."""

    level: str
    score: float
    reason: str


class Confidence(TypedDict):
    """How far the answer can be trusted; `parts` are the questions of a message that holds several, in its order."""

    level: str
    score: Annotated[float, Field(description="0 to 1; determines the level.")]
    reason: Annotated[str, Field(examples=["7 relevant sources with 3 citations"])]
    factors: dict[str, float]
    parts: NotRequired[list[PartConfidence]]


class SafetyVerdict(TypedDict):
    """What is known of a question before it is searched for; `refusal` is what a blocked one is answered with.

    `canary` are random words of this call, which stand in its prompt and in no answer.
    """

    action: Literal["none", "guarded", "blocked"]
    reason: str | None
    refusal: str | None
    redacted: list[str]
    injection: float
    canary: str


class Moderation(TypedDict):
    """The moderator's verdict on the question."""

    result: Annotated[Literal["allowed", "flagged", "failed"], Field(description="failed: no verdict in time.")]
    categories: list[str]


class ModerationVerdict(Moderation):
    """What the moderator said, and what a flagged question is answered with."""

    refusal: str | None


class SafetyReport(TypedDict):
    """What the checks of question, passages and answer found."""

    action: Literal["none", "guarded", "blocked"]
    reason: str | None
    redacted: Annotated[list[str], Field(description="Kinds of personal data that were removed from the question.")]
    injection: Annotated[float, Field(description="How likely the question is an attack, 0 to 1.")]
    passages_dropped: int
    links_removed: Annotated[int, Field(description="Links, images and tags that were removed from the answer.")]
    moderation: NotRequired[Annotated[Moderation | None, Field(description="Null if no moderator was asked.")]]


class Metadata(TypedDict):
    """Details of the run; times in milliseconds, usage in tokens."""

    query: str
    search_query: str
    chunks_retrieved: int
    chunks_used: int
    latency_ms: float
    timings_ms: dict[str, float]
    model: str | None
    usage: dict[str, int] | None
    finish_reason: str | None
    cache: str | None
    trace_id: str | None
    intent: NotRequired[Annotated[str | None, Field(description="Topic of a question that no document answers.")]]
    safety: NotRequired[
        Annotated[SafetyReport | None, Field(description="What the safety checks found; null if nothing is checked.")]
    ]


class Question(TypedDict):
    """What the chain is invoked with; only `question` is needed.

    `redacted` names what was taken out of the question before the chain got it. `language`, such as `id`, is that of
    the texts that replace an answer; English where there is no translation. `filters` narrow the documents that are
    searched (`chains.retrieval.filters`).
    """

    question: str
    history: NotRequired[list[Any]]
    top_k: NotRequired[int]
    threshold: NotRequired[float]
    redacted: NotRequired[list[str]]
    session_id: NotRequired[str]
    language: NotRequired[str]
    filters: NotRequired[dict[str, Any]]


SMALL_TALK, UNDERSPECIFIED = "small_talk", "underspecified"
"""The intents of thanks and greetings, and of a question that names no subject."""


class Redirect(TypedDict):
    """Why a question is not answered from documents: its intent, and the reply."""

    intent: str
    text: str


class AskedPart(TypedDict):
    """One question of a message that holds several: the user's words, and the query that stands alone."""

    question: str
    query: str


class Readings(TypedDict, total=False):
    """What reformulation may find in a message.

    `parts` are the questions of a message that holds several. `translation` is the question in English, where it
    was asked in a language that the documents are not in: from there on it is read and answered in its place. `foreign`
    says that it is in such a language and has no translation. `translation_redacted` names the kinds of personal data
    that were taken out of the translation.
    """

    parts: list[AskedPart]
    translation: str
    translation_redacted: list[str]
    foreign: bool


class Reformulated(Readings):
    """What reformulation adds: the query to search for, and the redirect of what is not searched for."""

    search_query: str
    scope: Redirect | None


class Searching(Question, Readings):
    """Before stage 1. `scope` is None for a question that is searched for; `safety` is there where it is checked."""

    safety: NotRequired[SafetyVerdict]
    search_query: NotRequired[str]
    scope: NotRequired[Redirect | None]


class SearchResult(TypedDict):
    """What a search gives; `nearest` are passages below the threshold, where none reaches it."""

    documents: list[Passage]
    nearest: list[Passage]


class Retrieved(Searching):
    """After stage 1. `moderation` is None where no moderator was asked.

    `siblings` are the other passages of the sections of `documents`, where the model is shown whole sections.
    """

    documents: list[Passage]
    nearest: NotRequired[list[Passage]]
    moderation: NotRequired[ModerationVerdict | None]
    passages_dropped: NotRequired[int]
    siblings: NotRequired[list[Passage]]


class Contextualised(Retrieved):
    """After stage 2. `guard` is the system message before a suspicious question."""

    context: Context
    guard: NotRequired[str]


class Generated(Contextualised):
    """After stage 3: the model's message, and its words."""

    message: BaseMessage
    answer: str


class CitationResult(TypedDict):
    """What stage 4 adds; `replacement` is shown instead of the answer where it is not None.

    `unsupported` are the ranges of the answer's sentences that no passage supports; `draft` is what the model wrote
    where no passage supports any of it; `unanswered` are the places of the parts that the answer leaves open.
    `disagreement` are two figures of two documents for what the answer says, `older` is what another version says.
    `match` is how sure a reading without the model is of what the answer cites, 0 where it is of nothing in it.
    """

    citations: list[Citation]
    sources: list[Source]
    related_docs: list[RelatedDocument]
    closest: list[ClosestPassage]
    outcome: Outcome
    unanswered: list[int]
    disagreement: NotRequired[tuple[str, str] | None]
    older: NotRequired[str | None]
    match: NotRequired[float | None]
    replacement: str | None
    unsupported: list[tuple[int, int]]
    draft: str


class Cited(Generated, CitationResult):
    """After stage 4."""


class Scored(Cited):
    """After stage 5. `confidence` is None where nothing is answered from documents, nor should be."""

    confidence: Confidence | None


class Answer(TypedDict):
    """A cited answer and how far it can be trusted.

    A stream whose words are replaced has a `replacement` as well; `answer_translation` is there where the question was
    put into English (`chains.answer_translation`).
    """

    question: str
    answer: Annotated[str, Field(description="Markdown.", examples=["It is 9 % [GST Guide > Rate]."])]
    outcome: Outcome
    citations: list[Citation]
    sources: list[Source]
    related_docs: list[RelatedDocument]
    closest: Annotated[list[ClosestPassage], Field(description="At most three, if there is no sure answer.")]
    unsupported: Annotated[
        list[tuple[int, int]], Field(description="Ranges of the answer's sentences that no passage supports.")
    ]
    draft: Annotated[str, Field(description="What the model wrote, if no passage supports any of it; otherwise empty.")]
    confidence: Annotated[Confidence | None, Field(description="Null for small talk, questions back and redirections.")]
    documents: list[Passage]
    metadata: Metadata
    answer_translation: NotRequired[
        Annotated[str, Field(description="The answer in the language of the question, which a model wrote; no source.")]
    ]


def passages_of(part: int, passages: Sequence[Passage]) -> list[tuple[int, Passage]]:
    """Return the passages that a part of the message found, best first, scored for it, each with its place."""
    hits = [(hit, place) for place, one in enumerate(passages) for hit in one.get("hits", ()) if hit["part"] == part]
    hits.sort(key=lambda found: found[0]["rank"])
    return [(place, {**passages[place], "score": hit["score"]}) for hit, place in hits]


def is_blocked(state: Mapping[str, Any]) -> bool:
    return _blocked_text(state) is not None


def is_settled(state: Mapping[str, Any]) -> bool:
    """Return whether the reply is known before anything is judged or searched for: it is a refusal or small talk."""
    return is_blocked(state) or (state.get("scope") or {}).get("intent") == SMALL_TALK


def refusal_of(state: Mapping[str, Any]) -> str | None:
    """Return the reply to a question that is blocked or out of scope; None for others."""
    blocked, redirect = _blocked_text(state), state.get("scope")
    return blocked or (str(redirect["text"]) if redirect else None)


def _blocked_text(state: Mapping[str, Any]) -> str | None:
    verdicts = (state.get("safety"), state.get("moderation"))
    return next((str(verdict["refusal"]) for verdict in verdicts if verdict and verdict["refusal"] is not None), None)
