"""Fit the offline answerer's weights and keep them in its package: `python -m benchmarks.fits.answerer [FOLDER]`.

The weights rank the statements of a question, and tell how likely the best one answers it. They are fitted to the
question sets of `benchmarks.fits.corpora` around round numbers set beforehand, from which few rows move them little.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wings.offline.evidence import FEATURES, Evidence
from app.wings.offline.passages import entries
from app.wings.offline.question import read
from app.wings.offline.ranker import Feature, Ranker
from app.wiring import Services
from benchmarks.fits.corpora import Asked, KeptVectors, arguments, asked, question_sets
from chains.context import FormatContext
from chains.ports import WordSimilarity
from chains.text.tokens import tokens
from chains.vectors import cosines
from evals.logistic import Numbers, listwise, logistic
from evals.metrics.retrieval import is_gold
from evals.questions import Case

FILE = Path(__file__).parents[2] / "app" / "wings" / "offline" / "ranker.json"
CANDIDATES: Final = 6
THRESHOLD: Final = 0.6
# The weights of the prior, per standard deviation, and how strongly they are held.
PRIOR: Final = {
    "near": 0.5,
    "focus": 0.5,
    "names": 0.5,
    "pairs": 0.3,
    "kind": 0.3,
    "definition": 0.2,
    "voice": -0.3,
    "place": 0.1,
    "background": 0.7,
    "score": 0.4,
    "meaning": 0.4,
    "meaning_above": 0.2,
}
HELD_RANKS, HELD_ANSWERS = 30.0, 100.0
HELD: Final = {"background": 300.0, "focus": 300.0, "names": 300.0}
ENOUGH: Final = 50  # So many characters are found in one place only.
MOST_WEIGHT: Final = 3.0  # Of an answer on a corpus of few questions.


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its statements' values, how well each answers (0-1), and which are of a passage with the answer."""

    corpus: str
    answerable: bool
    unanswerable_form: bool
    values: Numbers
    relevance: Numbers
    gold: tuple[bool, ...]
    quotable: tuple[bool, ...]


def main() -> None:
    """Fit the weights to all questions and keep them."""
    given = arguments(__doc__)
    configure_logs("warning")
    FILE.write_text(fit(list(examples(given.folder, given.kept))).text(), encoding="utf-8")


def examples(folder: Path, kept: Path) -> Iterable[Example]:
    """Yield the examples of all question sets."""
    services = Services(load_settings())
    context = FormatContext(max_tokens=services.settings.prompt.context_tokens, tokens=services.tokens)
    vectors = KeptVectors(services.embedder, kept)
    for one in question_sets(folder):
        for row in asked(one, kept=kept):
            yield example(row, services.word_similarity, vectors, context)
        vectors.keep()


def example(row: Asked, similarity: WordSimilarity, vectors: KeptVectors, context: FormatContext) -> Example:
    """Return the example of a question: what the offline answerer sees of it."""
    shown = context({"question": row.case.question, "documents": row.documents})
    question, passages = read(row.case.question), shown["passages"]
    scores = [passage["score"] for passage in passages]
    evidence = Evidence(question, entries(shown["text"]), similarity, scores)
    best = evidence.first_look(CANDIDATES)
    if best:
        found = vectors([row.case.question, *(evidence.in_place(evidence.statements[at]) for at in best)])
        evidence.keep(best, cosines(found[1:], found[0].tolist()).tolist())
    cited = [passages[one.entry] for one in evidence.statements]
    documents = [str(one["metadata"].get("doc_id")) for one in cited]
    is_spans = row.corpus.startswith("spans")  # Each of these corpora is one document.
    return Example(
        corpus="spans" if is_spans else row.corpus,
        answerable=row.case.in_scope,
        unanswerable_form=question.unanswerable,
        values=evidence.values,
        relevance=np.array(
            [relevance(row, one.text, document) for one, document in zip(evidence.statements, documents, strict=True)]
        ),
        gold=tuple(
            is_gold(document, row.case) and (not is_spans or holds_evidence(one["content"], row.case))
            for document, one in zip(documents, cited, strict=True)
        ),
        quotable=tuple(evidence.quotable),
    )


