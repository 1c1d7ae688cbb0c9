"""Fit the offline answerer's weights and keep them in its package: `python -m benchmarks.fits.answerer [FOLDER]`.

The weights rank the statements of a question, and tell how likely the best one answers it. They are fitted to the
question sets of `benchmarks.fits.corpora`, held to 0: few rows move them little.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from langchain_core.embeddings import Embeddings

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wings.offline.answer import quoted_with
from app.wings.offline.evidence import FEATURES, Evidence
from app.wings.offline.passages import entries
from app.wings.offline.question import read
from app.wings.offline.ranker import AHEAD, Feature, Ranker
from app.wiring import open_service
from app.wiring.models import word_similarity
from benchmarks.fits.corpora import Asked, arguments, asked, holds, kept_vectors, question_sets
from chains.context import FormatContext
from chains.ports import WordSimilarity
from chains.retrieval.strategies import cosines
from chains.text.tokens import tokens
from evals.logistic import Numbers, listwise, logistic
from evals.metrics.retrieval import is_gold

FILE = Path(__file__).parents[2] / "app" / "wings" / "offline" / "ranker.json"
THRESHOLD: Final = 0.67
"""Of 150 questions on Wikipedia that no passage answers, 12 are answered with more."""
LAST: Final = 1000.0  # What is contradicted stands behind all else.
HELD_RANKS, HELD_ANSWERS = 20.0, 50.0  # How strongly the weights are held to 0.
NOT_RANKED: Final = "place"  # The place of its passage does not make one statement better.
FIXED: Final = 1e6
LEAST_SCALE: Final = 0.1  # Of a feature that hardly any statement has.
RIGHT: Final = 0.55  # From this relevance on a statement answers.
PARTLY: Final = 0.5  # The most of a statement that does not hold the answer, where that can be told.
MOST_WEIGHT: Final = 3.0  # Of an answer on a corpus of few questions.


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its statements' values, how well each answers (0-1), and which speak of something else."""

    corpus: str
    unanswerable_form: bool
    values: Numbers
    relevance: Numbers
    left_out: tuple[bool, ...]
    agreement: Numbers


def main() -> None:
    given = arguments(__doc__)
    configure_logs("warning")
    ranker = fit(list(examples(given.folder, given.kept)))
    FILE.write_text(json.dumps(asdict(ranker), indent=1) + "\n", encoding="utf-8")


def examples(folder: Path, kept: Path) -> Iterable[Example]:
    services = open_service(load_settings())
    context = FormatContext(max_tokens=services.settings.prompt.context_tokens, tokens=services.index.tokens)
    vectors = kept_vectors(services.index.embedder, kept)
    for one in question_sets(folder):
        for row in (row for row in asked(one, kept=kept) if not row.held):
            yield example(row, word_similarity(), vectors, context)


def example(row: Asked, similarity: WordSimilarity, vectors: Embeddings, context: FormatContext) -> Example:
    """Return the example of a question: what the offline answerer sees of it."""
    shown = context({"question": row.case.question, "documents": row.documents})
    question, passages = read(row.case.question), shown["passages"]
    scores = [passage["score"] for passage in passages]
    evidence = Evidence(question, entries(shown["text"]), similarity, scores)
    best = evidence.first_look()
    if best:
        texts = [row.case.question, *(evidence.in_place(evidence.statements[at]) for at in best)]
        question_vector, *others = vectors.embed_documents(texts)
        evidence.keep(best, cosines(np.array(others, dtype=np.float32), question_vector).tolist())
    cited = [passages[one.entry] for one in evidence.statements]
    documents = [str(one["metadata"].get("doc_id")) for one in cited]
    return Example(
        corpus="spans" if row.corpus.startswith("spans") else row.corpus,
        unanswerable_form=question.unanswerable,
        values=evidence.values,
        relevance=np.array(
            [
                relevance(row, " ".join(quoted_with(one, evidence)), document)
                for one, document in zip(evidence.statements, documents, strict=True)
            ]
        ),
        left_out=tuple(evidence.left_out),
        agreement=evidence.agreement,
    )


