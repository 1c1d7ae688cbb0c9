"""Make a follow-up a question that stands alone, by a rule and without a language model.

The rule reads the form of the question only (see `leaning`) and knows no subject. A fragment takes its place in the
question before; a whole question that lacks its subject gets the terms of the question before; any other stays as it
is. The questions before are made to stand alone in the same way, one after the other.
"""

from collections.abc import Sequence

from chains.history import Turn
from chains.ports import WordSimilarity
from chains.reformulation.leaning import leaning
from chains.reformulation.phrases import DENIED, is_small_talk, without_small_talk
from chains.reformulation.terms import Term, terms
from chains.text.words import stem

# Older turns say nothing of today's question.
MOST_TURNS = 16
# Of a question before; what it says comes early.
MOST_CHARACTERS = 400
# A fragment with more new terms is a question of its own.
MOST_RENAMED = 3
# Below this cosine of the word table, two words name different kinds of things.
ALIKE = 0.3
# What agreement of prepositions counts beside a cosine: "to Busan" - "to Rotterdam".
PREPOSITION = 0.15


def standalone(question: str, turns: Sequence[Turn], similarity: WordSimilarity | None = None) -> str:
    """Return the question with what it takes from the turns before; unchanged where it takes nothing.

    Args:
        question: The user's words.
        turns: The conversation before, oldest first.
        similarity: Compares words by meaning, which tells what a new name takes the place of.
    """
    before: list[str] = []
    for turn in turns[-MOST_TURNS:]:
        if turn.role == "user" and not is_small_talk(turn.text):
            before.append(_resolved(turn.text[:MOST_CHARACTERS], before, similarity))
    return _resolved(question, before, similarity)


def _resolved(question: str, before: Sequence[str], similarity: WordSimilarity | None) -> str:
    if not before or is_small_talk(question):
        return question
    asked = without_small_talk(question)
    how = leaning(asked)
    if how is None:
        return asked
    base = _base(asked, before)
    return _placed(asked, base, similarity) if how == "fragment" else completed(asked, base)


def _base(question: str, before: Sequence[str]) -> str:
    """Return the question to go on from: the last one, or an older one that the question names again."""
    keys = {term.key for term in terms(question)}
    shared = (text for text in reversed(before) if keys & {term.key for term in terms(text)})
    return next(shared, before[-1])


def completed(question: str, base: str) -> str:
    """Return the question with the terms of the one before that it lacks."""
    known = {term.key for term in terms(question)}
    carried = dict.fromkeys(term.text for term in _subject(base) if term.key not in known)
    return " ".join([question, *carried])


def _subject(base: str) -> list[Term]:
    """Return the terms that a question is about; a light word is one where it stands beside a name: Form D."""
    found = terms(base)
    beside = {place + step for place, term in enumerate(found) if term.shape == "acronym" for step in (-1, 1)}
    return [term for place, term in enumerate(found) if not term.light or place in beside]


def _placed(fragment: str, base: str, similarity: WordSimilarity | None) -> str:
    """Return the question before with the fragment's terms in it: in place of one of its own, or behind."""
    old = terms(base)
    denied = {stem(word.lower()) for word in DENIED.findall(fragment)}
    known = {term.key for term in old} | denied
    new = [term for term in terms(fragment) if term.key not in known]
    if not new or len(new) > MOST_RENAMED:
        return completed(fragment, base)
    words = fragment[new[0].start : new[-1].end]
    taken_back = [term for term in old if term.key in denied]
    place = taken_back[0] if taken_back else _first_renamed(new, old, similarity)
    if place is None:
        return f"{base.rstrip(' ?.!')} {words}"
    return base[: place.start] + words + base[place.end :]


def _first_renamed(new: Sequence[Term], old: Sequence[Term], similarity: WordSimilarity | None) -> Term | None:
    return next((place for term in new if (place := _renamed(term, old, similarity)) is not None), None)


def _renamed(new: Term, before: Sequence[Term], similarity: WordSimilarity | None) -> Term | None:
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