def relevance(row: Asked, text: str, document: str) -> float:
    """Return how well a statement answers, 0-1: by evidence, facts or a reference answer, whichever the set gives."""
    if not row.case.in_scope or not is_gold(document, row.case):
        return 0.0
    mine = _keys(text)
    if evidence := [gold.evidence for gold in row.case.gold if gold.evidence]:
        return float(max(len(mine & _keys(proof)) / max(1, len(mine)) for proof in evidence) >= 0.7)
    if row.case.answer_facts:
        plain = "".join(text.lower().split())
        told = sum("".join(fact.lower().split()) in plain for fact in row.case.answer_facts)
        return 0.1 + 0.9 * told / len(row.case.answer_facts)
    shared = len(mine & _keys(row.reference)) / max(1, min(len(mine), 12))
    return 0.1 + 0.9 * min(1.0, max(0.0, 2 * (shared - 0.15)))


def holds_evidence(passage: str, case: Case) -> bool:
    """Return whether a passage holds the beginning or the end of some evidence, or begins in it."""
    text = " ".join(passage.split())
    proofs = [" ".join(gold.evidence.split()) for gold in case.gold if gold.evidence]
    return any(proof[:ENOUGH] in text or proof[-ENOUGH:] in text or text[:ENOUGH] in proof for proof in proofs)


def _keys(text: str) -> set[str]:
    return {token.key for token in tokens(text) if token.weight}


def fit(rows: Sequence[Example]) -> Ranker:
    """Return the ranker fitted to the examples; each corpus counts alike, as far as its number allows."""
    ranker = _untrained(rows)
    prior = np.array([PRIOR[name] for name in FEATURES])
    usable = [row for row in rows if len(row.values)]
    lists = [(ranker.standardised(row.values), row.relevance) for row in usable if row.relevance.sum()]
    ranks = listwise(
        [(values, wanted / wanted.sum()) for values, wanted in lists], prior, np.full(len(prior), HELD_RANKS)
    )
    ranker = _with_weights(ranker, ranks, np.zeros(len(prior)), 0.0)
    best = [(row, quoted_first(ranker, row)) for row in usable if not row.unanswerable_form]
    first = [(row, at) for row, at in best if at is not None]
    values = np.array([ranker.standardised(row.values)[at] for row, at in first])
    found = logistic(
        np.column_stack([np.ones(len(first)), values]),
        np.array([float(row.gold[at]) for row, at in first]),
        _balanced([row.corpus for row, _ in first]),
        np.array([0.0, *prior]),
        np.array([0.1, *(HELD.get(name, HELD_ANSWERS) for name in FEATURES)]),
    )
    return _with_weights(ranker, ranks, found[1:], float(found[0]))


def _untrained(rows: Sequence[Example]) -> Ranker:
    values = np.concatenate([row.values for row in rows])
    means, scales = np.nanmean(values, axis=0), np.maximum(np.nanstd(values, axis=0), 1e-6)
    features = {
        name: Feature(float(mean), float(scale)) for name, mean, scale in zip(FEATURES, means, scales, strict=True)
    }
    corpora = len({row.corpus for row in rows})
    return Ranker(features, 0.0, THRESHOLD, f"{len(rows)} questions on {corpora} corpora")


def _with_weights(ranker: Ranker, ranks: Numbers, answers: Numbers, intercept: float) -> Ranker:
    features = {
        name: replace(feature, ranks=float(ranks[n]), answers=float(answers[n]))
        for n, (name, feature) in enumerate(ranker.features.items())
    }
    return replace(ranker, features=features, intercept=intercept)


def _balanced(corpora: Sequence[str]) -> Numbers:
    counts = Counter(corpora)
    return np.array([min(MOST_WEIGHT, len(corpora) / len(counts) / counts[corpus]) for corpus in corpora])


def quoted_first(ranker: Ranker, row: Example) -> int | None:
    """Return the place of the best statement that may be quoted."""
    scores = np.where(row.quotable, ranker.scores(row.values), -np.inf) if len(row.values) else np.array([-np.inf])
    return int(scores.argmax()) if np.isfinite(scores).any() else None


if __name__ == "__main__":
    main()
