"""Who is asked: the offline answerer, the models on this machine, and the one that the environment names."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.settings import load_settings
from app.wiring import Services
from benchmarks.models.poisoned import write_poisoned
from benchmarks.models.server import model_server
from benchmarks.models.tasks import Set
from benchmarks.models.weights import MODELS
from benchmarks.offline import offline

OFFLINE, ENVIRONMENT = "offline", "environment"
NAMES: Final = (OFFLINE, *MODELS, ENVIRONMENT)


@dataclass(frozen=True, slots=True)
class Subject:
    """A model over the sample corpus, and over the poisoned documents."""

    name: str
    sample: Services
    poisoned: Services

    def over(self, kind: Set) -> Services:
        """Return the services over the documents of a set of questions."""
        return self.poisoned if kind == "poisoned" else self.sample


def present() -> list[str]:
    """Return who can be asked here and now."""
    there = {OFFLINE: True, ENVIRONMENT: load_settings().provider != "offline"}
    there |= {name: weights.is_there for name, weights in MODELS.items()}
    return [name for name in NAMES if there[name]]


@contextmanager
def subject(name: str, *, threads: int) -> Iterator[Subject]:
    """Yield who is to be asked, over indexes made for it, its server running.

    Raises:
        WeightsError: a model is not on this machine.
    """
    with ExitStack() as life:
        folder = Path(life.enter_context(tempfile.TemporaryDirectory()))
        chosen: dict[str, Any] = {"llm_provider": "offline" if name == OFFLINE else load_settings().provider}
        if name in MODELS:
            server = life.enter_context(model_server(MODELS[name], threads=threads))
            chosen = {"llm_provider": "llama-cpp", "llm_base_url": server.url, "llm_model": server.model}
        yield _over_both(name, folder, **chosen)


def _over_both(name: str, folder: Path, **chosen: Any) -> Subject:
    chosen |= {"confidence_include_factors": True}
    sample = offline(folder / "sample", **chosen)
    write_poisoned(documents := folder / "poisoned")
    return Subject(name, sample, offline(folder / "poisoned-index", documents, scope_enabled=False, **chosen))
