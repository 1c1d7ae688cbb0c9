"""Keep the certificate of the high level of confidence in the ledger, and hold answers to it."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.settings import Settings
from app.wiring.caches import answer_facts
from app.wiring.storage import ledger_of
from chains.confidence import WORDS, CalibratedConfidence, CertifiedConfidence, ConfidenceStrategy, load_model
from chains.errors import ConfigurationError
from chains.logs import get_logger

log = get_logger(__name__)


class HighCertificate(BaseModel):
    """From which score on few answers are wrong, how that was found out, and what has to stay as it was."""

    model_config = ConfigDict(frozen=True)

    version: Literal[1] = 1
    date: str = Field(description="UTC, ISO 8601.")
    threshold: float = Field(gt=0, le=1)
    wrong_at_most: float
    confidence: float
    questions: int = Field(description="Number of the labelled questions.")
    answers: int
    kept: int = Field(description="Answers that reach the threshold.")
    wrong: int = Field(description="Those of them that are wrong.")
    bound: float = Field(description="Upper limit of the share that is wrong.")
    models: frozenset[str]
    made_by: dict[str, str] = Field(description="Index, prompts, settings, confidence model and program.")

    def promise(self) -> str:
        return f"at most {self.wrong_at_most:.0%} of such answers are wrong".replace("%", " %")


@dataclass(frozen=True)
class Certification:
    """The certificate of these settings' index, if there is one; `index_version` returns the current version."""

    settings: Settings
    index_version: Callable[[], str | None]

    @cached_property
    def certificate(self) -> HighCertificate | None:
        """Return the certificate; None where there is none.

        Raise ConfigurationError if it is not understood; VectorStoreError if the ledger cannot be read.
        """
        kept = ledger_of(self.settings).fact(FACT)
        try:
            return None if kept is None else HighCertificate.model_validate_json(kept)
        except ValidationError as error:
            raise ConfigurationError(f"the certificate of the high confidence is not understood; {REMEDY}") from error

    @property
    def digest(self) -> str | None:
        """Return what tells this certificate from others, for caches."""
        return _digest(self.certificate.model_dump(mode="json", exclude={"models"})) if self.certificate else None

    def keep(self, **values: Any) -> None:
        """Keep a certificate of the index, prompts and settings as they are now.

        Raise VectorStoreError if the ledger cannot be written.
        """
        date = datetime.now(UTC).isoformat(timespec="seconds")
        made = HighCertificate(date=date, made_by={"index": str(self.index_version()), **self._made_by}, **values)
        ledger_of(self.settings).state(FACT, made.model_dump_json())

    def forget(self) -> None:
        """Remove the certificate: answers are high as the settings say."""
        ledger_of(self.settings).state(FACT, None)

    def changed(self) -> list[str]:
        """Return the names of what has changed since the certification."""
        if self.certificate is None:
            return []
        now = {"index": str(self.index_version()), **self._made_by}
        return [name for name, value in now.items() if self.certificate.made_by.get(name) != value]

    def status(self) -> str:
        """Return what is certified, in words.

        Raise ConfigurationError if nothing is certified, or something has changed since.
        """
        kept = self.certificate
        if kept is None or (changed := self.changed()):
            why = f"changed since it was certified: {', '.join(changed)}" if kept else "nothing is certified"
            raise ConfigurationError(f"no answer is high; {why}")
        return f"from a score of {kept.threshold:g} on {kept.promise()} ({kept.questions} questions, {kept.date[:10]})"

    def held(self, strategy: ConfidenceStrategy, *, same_chain: bool) -> ConfidenceStrategy:
        """Return a strategy that gives the high level by the certificate; as it is where there is none.

        Only answers of the `same_chain` that was certified can be high.
        """
        if self.certificate is None or not isinstance(strategy, CalibratedConfidence):
            return strategy
        if changed := self.changed():
            log.warning("high_confidence_not_certified", changed=changed, remedy=COMMAND)
        return CertifiedConfidence(
            strategy,
            self.certificate.threshold,
            self.certificate.promise(),
            self.certificate.models,
            self.changed if same_chain else lambda: ["citation style"],
        )

    @cached_property
    def _made_by(self) -> Mapping[str, str]:
        """Return what made the answers besides the index and the model; an evaluation shows factors in any case."""
        settings = self.settings.replace(confidence_include_factors=True)
        prompts, values = answer_facts(settings)
        return {
            "prompts": _digest(prompts),
            "settings": _digest(values),
            "confidence model": _digest(load_model(settings.confidence.model, WORDS).text()),
            "program": version("waypoint-copilot"),
        }


FACT = "certificate"  # of the ledger.
COMMAND = "`waypoint eval QUESTIONS --certify`"
REMEDY = f"make it again by {COMMAND}, or remove it by `waypoint eval QUESTIONS --no-certify`"


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
