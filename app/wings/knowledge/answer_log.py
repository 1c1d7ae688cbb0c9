"""Keep each answer with its proof, and what users say of it, in a thread of its own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from uuid import uuid4

from app import hooks
from app.ledger.answers import AnswerStore, LoggedAnswer, Nearest, Quote, pack
from app.observability.tracing import SHUTDOWN_TIMEOUT_S
from app.settings import Settings
from app.wings.knowledge.certificate import Certificate, certificate
from app.wiring.index import Index
from app.wiring.storage import ledger_of
from chains.around import Call, Observer
from chains.documents.audience import Audience
from chains.errors import VectorStoreError
from chains.logs import get_logger
from chains.ports import Entity
from chains.safety.cleaning import clean
from chains.side_steps import count_fault
from chains.state import Answer

MAX_MB = 200  # Of the logged answers; the oldest go first.
MOST_WAITING = 1000  # Answers that are not written yet.
RATE_TIMEOUT_S = 10
UNLOGGED = "unlogged"  # In the metadata of a call's config: nobody wants this answer, so it is not logged.

log = get_logger(__name__)


def can_recall(settings: Settings) -> bool:
    """Return whether answers are logged, and the documents that they were given from are here."""
    return settings.database.logs_answers and settings.retrieval.url is None


def open_answers(settings: Settings) -> AnswerStore:
    """Return the logged answers of the index; nothing is opened before it is used."""
    return AnswerStore(ledger_of(settings), days=settings.database.answer_log_days, max_mb=MAX_MB)


class KeptAnswers(Observer):
    """Observes the calls of a chain, and keeps their answers; a store that fails costs the log, and no answer.

    Python itself waits for the thread when the process ends, so that the answer of a single command is kept as well.
    """

    def __init__(self, index: Index, *, serving: bool = False) -> None:
        self.store, self._index, self._serving = open_answers(index.settings), index, serving
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="answer log")
        self._waiting = 0
        self._failing = self._closed = False

    def ended(self, call: Call, /) -> None:
        """Queue the answer; a failed call has none."""
        if call.answer is None or UNLOGGED in call.metadata or self._closed or self._waiting >= MOST_WAITING:
            return
        self._waiting += 1
        self._thread.submit(self._keep, call, call.answer, self.store.now())

    def rate(
        self, trace_id: str, score: float, comment: str | None, *, user_id: str | None, audience: Audience
    ) -> bool:
        """Put the asker's score and comment to an answer, behind the answers that wait; return whether it is kept.

        Raise VectorStoreError if it cannot be written; NotTheAskerError if somebody else asked.
        """
        said = comment and redacted(comment)
        kept = self._thread.submit(self.store.rate, trace_id, score, said, user_id=user_id, audience=audience)
        try:
            return kept.result(RATE_TIMEOUT_S)
        except FutureTimeoutError as error:
            raise VectorStoreError(f"{self.store.database.place} does not answer") from error

    def uses(self) -> dict[str, int]:
        return self.store.uses()

    def close(self) -> None:
        """Write what is queued, for at most two seconds."""
        self._closed = True
        with suppress(FutureTimeoutError):
            self._thread.submit(int).result(SHUTDOWN_TIMEOUT_S)
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _keep(self, call: Call, answer: Answer, at: float) -> None:
        try:
            # Where nothing was retrieved there is nothing to prove; no question in a proof has personal data.
            question = redacted(answer["question"])
            shown: Answer = {**answer, "question": question or ""}
            proof = certificate(shown, self._index) if answer["documents"] else None
            sources = [source for sentence in proof["sentences"] for source in sentence["sources"]] if proof else []
            quotes = {
                Quote(doc_id, source["title"], source["table_head"], source["quote"])
                for source in sources
                if (doc_id := source["doc_id"])
            }
            self.store.add(self._logged(call, answer, question, proof, at), sorted(quotes))
        except Exception as error:  # Whatever fails costs the log, and no answer.
            reason = count_fault("answer_log", error)
            if not self._failing:
                tell = log.warning if self._serving else log.info
                tell("answers_not_kept", error=reason)
            self._failing = True
        else:
            self._failing = False
        finally:
            self._waiting -= 1

    def _logged(
        self, call: Call, answer: Answer, question: str | None, proof: Certificate | None, at: float
    ) -> LoggedAnswer:
        metadata, confidence, user_id = answer["metadata"], answer["confidence"], call.metadata.get("user_id")
        searched = question if metadata["search_query"] == answer["question"] else redacted(metadata["search_query"])
        nearest: dict[str, Nearest] = {}  # Of each document the best passage, which comes first.
        for passage in answer["documents"]:
            score = passage["score"]
            if doc_id := str(passage["metadata"].get("doc_id") or ""):
                nearest.setdefault(doc_id, Nearest(doc_id, None if score is None else round(score, 3)))
        packed = None
        if proof and question is not None:
            find: Callable[[str], list[Entity]] = hooks.load("checks", "pii_entities")
            data = (answer["answer"][entity.start : entity.end] for entity in find(answer["answer"]))
            # The proof of an answer with personal data that no passage holds is not kept.
            if all(any(words in passage["content"] for passage in answer["documents"]) for words in data):
                packed = pack(proof)
        return LoggedAnswer(
            trace_id=metadata["trace_id"] or str(uuid4()),
            at=at,
            question=question,
            search_query=None if searched == question else searched,
            language=call.question.get("language"),
            audience=call.audience,
            outcome=answer["outcome"],
            level=confidence["level"] if confidence else None,
            confidence=confidence["score"] if confidence else None,
            model=metadata["model"],
            index_version=proof["index"] if proof else None,
            asker=self.store.asker_of(user_id) if user_id else None,
            nearest=tuple(nearest.values()),
            packed=packed,
        )


def redacted(text: str) -> str | None:
    """Return a text without personal data, whatever SAFETY_PII says; None where nothing can find such data."""
    try:
        return clean(text.encode("utf-8", "replace").decode(), hooks.load("checks", "pii")).text
    except hooks.LeftOutError:
        return None
