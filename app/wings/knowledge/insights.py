"""What to write next: logged questions without a sure answer by meaning, the use of documents, the share answered."""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import yaml
from langchain_core.embeddings import Embeddings

from app.ledger.answers import DAY_S, AnswerStore, LoggedAnswer
from app.wings.knowledge.recall import says
from app.wiring import Service
from chains.documents.audience import Audience, audience_of
from chains.errors import ConfigurationError
from chains.text.letters import one_line

LIKE = 0.65  # The cosine from which on two questions are of one group.
HALF_LIFE_DAYS = 14  # A question counts half after so many days.
MOST_QUESTIONS = 2000  # Different ones that are compared, the newest: each has to be embedded.
MOST_GROUPS = 20
EXAMPLES = NEAREST = 3
# Outcomes without a sure answer; small talk, redirections and failures of the model say nothing about the documents.
UNSURE = frozenset({"no_results", "unsure", "declined", "ungrounded"})
COUNTED = UNSURE | {"answered", "degraded"}
LOW = frozenset({"low", "very_low", "Low"})

DOCUMENTED: Final = "documents say it, answer not sure"
Why = Literal[
    "no passage",
    "passage found, not convincing",
    "documents say it, answer not sure",
    "withheld from this audience",
    "answered, rated badly",
]