def relevance(row: Asked, text: str, document: str) -> float:
    """Return how well a statement answers, 0-1: 1 where it holds the answer, else by evidence, facts or a reference."""
    if not row.case.in_scope:
        return 0.0
    if row.is_judged and holds(text, row):
        return 1.0
    part = _part_told(row, text) if is_gold(document, row.case) and not row.any_of else 0.0
    return min(part, PARTLY) if row.is_judged else part


def _part_told(row: Asked, text: str) -> float:
    mine = _keys(text)
    if row.case.answer_facts:
        said, *facts = ("".join(part.lower().split()) for part in (text, *row.case.answer_facts))
        told = sum(fact in said for fact in facts)
        return 0.1 + 0.9 * told / len(row.case.answer_facts)
    if evidence := [gold.evidence for gold in row.case.gold if gold.evidence]:
        return float(max(len(mine & _keys(proof)) / max(1, len(mine)) for proof in evidence) >= 0.7)
    shared = len(mine & _keys(row.reference)) / max(1, min(len(mine), 12))
    return 0.1 + 0.9 * min(1.0, max(0.0, 2 * (shared - 0.15)))


def _keys(text: str) -> set[str]:
    return {token.key for token in tokens(text) if token.weight}


def fit(rows: Sequence[Example]) -> Ranker:
    """Return the ranker fitted to the examples; each corpus counts alike, as far as its number allows."""
    ranker = _untrained(rows)
    count = len(FEATURES)
    usable = [row for row in rows if len(row.values)]
    lists = [(ranker.standardised(row.values), row.relevance) for row in usable if row.relevance.sum()]
    groups = [(values, wanted / wanted.sum()) for values, wanted in lists]  # None is ahead yet: that ranks nothing.
    held = np.array([FIXED if name == NOT_RANKED else HELD_RANKS for name in FEATURES])
    ranks = listwise(groups, np.zeros(count), held)
    ranker = _with_weights(ranker, ranks, np.zeros(count), 0.0)
    first = [(row, quoted_first(ranker, row)) for row in usable if not row.unanswerable_form]
    values = np.array(
        [ranker.standardised(ranker.with_lead(row.values, row.left_out, row.agreement))[at] for row, at in first]
    )
    found = logistic(
        np.column_stack([np.ones(len(first)), values]),
        np.array([float(row.relevance[at] >= RIGHT) for row, at in first]),
        _balanced([row.corpus for row, _ in first]),
        np.zeros(count + 1),
        np.array([0.1, *np.full(count, HELD_ANSWERS)]),
    )
    return _with_weights(ranker, ranks, found[1:], float(found[0]))


def _untrained(rows: Sequence[Example]) -> Ranker:
    values = np.concatenate([row.values for row in rows])
    values[:, FEATURES.index(AHEAD)] = np.linspace(0, 1, len(values))
    means, scales = np.nanmean(values, axis=0), np.maximum(np.nanstd(values, axis=0), LEAST_SCALE)
    features = {
        name: Feature(_rounded(mean), _rounded(scale))
        for name, mean, scale in zip(FEATURES, means, scales, strict=True)
    }
    corpora = len({row.corpus for row in rows})
    return Ranker(features, 0.0, THRESHOLD, f"{len(rows)} questions on {corpora} corpora")


def _with_weights(ranker: Ranker, ranks: Numbers, answers: Numbers, intercept: float) -> Ranker:
    features = {
        name: replace(feature, ranks=_rounded(ranks[n]), answers=_rounded(answers[n]))
        for n, (name, feature) in enumerate(ranker.features.items())
    }
    return replace(ranker, features=features, intercept=_rounded(intercept))


def _rounded(number: float) -> float:
    return round(float(number), 4)


def _balanced(corpora: Sequence[str]) -> Numbers:
    counts = Counter(corpora)
    return np.array([min(MOST_WEIGHT, len(corpora) / len(counts) / counts[corpus]) for corpus in corpora])


def quoted_first(ranker: Ranker, row: Example) -> int:
    """Return the place of the best statement that may be quoted."""
    return int((ranker.scores(row.values) - LAST * np.array(row.left_out)).argmax())


if __name__ == "__main__":
    main()
