"""`waypoint eval --certify`: certify the score from which on the confidence is high, and keep it with the index."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.cli.rendering import show
from app.settings import Settings
from chains.errors import ConfigurationError, WaypointError

if TYPE_CHECKING:
    from app.wiring import Services
    from evals.metrics import Judged
    from evals.questions import Case
    from evals.rows import Row


def check_certifiable(settings: Settings) -> None:
    """Refuse settings whose confidence has nothing to certify.

    Raises:
        ConfigurationError: it is turned off or not calibrated, or the documents are at another service.
    """
    if not settings.confidence.enabled or settings.confidence.strategy != "calibrated":
        msg = "--certify needs CONFIDENCE_ENABLED=true and CONFIDENCE_STRATEGY=calibrated"
        raise ConfigurationError(msg)
    if settings.retrieval.url:
        msg = "--certify needs an index of its own: RETRIEVAL_URL asks another service, whose documents may change"
        raise ConfigurationError(msg)


def certify_high(services: "Services", cases: Sequence["Case"], rows: Sequence["Row"]) -> None:
    """Certify the threshold of the high level on the answers given, print it, and keep it.

    Raises:
        WaypointError: no threshold can be certified; the message says how many questions are needed.
    """
    from evals.certify import CONFIDENCE, WRONG_AT_MOST, certify, upper_bound
    from evals.metrics import judgements
    from evals.rows import pairs_of

    judged = judgements(pairs_of(cases, rows))
    found = certify(judged, above=services.settings.confidence.medium_threshold)
    if found is None or services.certification is None:
        raise WaypointError(_refusal(judged, len(cases)))
    bound = upper_bound(found.wrong, found.kept, CONFIDENCE)
    services.certification.keep(
        threshold=found.threshold,
        wrong_at_most=WRONG_AT_MOST,
        confidence=CONFIDENCE,
        questions=len(cases),
        answers=len(judged),
        kept=found.kept,
        wrong=found.wrong,
        bound=round(bound, 4),
        models={row["model"] for row in rows if row["model"]},
    )
    reach = f"{found.kept} of {len(judged)} answers reach it, {found.wrong} of them wrong"
    show(f"\nHigh is certified from a score of {found.threshold:g} on: {reach}.")
    show(f"At most {100 * bound:.1f} % of such answers are wrong, with {100 * CONFIDENCE:.0f} % confidence.")
    show(f"Written to {services.certification.file}; it holds while index, model, prompts and settings stay the same.")


def _refusal(judged: "Judged", questions: int) -> str:
    """Return why nothing is certified, and how many questions would do."""
    from evals.certify import CONFIDENCE, WRONG_AT_MOST, least_kept, times_needed

    right = sum(right for _, right in judged)
    promise = f"at most {100 * WRONG_AT_MOST:.0f} % wrong, with {100 * CONFIDENCE:.0f} % confidence"
    least = f"needs {least_kept(WRONG_AT_MOST, CONFIDENCE)} answers with high scores and none of them wrong, or more"
    told = f"no score is certified: {promise}, {least}; of {len(judged)} answers {right} are right"
    if (times := times_needed(judged)) is None:
        return f"{told}. More questions would not do: among the answers with the highest scores too many are wrong"
    return f"{told}. About {math.ceil(times * questions)} questions like these are needed, not {questions}"