@dataclass(frozen=True, slots=True)
class NearDocument:
    """A document that is near to a group's question, and the similarity of its best passage; None if unknown."""

    doc_id: str
    title: str
    audience: Audience
    score: float | None


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions of one meaning without a sure answer: how often and when last asked, and why they have none."""

    question: str
    asked: int
    last: str
    why: Why
    audience: Audience
    examples: list[str]
    comments: list[str]
    documents: list[NearDocument]


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """How many answers cite a document, and how many of these were rated badly."""

    doc_id: str
    title: str
    cited: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Week:
    """The questions of a week (ISO 8601), and how many were answered."""

    week: str
    asked: int
    answered: int


@dataclass(frozen=True, slots=True)
class Insights:
    """What the logged answers say about the documents; `never_cited` are titles.

    `gaps` are to be written; of `documented` the documents have a passage, and the answerer was not sure of it.
    """

    asked: int
    answered: int
    weeks: list[Week]
    gaps: list[Gap]
    documented: list[Gap]
    documents: list[DocumentUse]
    never_cited: list[str]


def insights(store: AnswerStore, services: Service, *, since: float) -> Insights:
    """Return what the logged answers say about the documents, from a time on, in seconds since 1970."""
    now = store.now()
    counted = [answer for answer in store.answers(since=since) if answer.outcome in COUNTED]
    weeks = Counter(_date(answer.at, "%G-W%V") for answer in counted)
    answered = Counter(_date(answer.at, "%G-W%V") for answer in counted if answer.outcome == "answered")
    lacking = [answer for answer in counted if answer.question and lacks_answer(answer)]
    groups = grouped(lacking, services.index.embedder)
    groups.sort(
        key=lambda some: -math.fsum(math.exp2(min(0.0, answer.at - now) / (HALF_LIFE_DAYS * DAY_S)) for answer in some)
    )
    made = [_gap(group, services) for group in groups[: 2 * MOST_GROUPS]]
    documents = [DocumentUse(*row) for row in store.database.rows(USES, since=since)]
    entries = {} if services.settings.retrieval.url else services.index.library.catalogue("internal").entries
    cited = {document.doc_id for document in documents}
    return Insights(
        asked=len(counted),
        answered=answered.total(),
        weeks=[Week(week, asked, answered[week]) for week, asked in sorted(weeks.items())],
        gaps=[gap for gap in made if gap.why != DOCUMENTED][:MOST_GROUPS],
        documented=[gap for gap in made if gap.why == DOCUMENTED][:MOST_GROUPS],
        documents=sorted(documents, key=lambda one: (-one.wrong, -one.cited, one.title)),
        never_cited=[entry.title for doc_id, entry in entries.items() if doc_id not in cited],
    )


def _date(at: float, form: str) -> str:
    return datetime.fromtimestamp(at, UTC).strftime(form)


def lacks_answer(answer: LoggedAnswer) -> bool:
    if answer.outcome == "answered":
        return answer.level in LOW if answer.score is None else answer.score < 0
    return answer.outcome in UNSURE


def grouped(answers: Sequence[LoggedAnswer], embeddings: Embeddings) -> list[list[LoggedAnswer]]:
    """Return the answers in groups of one meaning, the same ones for the same answers.

    Questions of the same words are one. From the most frequent on, each joins the nearest leader of a group, or leads
    a group of its own (leader clustering).
    """
    same: dict[str, list[LoggedAnswer]] = defaultdict(list)
    for answer in answers:
        same[" ".join(re.findall(r"\w+", str(answer.question).casefold()))].append(answer)
    alike = sorted(list(same.values())[:MOST_QUESTIONS], key=len, reverse=True)
    if not alike:
        return []
    vectors = np.asarray(embeddings.embed_documents([str(some[0].question) for some in alike]), dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    leaders, groups = list[int](), list[list[LoggedAnswer]]()
    for place, some in enumerate(alike):
        likeness = vectors[leaders] @ vectors[place] if leaders else np.zeros(1)
        best = int(likeness.argmax())
        if likeness[best] >= LIKE:
            groups[best] += some
        else:
            leaders.append(place)
            groups.append(list(some))
    return groups


def _gap(group: Sequence[LoggedAnswer], services: Service) -> Gap:
    questions = list(dict.fromkeys(str(answer.question) for answer in group))
    audience: Audience = "public" if 2 * sum(one.audience == "public" for one in group) >= len(group) else "internal"
    searched = group[0].search_query or questions[0]
    passages = services.answerer.retriever.invoke(searched, {"configurable": {"audience": "internal"}}, threshold=0.0)
    best = {str(chunk.metadata.get("doc_id") or ""): chunk.metadata for chunk in reversed(passages)}
    documents = [
        NearDocument(doc_id, str(about.get("title") or doc_id), audience_of(about), score and round(score, 2))
        for doc_id, about in list(reversed(best.items()))[:NEAREST]
        for score in [about.get("score")]
    ]
    is_said = any(says(chunk.page_content, chunk.metadata, searched) for chunk in passages[:NEAREST])
    return Gap(
        question=questions[0],
        asked=len(group),
        last=_date(max(answer.at for answer in group), "%Y-%m-%d"),
        why=_why(group, audience, documents, is_said=is_said),
        audience=audience,
        examples=questions[1 : EXAMPLES + 1],
        comments=[answer.comment for answer in group if answer.comment][:EXAMPLES],
        documents=documents,
    )


def _why(group: Sequence[LoggedAnswer], audience: Audience, documents: Sequence[NearDocument], *, is_said: bool) -> Why:
    if audience == "public" and documents and documents[0].audience == "internal":
        return "withheld from this audience"
    outcome = Counter(answer.outcome for answer in group).most_common(1)[0][0]
    if outcome == "answered":
        bad = any(answer.score is not None and answer.score < 0 for answer in group)
        return "answered, rated badly" if bad else DOCUMENTED
    if outcome == "no_results":
        return "no passage"
    return DOCUMENTED if is_said else "passage found, not convincing"


USES = """
SELECT statements.doc_id, max(statements.title) AS title, count(DISTINCT answers.id) AS cited,
    count(DISTINCT CASE WHEN answers.score < 0 THEN answers.id END) AS wrong
