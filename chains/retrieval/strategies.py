"""The strategies: similarity, MMR (Carbonell and Goldstein, 1998), hybrid, compression, reranking.

The cosine is the one scale of all scores; hybrid ranks by cosine plus BM25. The plain sum beats min-max scaling and
reciprocal ranks: it needs no set of candidates to scale by, and a long question, which matches more words, leans on the
words by itself.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from numpy.typing import NDArray
from pydantic import Field, SkipValidation

import prompts
from chains.callbacks import check_time
from chains.logs import get_logger
from chains.ports import ChunkPlace, ChunkStore, WordIndex
from chains.retrieval.filters import Filters
from chains.retrieval.retriever import FUSED_SCORE, SCORE, ChunkRetriever, fetched, with_metadata
from chains.text.letters import escape_tag
from chains.text.words import plain_words


def cosines(rows: NDArray[np.float32], vector: Sequence[float]) -> NDArray[np.float32]:
    """Return the cosine of `vector` to each row, clipped to 0-1; that of a row of zeros is 0."""
    if not len(rows):
        return np.zeros(0, dtype=np.float32)
    asked = np.asarray(vector, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(asked)
    similarities: NDArray[np.float32] = np.clip(rows @ asked / np.where(lengths == 0, 1, lengths), 0.0, 1.0)
    return similarities


# BM25 (0 to about 20) times this stands beside a cosine; the figures are flat between .015 and .04.
BM25_WEIGHT = 0.025
# A chunk of a text without headings also gets this much of its better neighbour's BM25.
NEIGHBOUR_WEIGHT = 0.2
# Among a few passages no BM25 is high: what has this, and this share of the best, is found however far in meaning.
RARE, MOST_WORDS = 1.0, 0.5
FEWEST_PASSAGES = 4  # Among fewer the BM25 of no word is as high: each finds what holds it.
# Among the chunks of a long document that the question names the words say less, since all share the subject's, and
# all stand before those of others. Flat between .0075 and .0125, and between .1 and .4.
BM25_WEIGHT_NAMED, NAMED_WEIGHT = 0.01, 0.2
# More chunks of one document than this stand behind those of the others.
PER_DOCUMENT = 5
# Near-duplicates are looked for from the first of these, among the second.
LEADERS, POOL = 10, 30


class Candidate(NamedTuple):
    """A chunk that one of the searches found; `score` is its cosine similarity, `fused` what it is ranked by."""

    id: str
    score: float
    place: ChunkPlace | None = None
    fused: float = 0.0

    @property
    def document(self) -> str:
        """The document the chunk is of; one in no known place stands for itself."""
        return self.place.document if self.place else self.id


def rank(
    candidates: Sequence[Candidate], bm25: Mapping[str, float], *, named: Mapping[str, float] | None = None
) -> list[Candidate]:
    """Return the candidates, best first.

    Of near-duplicates the copy leads whose document holds more of the best candidates; at most `PER_DOCUMENT` chunks
    of one document stand before those of the others. Where the question names long documents (`named`: weight by id),
    theirs lead, and may be any number.
    """
    near_by = {one.place[:2]: bm25.get(one.id, 0.0) for one in candidates if one.place is not None}
    weight, leads, fused = BM25_WEIGHT_NAMED if named else BM25_WEIGHT, named or {}, list[Candidate]()
    for one in candidates:
        words, place = bm25.get(one.id, 0.0), one.place
        if place is not None and not place.section:
            words += NEIGHBOUR_WEIGHT * max(near_by.get((place.document, place.number + step), 0.0) for step in (-1, 1))
        score = one.score + weight * words + NAMED_WEIGHT * leads.get(one.document, 0.0)
        fused.append(Candidate(one.id, one.score, place, score))
    ranked = sorted(fused, key=lambda one: one.fused, reverse=True)
    counts, within, beyond = Counter[str](), list[Candidate](), list[Candidate]()
    for one in _lead_with_source(ranked[:POOL]):
        counts[one.document] += 1
        (within if named or counts[one.document] <= PER_DOCUMENT else beyond).append(one)
    return within + beyond + ranked[POOL:]


def _lead_with_source(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Let near-duplicates swap places so that the document that says more about the question leads."""
    documents = [one.document for one in ranked]
    words = [_words(one.place.text if one.place else "") for one in ranked]
    support, result, seen = Counter(documents), list(ranked), set[int]()
    for first in range(min(LEADERS, len(ranked))):
        if first in seen:
            continue
        others = (place for place in range(first + 1, len(ranked)) if documents[place] != documents[first])
        copies = [first, *(place for place in others if place not in seen and _alike(words[first], words[place]))]
        if len(copies) > 1:
            seen.update(copies)
            preferred = sorted(copies, key=lambda place: -support[documents[place]])
            for place, chosen in zip(copies, preferred, strict=True):
                result[place] = ranked[chosen]
    return result


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(plain_words(text))


