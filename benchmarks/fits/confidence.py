"""Fit the packaged model of confidence and keep it: `python -m benchmarks.fits.confidence [FOLDER]`.

The offline answerer answers the question sets of `benchmarks.fits.corpora` from what is retrieved with default
settings; an answer is right or wrong by its set's facts and gold documents. Weights are held to round numbers.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wings.offline import OfflineChatModel
from app.wiring import Services
from benchmarks.fits.corpora import Asked, KeptVectors, arguments, asked, question_sets
from chains import build_chain
from chains.citations import CiteSources
from chains.confidence import WORDS, features
from chains.confidence.calibration_model import CalibrationModel, Factor
from chains.context import FormatContext
from chains.state import Cited, Confidence
from evals.fit import Labelled, fit, untrained
from evals.metrics import is_declined, is_judged, is_right
from evals.rows import row_of

FILE = Path(__file__).parents[2] / "chains" / "confidence" / "calibrated.json"
STRENGTH: Final = 300.0
# The weights that the fit starts from and is held to, per standard deviation.
PRIOR: Final = {"match": 0.9, "best_similarity": 0.3, "question_in_answer": 0.2, "answer_quality": 0.2}


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
    """Return the features of an answer, as factors."""
    return Confidence(level="unknown", score=0.0, reason="", factors=features(state))


def answers(folder: Path, kept: Path) -> Iterator[Labelled]:
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


def answer(row: Asked, model: OfflineChatModel, services: Services) -> Labelled | None:
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
    return Labelled(dict(confidence["factors"]), is_right(row.case, kept), row.corpus)


def model_of(some: Sequence[Labelled]) -> CalibrationModel:
    """Return a model fitted to the answers, around the prior."""
    start = untrained(some, list(WORDS))
    factors = {name: Factor(factor.mean, factor.scale, PRIOR.get(name, 0.0)) for name, factor in start.factors.items()}
    told = f"{len(some)} answers on {len({row.corpus for row in some})} corpora"
    return fit(some, CalibrationModel(0.0, factors, ""), strength=STRENGTH, fitted_on=told)


def main() -> None:
    """Fit the model to all answers and keep it."""
    given = arguments(__doc__)
    configure_logs("warning")
    FILE.write_text(model_of(list(answers(given.folder, given.kept))).text(), encoding="utf-8")


if __name__ == "__main__":
    main()