FROM answers JOIN citations ON citations.answer = answers.id JOIN statements ON statements.id = citations.statement
WHERE answers.outcome = 'answered' AND answers.at >= :since GROUP BY statements.doc_id
"""


def report_lines(found: Insights) -> Iterator[str]:
    share = f", {found.answered / found.asked:.0%} answered".replace("%", " %") if found.asked else ""
    yield f"{found.asked} questions{share}"
    for week in found.weeks:
        yield f"  {week.week}  {week.asked:6} asked  {100 * week.answered / week.asked:3.0f} % answered"
    yield "\nWhat to write next" if found.gaps else "\nNothing is missing in the documents."
    yield from _gap_lines(found.gaps)
    if found.documented:
        yield "\nThe documents say it, and the answer was not sure"
        yield from _gap_lines(found.documented)
    if found.documents:
        yield "\nDocuments          cited  rated badly"
        yield from (f"  {one.cited:20} {one.wrong:12}  {one_line(one.title)}" for one in found.documents)
    if found.never_cited:
        yield f"\nNever cited: {', '.join(map(one_line, found.never_cited))}"


def _gap_lines(gaps: Sequence[Gap]) -> Iterator[str]:
    for number, gap in enumerate(gaps, 1):
        yield f"{number:3}. {one_line(gap.question)}"
        often = "once" if gap.asked == 1 else f"{gap.asked} times, last"
        yield f"     asked {often} on {gap.last}: {gap.why}"
        yield from (f"     also: {one_line(example)}" for example in gap.examples)
        yield from (f"     said: {one_line(comment)}" for comment in gap.comments)
        scores = ("" if near.score is None else f" ({near.score:.2f})" for near in gap.documents)
        nearest = (f"{one_line(near.title)}{score}" for near, score in zip(gap.documents, scores, strict=True))
        yield f"     nearest: {', '.join(nearest) or 'nothing'}"


MOST_LETTERS = 50  # Of a file's name.
_FIGURE = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?:\s?%)?(?![\w])")


def draft(gap: Gap, folder: Path) -> tuple[Path, Path]:
    """Write a document without an answer, and a test that fails until it has one; ConfigurationError if they exist."""
    plain = unicodedata.normalize("NFKD", gap.question).encode("ascii", "ignore").decode().lower()
    name = "_".join(re.findall(r"[a-z0-9]+", plain))[:MOST_LETTERS].strip("_") or "question"
    document, tests = folder / f"{name}.md", folder / f"{name}.tests.yaml"
    question, *examples = map(one_line, [gap.question, *gap.examples])
    cases = [{"question": one, "must_cite": document.name, "audience": gap.audience} for one in (question, *examples)]
    front = _yaml({"title": question.rstrip(" ?"), "audience": gap.audience})
    write_new(document, f"---\n{front}---\n\n## {question}\n")
    write_new(tests, _yaml(cases))
    return document, tests


def write_new(file: Path, text: str) -> None:
    """Write a file that does not exist yet. Raise ConfigurationError if it exists already, or cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError as error:
        raise ConfigurationError(f"{file} exists already; nothing was written into it") from error
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written: {error.strerror}") from error


def proposed(answers: Iterable[LoggedAnswer]) -> str:
    """Return tests, as YAML, from the answers that users rated well: each question once, the newest answer of it.

    The answer of now has to cite the same files, and to say the figures that the quotes give.
    """
    cases: dict[str, dict[str, Any]] = {}
    for answer in answers:
        is_good = answer.outcome == "answered" and (answer.score or 0) > 0
        sentences = ((answer.certificate if is_good else None) or {}).get("sentences", ())
        cited = dict.fromkeys(source["file"] or source["doc_id"] for one in sentences for source in one["sources"])
        if answer.question and cited:
            quotes = [(one["says"], " ".join(source["quote"] for source in one["sources"])) for one in sentences]
            figures = (figure for says, quote in quotes for figure in _FIGURE.findall(says) if figure in quote)
            said = {"must_say": must_say} if (must_say := list(dict.fromkeys(figures))) else {}
            case = {"question": answer.question} | said | {"must_cite": list(cited), "audience": answer.audience}
            cases.setdefault(answer.question.casefold(), case)
    return _yaml(list(cases.values())) if cases else ""


def _yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=1000))
