"""How much of its support a sentence loses with the numbers and names that the passage lacks.

A sentence is supported where all of it is: one number or name that the passage lacks makes it doubtful, however many of
its other words are there. Where few are, it says nothing more. So with the share of words that are found (`aligned`):

    loss = 1 - (1 + missing numbers) ** -a * (1 + missing names) ** -b, at most 0.5
    support = aligned - 2 * loss * (aligned - 0.5), where aligned is above 0.5; else aligned

Support never falls while more words are found, and is the share itself where nothing is missing. The exponents a and b
are fitted to the judgements of people; docs/citations.md says how.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from chains.citations.evidence import Evidence
from chains.text.tokens import Token

VERSION = 1
FILE = "losses.json"
MOST = 0.5  # With a greater loss, support would fall while more words are found.
HALF = 0.5  # Of a sentence that is not found by half nothing more is taken away.


@dataclass(frozen=True, slots=True)
class Missing:
    """How many numbers and names of a sentence are not found; a name that is nearly there counts in part."""

    numbers: float
    names: float


@dataclass(frozen=True, slots=True)
class Losses:
    """The exponents of the missing numbers and names, and what they were fitted on."""

    numbers: float
    names: float
    fitted_on: str

    def support(self, aligned: float, missing: Missing) -> float:
        """Return the support of a sentence, from its share of words found and what is missing."""
        kept = float((1 + missing.numbers) ** -self.numbers * (1 + missing.names) ** -self.names)
        return aligned - min(MOST, 1 - kept) * max(0.0, aligned - HALF) / HALF

    def text(self) -> str:
        """Return the exponents as they are kept in a file."""
        return json.dumps({"version": VERSION} | asdict(self), indent=2) + "\n"


def read_losses(text: str) -> Losses:
    """Return the exponents of a file's text.

    Raises:
        ValueError: it is of another version, or an exponent is missing or negative.
    """
    kept = json.loads(text)
    numbers, names = (float(kept.get(name, -1)) for name in ("numbers", "names"))
    if kept.get("version") != VERSION or min(numbers, names) < 0:
        msg = f"{FILE} must be of version {VERSION}, its exponents `numbers` and `names` from 0 up"
        raise ValueError(msg)
    return Losses(numbers, names, str(kept.get("fitted_on")))


@lru_cache(maxsize=1)
def packaged_losses() -> Losses:
    """Return the packaged exponents."""
    return read_losses(files(__package__).joinpath(FILE).read_text("utf-8"))


def missing(
    words: Sequence[Token],
    strengths: NDArray[np.float32],
    evidence: Evidence,
    repeated: Sequence[bool] | None = None,
) -> Missing:
    """Return how many of a sentence's numbers and names are neither in the evidence nor in its heading.

    Only numbers in figures count: those in words rank or sum up ("First, ...", "two ways").

    Args:
        words: the content words of the sentence.
        strengths: how strongly each evidence sentence holds each word, shape (sentences, words).
        evidence: the cited passage.
        repeated: which of the words only repeat the question, and do not count; by default none.
    """
    lacking: dict[str, float] = {"number": 0.0, "name": 0.0}
    known = repeated or [False] * len(words)
    for word, strength, asked in zip(words, strengths.max(axis=0).tolist(), known, strict=True):
        exact = word.kind == "name" or word.text[0].isdecimal()
        if exact and not asked and word.key not in evidence.heading:
            lacking[word.kind] += 1 - strength
    return Missing(lacking["number"], lacking["name"])
