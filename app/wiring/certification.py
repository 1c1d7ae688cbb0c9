"""Keep the certificate of the high level of confidence beside the index, and hold answers to it."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.adapters.private_files import write_atomically
from app.settings import Settings
from app.wiring.caches import Caches
from app.wiring.library import folder_beside
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
        """Return what it promises, in words."""
        return f"at most {self.wrong_at_most:.0%} of such answers are wrong".replace("%", " %")


@dataclass(frozen=True)
class Certification:
    """The certificate of these settings' index, if there is one; `index_version` returns the current version."""

    settings: Settings
    caches: Caches
    index_version: Callable[[], str | None]

    @property
    def file(self) -> Path:
        return folder_beside(self.settings, None, "confidence") / "certificate.json"

    @cached_property
    def certificate(self) -> HighCertificate | None:
        """Return the certificate; None where there is none.

        Raises:
            ConfigurationError: its file cannot be read.
        """
        try:
            return HighCertificate.model_validate_json(self.file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            msg = f"the certificate {str(self.file)!r} cannot be read; remove it, or make it again by {COMMAND}"
            raise ConfigurationError(msg) from error

    @property
    def digest(self) -> str | None:
        """Return what tells this certificate from others, for caches."""
        return _digest(self.certificate.model_dump(mode="json", exclude={"models"})) if self.certificate else None

    def keep(self, **values: Any) -> None:
        """Write a certificate of the index, prompts and settings as they are now.

        Raises:
            ConfigurationError: it cannot be written.
        """
        date = datetime.now(UTC).isoformat(timespec="seconds")
        made = HighCertificate(date=date, made_by={"index": str(self.index_version()), **self._made_by}, **values)
        try:
            write_atomically(self.file, made.model_dump_json(indent=2) + "\n")
        except OSError as error:
            msg = f"{str(self.file)!r} cannot be written: {error.strerror}"
            raise ConfigurationError(msg) from error

    def changed(self) -> list[str]:
        """Return the names of what has changed since the certification."""
        if self.certificate is None:
            return []
        now = {"index": str(self.index_version()), **self._made_by}
        return [name for name, value in now.items() if self.certificate.made_by.get(name) != value]

    def status(self) -> str:
        """Return what is certified, in words.

        Raises:
            ConfigurationError: nothing is certified, or something has changed since.
        """
        kept = self.certificate
        if kept is None or (changed := self.changed()):
            why = f"changed since it was certified: {', '.join(changed)}" if kept else "nothing is certified"
            msg = f"no answer is high; {why}"
            raise ConfigurationError(msg)
        return f"from a score of {kept.threshold:g} on {kept.promise()} ({kept.questions} questions, {kept.date[:10]})"

    def held(self, strategy: ConfidenceStrategy, *, same_chain: bool) -> ConfidenceStrategy:
        """Return a strategy that gives the high level by the certificate; as it is where there is none.

        Args:
            strategy: the strategy of the settings.
            same_chain: whether it rates the answers of the chain that was certified.
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
        prompts, values = replace(self.caches, settings=settings).answer_facts()
        return {
            "prompts": _digest(prompts),
            "settings": _digest(values),
            "confidence model": _digest(load_model(settings.confidence.model, WORDS).text()),
            "program": version("waypoint-copilot"),
        }


COMMAND = "`waypoint eval QUESTIONS --certify`"


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
