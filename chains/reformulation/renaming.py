"""Find the word of the earlier question that a new one replaces: Indonesia by Thailand, LCL by FCL."""

from collections.abc import Sequence

from chains.ports import WordSimilarity
from chains.reformulation.terms import Term

# Below this cosine of the word table, two words name different kinds of things.
ALIKE = 0.3
# What agreement of prepositions counts beside a cosine: "to Busan" - "to Rotterdam".
PREPOSITION = 0.15


def renamed(new: Term, before: Sequence[Term], similarity: WordSimilarity | None) -> Term | None:
    """Return the term that the new one takes the place of; None where it only adds to them."""
    cosines = [0.0] * len(before)
    if similarity is not None and before:
        cosines = similarity([new.text.lower()], [term.text.lower() for term in before])[0].tolist()
    rated = [(_likeness(new, term, cosines[place]), place) for place, term in enumerate(before)]
    best, place = max(rated, default=(0.0, 0))
    return before[place] if best > 0 else None


def _likeness(new: Term, term: Term, cosine: float) -> float:
    same_place = PREPOSITION if new.preposition and new.preposition == term.preposition else 0.0
    if cosine >= ALIKE:
        return cosine + same_place
    if new.shape == term.shape and new.shape in {"acronym", "number"}:
        return ALIKE + same_place
    if same_place and new.preposition != "for":  # "for" stands before anything.
        return ALIKE - 0.05
    names = {"name", "acronym"}
    return ALIKE - 0.1 if new.shape == "name" and term.shape in names else 0.0