@lru_cache(maxsize=2**14)
def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two texts of similar length share four fifths of the shorter one's words."""
    shorter, longer = sorted((len(one), len(other)))
    return longer < 2.5 * shorter and len(one & other) >= 0.8 * shorter


def nearest(
    store: ChunkStore, vector: list[float], limit: int, filters: Filters, ids: list[str] | None
) -> dict[str, float]:
    """Return the similarities of the nearest passages by id; of the `ids` where they are given, each is compared."""
    if ids is None:
        return store.nearest(vector, limit, filters.where())
    vectors = store.vectors(ids)
    scores = cosines(np.array(list(vectors.values())), vector)
    names = list(vectors)
    return {names[place]: float(scores[place]) for place in np.argsort(-scores, kind="stable")[:limit]}


class SimilarityRetriever(ChunkRetriever):
    """The `top_k` chunks nearest to the question whose cosine similarity reaches `threshold`."""

    store: SkipValidation[ChunkStore]

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        vector = self.store.embeddings.embed_query(query)
        with self.store.reading():
            scores = nearest(self.store, vector, top_k, filters, self.allowed(filters))
            return fetched(self.store, {id_: {SCORE: score} for id_, score in scores.items() if score >= threshold})


FETCHED_PER_RESULT = 2


class MmrRetriever(ChunkRetriever):
    """The `top_k` of the `fetch_k` nearest chunks that say the most together; 1 as `weight` is plain similarity.

    `fetch_k` is twice `top_k` where it is not given. The scores stay the chunks' own cosine similarities, so they need
    not fall from rank to rank.
    """

    store: SkipValidation[ChunkStore]
    fetch_k: int | None = None
    weight: float = 0.5

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        vector = self.store.embeddings.embed_query(query)
        wanted = max(top_k, self.fetch_k or FETCHED_PER_RESULT * top_k)
        with self.store.reading():
            scores = nearest(self.store, vector, wanted, filters, self.allowed(filters))
            vectors = self.store.vectors([id_ for id_, score in scores.items() if score >= threshold])
            ids = [id_ for id_ in scores if id_ in vectors]
            rows = [vectors[id_].tolist() for id_ in ids]
            chosen = maximal_marginal_relevance(np.array(vector), rows, self.weight, top_k) if rows else []
            return fetched(self.store, {ids[place]: {SCORE: scores[ids[place]]} for place in chosen})


# From each of the two searches; more found nothing more in the measurements, and cost milliseconds.
CANDIDATES = 50


class HybridRetriever(ChunkRetriever):
    """The `top_k` best chunks of those nearest in meaning and those that share the question's words.

    The order is that of the fused score. The retriever's own threshold is on it as well, and one that a call gives on
    the cosine similarity, as in every strategy; 0 lets all through. What looks like a typing error of a word in the
    documents is searched for as that word. Long documents that the question names lead.
    """

    store: SkipValidation[ChunkStore]
    words: SkipValidation[WordIndex]
    is_word: SkipValidation[Callable[[str], bool]] = Field(lambda _word: False)
    """Whether a word is one of the language, and so no typing error where no document holds it."""
    candidates: int = CANDIDATES

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        with self.store.reading():
            asked = self.words.corrected(query, filters.where(), self.is_word)
            named = self.words.named(asked, filters.where())
        vector = self.store.embeddings.embed_query(asked)
        with self.store.reading():
            candidates, bm25 = self._candidates(asked, vector, max(self.candidates, top_k), filters)
            ranked = rank(candidates, bm25, named=named)
            # A long table as a whole is near to nothing; what is named leads by its fused score, however far it is.
            if threshold == self.threshold and not named:
                is_small = len(ranked) < FEWEST_PASSAGES and self.store.count() < FEWEST_PASSAGES
                most = 0.0 if is_small else max(RARE, MOST_WORDS * max(bm25.values(), default=0.0))
                best = [hit for hit in ranked if hit.fused >= threshold or bm25.get(hit.id, -1.0) >= most]
            else:
                best = [hit for hit in ranked if hit.score >= threshold]
            scores = {one.id: {SCORE: one.score, FUSED_SCORE: round(one.fused, 6)} for one in best[:top_k]}
            return fetched(self.store, scores)

    def _candidates(
        self, query: str, vector: list[float], limit: int, filters: Filters
    ) -> tuple[list[Candidate], dict[str, float]]:
        where = filters.where()
        ids = self.allowed(filters)
        scores = nearest(self.store, vector, limit, filters, ids)
        if ids is None:
            bm25 = self.words.search(query, limit, where)
        else:  # The words know no filter but the call's, so that all that hold them are looked through.
            found, left = self.words.search(query, self.store.count(), where), set(ids)
            bm25 = dict(islice(((id_, score) for id_, score in found.items() if id_ in left), limit))
        missing = self.store.vectors([id_ for id_ in bm25 if id_ not in scores])
        scores |= dict(zip(missing, cosines(np.array(list(missing.values())), vector).tolist(), strict=True))
        places = self.words.places(list(scores))
        return [Candidate(id_, score, places.get(id_)) for id_, score in scores.items()], bm25


