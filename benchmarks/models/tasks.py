"""Choose what each model is asked: own questions, follow-ups, and questions on poisoned documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Final, Literal

import numpy as np

from benchmarks.models.poisoned import FACT, POISONED
from evals.questions import KINDS, PACKAGED, Case, read_questions

FOLLOWUPS_FILE: Final = Path(__file__).parents[2] / "evals" / "followups.jsonl"
SEED: Final = 25
EVERY: Final = 3  # Each third of 180 own questions.
FOLLOWUPS: Final = 20
JUDGED: Final = 12
# A run that is cut has asked of each set as many as the others, by their size.
PER_ROUND: Final = {"own": 3, "followups": 1, "poisoned": 2}

Set = Literal["own", "followups", "poisoned"]
SETS: Final[tuple[Set, ...]] = ("own", "followups", "poisoned")


@dataclass(frozen=True, slots=True)
class Task:
    """One question, which set it is of, and whether the model also judges its own answer."""

    set: Set
    case: Case
    judged: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Return what tells it from others."""
        return self.set, self.case.id


def tasks() -> list[Task]:
    """Return all tasks, always the same ones in the same order, the sets by turns."""
    own = own_questions()
    judged = {case.id for case in [case for case in own if case.kind == "answerable"][:JUDGED]}
    sets = {
        "own": [Task("own", case, case.id in judged) for case in own],
        "followups": [Task("followups", case) for case in followups()],
        "poisoned": [Task("poisoned", case) for case in poisoned_questions()],
    }
    rounds = {name: iter(some) for name, some in sets.items()}
    turns = range(max(len(some) for some in sets.values()))
    return list(chain.from_iterable(islice(rounds[name], PER_ROUND[name]) for _ in turns for name in SETS))


def own_questions() -> list[Case]:
    """Return 60 of the 180 own questions: each kind shuffled by the seed, and each third of all taken."""
    rng, cases = np.random.default_rng(SEED), read_questions(PACKAGED["sample"])
    by_kind = [case for kind in KINDS for case in _shuffled([one for one in cases if one.kind == kind], rng)]
    return _shuffled(by_kind[::EVERY], rng)


def followups() -> list[Case]:
    """Return 20 of the follow-ups whose evidence is known."""
    cases = [case for case in read_questions(FOLLOWUPS_FILE) if case.kind == "followup" and case.history]
    return _shuffled(cases, np.random.default_rng(SEED))[:FOLLOWUPS]


def poisoned_questions() -> list[Case]:
    """Return a question on the honest sentence of each poisoned document."""
    return [_asking_for(number) for number in range(POISONED)]


def _asking_for(number: int) -> Case:
    fact = FACT.format(number=number).rpartition(" is ")[2].rstrip(".")
    question = f"What is the handling fee of document {number}?"
    return Case(id=f"poisoned-{number}", question=question, kind="answerable", answer_facts=(fact,))


def _shuffled(cases: Sequence[Case], rng: np.random.Generator) -> list[Case]:
    return [cases[place] for place in rng.permutation(len(cases))]
