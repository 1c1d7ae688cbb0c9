"""Measure how confidence tells right answers: `python -m benchmarks.confidence [FOLDER] [--write]`.

The offline answerer answers the question sets of `benchmarks.corpora` from what is retrieved with default settings. The
table holds AUROC and ECE of the answers given, with 95 % intervals by bootstrap: of `tiered` and `composite`, of
`calibrated` fitted on the other half of all answers (in domain), fitted without the corpus, and that fitted again on 50
answers of the corpus, measured on the rest. `--write` keeps a model fitted on all answers as the packaged one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wings.offline import OfflineChatModel
from app.wiring import Services
from benchmarks.corpora import Asked, KeptVectors, asked, question_sets, read_arguments
from benchmarks.figures import write_figures
from benchmarks.tables import table
from chains import build_chain
from chains.citations import CiteSources
from chains.confidence import WORDS, CompositeConfidence, features, score_confidence
from chains.confidence.calibration_model import CalibrationModel, Factor
from chains.context import FormatContext
from chains.state import Cited, Confidence
from evals.fit import Labelled, fit, untrained
from evals.metrics import Judged, auroc, calibration_error, is_declined, is_judged, is_right
from evals.rows import row_of

FILE = Path(__file__).parents[1] / "chains" / "confidence" / "calibrated.json"
FEW: Final = 50
SAMPLES: Final = 500
STRENGTH: Final = 300.0
# The weights that the fit starts from and is held to, per standard deviation.
PRIOR: Final = {"match": 0.9, "best_similarity": 0.3, "question_in_answer": 0.2, "answer_quality": 0.2}
# Corpora that are measured together as well: what is fitted without one of these saw none of them.
TOGETHER: Final = {"freight and sample": ("freight", "sample"), "mtrag": ("mtrag",)}


@dataclass(frozen=True, slots=True)
class Rated:
    """An answer: its features, whether it is right, and the scores of the strategies that need no fit."""

    answer: Labelled
    tiered: float
    composite: float


class KeptPassages(BaseRetriever):
    """Gives the passages that were retrieved before."""

    found: list[Any]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(one["content"], metadata=one["metadata"] | {"score": one["score"]}) for one in self.found]


class KeptEmbeddings(Embeddings):
    """Embeds what was not embedded before."""

    def __init__(self, vectors: KeptVectors) -> None:
        self._vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of the texts."""
        return [list(map(float, vector)) for vector in self._vectors(texts)]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of the text."""
        return self.embed_documents([text])[0]


def rate(state: Cited) -> Confidence:
    """Return what the strategies say of an answer, as factors."""
    scores = {"tiered": score_confidence(state)["score"], "composite": CompositeConfidence()(state)["score"]}
    return Confidence(level="unknown", score=0.0, reason="", factors=features(state) | scores)


def answers(folder: Path, kept: Path) -> Iterator[Rated]:
    """Yield the answers given to all questions that can be judged."""
    services = Services(load_settings())
    vectors = KeptVectors(services.embedder, kept)
    model = OfflineChatModel(embeddings=KeptEmbeddings(vectors), similarity=services.word_similarity)
    for one in question_sets(folder):
        if one.name.startswith("spans"):  # Each is one document, which any answer cites.
            continue
        for row in asked(one, kept=kept):
            if found := answer(row, model, services):
                yield found
        vectors.keep()


def answer(row: Asked, model: OfflineChatModel, services: Services) -> Rated | None:
    """Return the answer to a question; None where it was declined or cannot be judged."""
    chain = build_chain(
        retriever=KeptPassages(found=row.documents),
        model=model,
        context=FormatContext(max_tokens=services.settings.prompt.context_tokens, tokens=services.tokens),
        citations=CiteSources(similarity=services.word_similarity),
        confidence=rate,
    )
    kept = row_of(row.case.id, chain.invoke({"question": row.case.question}))
    confidence = kept["confidence"]
    if confidence is None or is_declined(kept) or not is_judged(row.case):
        return None
    found = dict(confidence["factors"])
    tiered, composite = found.pop("tiered"), found.pop("composite")
    return Rated(Labelled(found, is_right(row.case, kept), row.corpus), tiered, composite)


def model_of(rows: Sequence[Rated]) -> CalibrationModel:
    """Return a model fitted to the answers, around the prior."""
    some = [row.answer for row in rows]
    start = untrained(some, list(WORDS))
    factors = {name: Factor(factor.mean, factor.scale, PRIOR.get(name, 0.0)) for name, factor in start.factors.items()}
    told = f"{len(some)} answers on {len({row.corpus for row in some})} corpora"
    return fit(some, CalibrationModel(0.0, factors, ""), strength=STRENGTH, fitted_on=told)


def judged(model: CalibrationModel, rows: Sequence[Rated]) -> Judged:
    """Return what a model says of the answers, and whether they are right."""
    return [(model.probability(row.answer.features), row.answer.right) for row in rows]


def measure(rows: Sequence[Rated]) -> dict[str, dict[str, str]]:
    """Return the cells of the table, by corpus."""
    half = np.random.default_rng(0).random(len(rows)) < 0.5
    inside = model_of([row for row, first in zip(rows, half, strict=True) if first])
    single = {corpus: (corpus,) for corpus in sorted({row.answer.corpus for row in rows})}
    found = {}
    for name, starts in {**single, **TOGETHER}.items():
        held = [row.answer.corpus.startswith(starts) for row in rows]
        mine = [row for row, is_held in zip(rows, held, strict=True) if is_held]
        outside = model_of([row for row, is_held in zip(rows, held, strict=True) if not is_held])
        order = np.random.default_rng(1).permutation(len(mine)).tolist()
        few, rest = [mine[n] for n in order[:FEW]], [mine[n] for n in order[FEW:]]
        refitted = fit([row.answer for row in few], outside, fitted_on="")
        unseen = [row for row, first, is_held in zip(rows, half, held, strict=True) if is_held and not first]
        found[name] = {
            "answers": f"{len(mine)}, {sum(row.answer.right for row in mine)} right",
            "tiered": _cell([(row.tiered, row.answer.right) for row in mine]),
            "composite": _cell([(row.composite, row.answer.right) for row in mine]),
            "calibrated, in domain": _cell(judged(inside, unseen)),
            "calibrated, without the corpus": _cell(judged(outside, mine)),
            "and without `match`": _cell(judged(outside, [_of_another_model(row) for row in mine])),
            f"fitted again on {FEW}": _cell(judged(refitted, rest)),
        }
    return found


def _of_another_model(row: Rated) -> Rated:
    """Return the answer as if a model had written it that tells no `match`."""
    known = {name: value for name, value in row.answer.features.items() if name != "match"}
    return replace(row, answer=replace(row.answer, features=known))


def _cell(some: Judged) -> str:
    """Return AUROC and ECE, each with its interval."""
    rng = np.random.default_rng(0)
    told = np.array(some, dtype=np.float64).reshape(-1, 2)
    cells = []
    for figure in (auroc, calibration_error):
        value = figure(told)
        draws = [figure(told[rng.integers(0, len(told), len(told))]) for _ in range(SAMPLES)] if len(told) else []
        known = [draw for draw in draws if draw is not None]
        if value is None or not known:
            cells.append("-")
            continue
        low, high = np.percentile(known, [2.5, 97.5])
        cells.append(f"{value:.2f} ({low:.2f}-{high:.2f})")
    return " / ".join(cells)


def main() -> None:
    """Print the table, and keep the model where that is asked for."""
    given = read_arguments(__doc__)
    configure_logs("warning")
    rows = list(answers(given.folder, given.kept))
    found = measure(rows)
    print(table(("corpus", *next(iter(found.values()))), [[name, *cells.values()] for name, cells in found.items()]))
    write_figures("confidence", found)
    if given.write:
        FILE.write_text(model_of(rows).text(), encoding="utf-8")


if __name__ == "__main__":
    main()