COMPRESSED = "compressed"


class CompressionRetriever(ChunkRetriever):
    """The chunks that `retriever` finds, each cut down by `model` to what bears on the question.

    An extract has to be a substring of its chunk; where it is not, or the model fails, the chunk stays whole. The
    chunk's `start_char` and `end_char` follow, so that they still index the source; `compressed` says which were cut.
    """

    retriever: ChunkRetriever
    model: BaseChatModel
    prompt: str = Field(default_factory=lambda: prompts.load("compression"))
    concurrency: int = 5

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        found = self.retriever.find(query, top_k=top_k, threshold=threshold, filters=filters, callbacks=callbacks)
        asked = [{"document": escape_tag(document.page_content, "document"), "question": query} for document in found]
        config = RunnableConfig(callbacks=callbacks, max_concurrency=self.concurrency, run_name="compress")
        # A failure costs nothing but the shorter text, so it comes back as a value; the trace holds it.
        template = ChatPromptTemplate.from_messages([("system", self.prompt), ("human", "{question}")])
        extract = template | self.model | StrOutputParser()
        extracts: list[Any] = extract.batch(asked, config, return_exceptions=True)
        return [_compress(document, words) for document, words in zip(found, extracts, strict=True)]


def _compress(document: Document, extract: str | Exception) -> Document:
    words = extract.strip() if isinstance(extract, str) else ""
    start = document.page_content.find(words) if words else -1
    if start < 0 or len(words) == len(document.page_content):
        return document
    cut, first = with_metadata(document, {COMPRESSED: True}), document.metadata.get("start_char")
    if first is not None:
        cut.metadata |= {"start_char": first + start, "end_char": first + start + len(words)}
    cut.page_content = words
    return cut


log = get_logger(__name__)

RERANK_SCORE = "rerank_score"
# Where rerankers write their score.
GIVEN_SCORE = "relevance_score"
# A reranker that hangs keeps its thread.
THREADS = 4


class RerankingRetriever(ChunkRetriever):
    """The `top_k` best of the `candidates` that `retriever` finds, in the order of `compressor`.

    Only the order is the compressor's: chunks keep their words and their `score`, and what it leaves out comes behind.
    `rerank_score` is what it gives as `relevance_score`. Where it fails, or takes longer than `timeout_s` seconds, the
    order of the retriever stands.
    """

    retriever: ChunkRetriever
    compressor: SkipValidation[BaseDocumentCompressor]
    candidates: int = 30
    timeout_s: float = 5.0

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        wanted = max(top_k, self.candidates)
        found = self.retriever.find(query, top_k=wanted, threshold=threshold, filters=filters, callbacks=callbacks)
        if len(found) < 2:  # noqa: PLR2004 - one chunk has one order.
            return found
        limit_s = min(self.timeout_s, check_time(callbacks))
        task = self._threads.submit(
            copy_context().run, self.compressor.compress_documents, found, query, callbacks=callbacks
        )
        try:
            return list(_reordered(found, task.result(limit_s)))[:top_k]
        except Exception as error:  # A worse order is better than no answer.
            task.cancel()
            log.warning("reranking_failed", reranker=type(self.compressor).__name__, error=type(error).__name__)
            return found[:top_k]

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(THREADS, thread_name_prefix="rerank")


def _reordered(found: Sequence[Document], chosen: Sequence[Document]) -> Iterator[Document]:
    """Yield each found chunk once: those that were chosen, in their order, then the others."""
    left = {_key(document): document for document in found}
    for one in chosen:
        if document := left.pop(_key(one), None):
            score = one.metadata.get(GIVEN_SCORE)
            known = isinstance(score, float) and math.isfinite(score)
            yield with_metadata(document, {RERANK_SCORE: score}) if known else document
    yield from left.values()


def _key(document: Document) -> str:
    return document.id or document.page_content
