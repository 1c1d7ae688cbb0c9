"""Fit the packaged model of confidence and keep it: `python -m benchmarks.fits.confidence [FOLDER]`.

The offline answerer answers the question sets of `benchmarks.fits.corpora` from what is retrieved with default
settings; an answer is right where it holds the facts of its set. What else the model weighs, for answers that a
language model writes, stays as it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wings.offline import OfflineChatModel
from app.wiring import open_service
from app.wiring.models import word_similarity
from benchmarks.fits.corpora import answered, arguments, asked, holds, kept_vectors, question_sets
from chains.confidence.calibrated import CalibrationModel, features, load_model
from chains.context import FormatContext
from chains.state import Cited, Confidence
from evals.fit import Labelled, fit, untrained

FILE = Path(__file__).parents[2] / "chains" / "confidence" / "calibrated.json"
STRENGTH: Final = 30.0
COST_OF_WRONG: Final = 2  # A wrong answer that looks sure costs a reader more than a right one that does not.


def rate(state: Cited) -> Confidence:
    return Confidence(level="unknown", score=0.0, reason="", factors=features(state))


def answers(folder: Path, kept: Path) -> Iterator[Labelled]:
    """Yield what is said first to all questions that can be judged, and whether it holds the answer."""
    services = open_service(load_settings())
    context = FormatContext(max_tokens=services.settings.prompt.context_tokens, tokens=services.index.tokens)
    model = OfflineChatModel(embeddings=kept_vectors(services.index.embedder, kept), similarity=word_similarity())
    for one in question_sets(folder):
        # Any answer cites the one document of spans; where it is handed over, nothing can be found wrongly.
        if one.name.startswith("spans") or one.documents == one.questions:
            continue
        for row in (row for row in asked(one, kept=kept) if row.is_judged and not row.held):
            given = answered(row, model, rate, context=context)
            if given["confidence"] and given["outcome"] in {"answered", "unsure"}:
                right = row.case.in_scope and holds(given["answer"], row)
                yield Labelled(dict(given["confidence"]["factors"]), right, one.name)


def model_of(some: Sequence[Labelled]) -> CalibrationModel:
    """Return the packaged model with `match` fitted to the answers; its mean carries what the intercept would."""
    packaged = load_model(None)
    start = CalibrationModel(0.0, untrained(some, ["match"]).factors, "")
    weighed = [one for one in some for _ in range(1 if one.right else COST_OF_WRONG)]
    told = f"{len(some)} answers on {len({row.corpus for row in some})} corpora"
    fitted = fit(weighed, start, strength=STRENGTH, fitted_on=told)
    match = fitted.factors["match"]
    mean = match.mean - (fitted.intercept - packaged.intercept) * match.scale / match.weight
    return replace(packaged, factors={**packaged.factors, "match": replace(match, mean=mean)}, fitted_on=told)


def main() -> None:
    given = arguments(__doc__)
    configure_logs("warning")
    FILE.write_text(model_of(list(answers(given.folder, given.kept))).text(), encoding="utf-8")


if __name__ == "__main__":
    main()
