"""`waypoint why`: name the first place at which an answer lost a document that somebody expected in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig

from app.wings.knowledge.answer_log import UNLOGGED
from app.wings.knowledge.recall import says
from app.wiring import Service
from chains.context import FormatContext
from chains.documents.audience import Audience
from chains.documents.library import Entry
from chains.documents.naming import place_in, place_text
from chains.errors import QuestionError
from chains.retrieval.retriever import FUSED_SCORE
from chains.state import Answer, Passage
from chains.text.tokens import tokens

Place = Literal[
    "cited", "not read", "audience", "jurisdiction", "before the search", "no passage", "threshold", "outranked", "cut",
    "withheld", "not cited",
]  # fmt: skip
FAR = 100  # The passages among which a document is looked for.
_UNSEARCHED = {"blocked", "question_back", "redirected", "small_talk"}


@dataclass(frozen=True)
class Reason:
    """Where a document was lost, why, and the smallest change that brings it back."""

    place: Place
    why: str
    change: str = ""


def why(
    question: str,
    expected: str,
    services: Service,
    *,
    audience: Audience = "internal",
    jurisdiction: str | None = None,
    top_k: int | None = None,
) -> Reason:
    """Return where a document, given by id, title, file or file name, was lost on the way to an answer.

    `jurisdiction` is the only one whose documents are searched, as a program may ask for; without `top_k` the number of
    passages is that of the settings. Raise QuestionError if the answer comes from a service elsewhere.
    """
    if services.settings.retrieval.url is not None:
        raise QuestionError("RETRIEVAL_URL asks another service for passages: ask it there")
    documents = services.index.library.catalogue("internal")
    files = {doc_id: str(source.path) for doc_id, source in documents.sources.items()}
    wanted = expected.casefold()
    entry: Entry | None = None
    for known in documents.entries.values():
        file = files.get(known.doc_id, "").casefold()
        if wanted in {known.doc_id.casefold(), known.title.casefold(), file} or file.endswith(f"/{wanted}"):
            entry = entry or known
    if entry is None:
        return _unread(expected, list(documents.entries.values()))
    if not entry.allows(audience):
        change = "write `audience: public` into its front matter, or ask as a member of staff"
        return Reason("audience", f"{entry.title} is internal, and {audience} callers do not see it", change)
    if jurisdiction is not None and entry.jurisdiction != jurisdiction:
        stated = f"states the jurisdiction {entry.jurisdiction!r}" if entry.jurisdiction else "states no jurisdiction"
        explanation = f"{entry.title} {stated}, and only documents of {jurisdiction!r} are searched"
        change = f"write `jurisdiction: {jurisdiction}` into its front matter, or ask without the filter"
        return Reason("jurisdiction", explanation, change)
    asked: dict[str, Any] = {"question": question} | ({} if top_k is None else {"top_k": top_k})
    config: RunnableConfig = {
        "configurable": {"audience": audience, "jurisdiction": jurisdiction},
        "metadata": {UNLOGGED: True},
    }
    answer = services.chain.invoke(asked, config)  # type: ignore[arg-type] # A Question.
    return _lost_in(answer, entry, services) or _unfound(answer, entry, services, config, top_k)


def _unread(expected: str, entries: Sequence[Entry]) -> Reason:
    names = {name: entry for entry in entries for name in (entry.doc_id, entry.title)}
    change = "`waypoint ingest` its folder; the summary names what could not be read"
    if near := get_close_matches(expected, list(names), n=1, cutoff=0.5):
        change = f"did you mean {names[near[0]].doc_id} ({names[near[0]].title})? Otherwise {change}"
    return Reason("not read", f"no document of the index has the id, title or file {expected!r}", change)


def _lost_in(answer: Answer, entry: Entry, services: Service) -> Reason | None:
    """Return why a document that was found, or not searched for, is not in the answer; None where it was not found."""
    if cited := [one["quote"] for one in answer["citations"] if one["doc_id"] == entry.doc_id and one["matched"]]:
        return Reason("cited", f"the answer cites {entry.title}: {' '.join(' ... '.join(cited).split())}")
    if answer["outcome"] in _UNSEARCHED:
        topic = answer["metadata"].get("intent") or answer["outcome"]
        change = "ask with the subject's own words; scope.yaml and the safety settings say what is not searched for"
        return Reason("before the search", f"nothing was searched for: {topic}", change)
    held = _places(answer["documents"], entry)
    if not held:
        return None
    settings = services.settings
    budget = settings.prompt.context_tokens
    shown = FormatContext(budget, tokens=services.index.tokens).write(answer["documents"])["passages"]
    if not _places(shown, entry):
        reached = answer["documents"][: held[0] + 1]
        needed = sum(services.index.tokens.count(passage["content"]) for passage in reached)
        explanation = f"its best passage is number {held[0] + 1}, and only {len(shown)} fit into the prompt"
        change = f"MAX_CONTEXT_TOKENS={needed + 50 * len(reached)} (now {budget}), or shorter chunks"
        return Reason("cut", explanation, change)
    if answer["outcome"] != "answered":
        explanation = f"the model was shown it, and the answer was withheld: {answer['outcome']}"
        query = answer["metadata"]["search_query"]
        mine = [answer["documents"][place] for place in held]
        change = f"write the answer into {entry.title} as one sentence, with the question's words"
        if any(says(passage["content"], passage["metadata"] | {"score": passage["score"]}, query) for passage in mine):
            change = f"{entry.title} says it and need not change: ask in its words, or with another language model"
        return Reason("withheld", explanation, change)
    others = ", ".join(sorted({one["title"] for one in answer["citations"] if one["matched"]})) or "nothing"
    explanation = f"the model was shown it, and cited {others}"
    return Reason("not cited", explanation, "it is enough that another document says it; if that one is wrong, mend it")


def _unfound(answer: Answer, entry: Entry, services: Service, config: RunnableConfig, top_k: int | None) -> Reason:
    query = answer["metadata"]["search_query"]
    far = services.answerer.retriever.invoke(query, config, top_k=FAR, threshold=0.0)
    places = [place for place, chunk in enumerate(far) if chunk.metadata.get("doc_id") == entry.doc_id]
    if not places:
        text = " ".join(chunk.page_content for chunk in services.index.library.chunks(entry.doc_id))
        held = {word.key for word in tokens(f"{entry.title} {text}")}
        lacking = list(dict.fromkeys(word.text for word in tokens(query) if word.weight > 0 and word.key not in held))
        explanation = f"none of its {entry.chunks} chunks is among the {FAR} nearest"
        explanation += f"; it lacks the words {', '.join(lacking)}" if lacking else ""
        return Reason("no passage", explanation, f"write a heading or a sentence with them into {entry.title}")
    place, limit = places[0], top_k or services.settings.retrieval.top_k
    scores = [float(passage.metadata.get(FUSED_SCORE) or passage.metadata.get("score") or 0) for passage in far]
    best, threshold = max(scores[at] for at in places), services.settings.retrieval.threshold
    score = float(far[place].metadata.get("score") or 0)
    if best < threshold or (place < limit and scores[place] < threshold):
        explanation = f"its best passage has the similarity {best:.2f}, and RELEVANCE_THRESHOLD is {threshold:g}"
        change = f"RELEVANCE_THRESHOLD={max(0.0, best - 0.01):.2f}, or the question's words in a heading"
        return Reason("threshold", explanation, change)
    before = far[min(limit, place) - 1]
    mine, other = (place_text({**place_in(chunk.metadata), "url": None}) for chunk in (far[place], before))
    difference = float(before.metadata.get("score") or 0) - score
    explanation = f"its best passage, {mine}, is number {place + 1} of all, behind {other}"
    explanation += f" (similarity {score:.2f}, {abs(difference):.2f} {'less' if difference > 0 else 'more'})"
    change = f"RETRIEVAL_TOP_K={place + 1} (now {limit}), or the question's words in a heading"
    return Reason("outranked", explanation, change)


def _places(passages: Sequence[Passage], entry: Entry) -> list[int]:
    return [place for place, passage in enumerate(passages) if passage["metadata"].get("doc_id") == entry.doc_id]
